//! `make build`: the module for exactly one nginx, and the proof that it loads there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::nginx::{self, Choice, Nginx};
use crate::{project, shell};

/// The package of the module that is shipped.
pub const SHIPPED: &str = "ngx-http-rust-module";
/// Every package's file has this name, as the module in it has: a configuration loads one or the other.
const FILE: &str = "ngx_http_rust_module.so";

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub choice: Choice,
    /// Another module crate of the workspace; its file is target/module/PACKAGE/ngx_http_rust_module.so
    #[arg(long, default_value = SHIPPED)]
    pub package: String,
    /// A module crate anywhere, by its folder, in place of one of the workspace
    #[arg(long = "crate", env = "CRATE", conflicts_with = "package")]
    pub folder: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    let nginx = nginx::prepare(&options.choice)?;
    let module = match options.package.as_str() {
        SHIPPED => chosen(&nginx, options.folder.as_deref())?.1,
        package => module(&nginx, package)?,
    };
    println!(
        "{} is built for {} ({})",
        shown(&module),
        nginx.binary.display(),
        nginx.name
    );
    Ok(())
}

/// Builds the shipped module.
pub fn shipped(nginx: &Nginx) -> Result<PathBuf> {
    module(nginx, SHIPPED)
}

/// Builds the module of a package of the workspace, proves it, and puts it in place.
pub fn module(nginx: &Nginx, package: &str) -> Result<PathBuf> {
    put(nginx, &Package::in_workspace(package)?)
}

/// Builds the module of the crate in this folder, or the shipped one where none is given, as in `CRATE=`.
pub fn chosen(nginx: &Nginx, folder: Option<&Path>) -> Result<(Package, PathBuf)> {
    let package = match folder.filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => Package::in_folder(folder)?,
        None => Package::in_workspace(SHIPPED)?,
    };
    let module = put(nginx, &package)?;
    Ok((package, module))
}

/// A package that is a module.
#[derive(Default)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub description: String,
    pub manifest: PathBuf,
    /// Its default features but `vendored`, with commas between them.
    pub features: String,
    pub workspace: PathBuf,
}

impl Package {
    pub fn is_shipped(&self) -> bool {
        self.name == SHIPPED
    }

    /// Its CHANGELOG.md, or its workspace's.
    pub fn changes(&self) -> Option<PathBuf> {
        let folders = [self.manifest.with_file_name(""), self.workspace.clone()];
        let mut files = folders
            .map(|folder| folder.join("CHANGELOG.md"))
            .into_iter();
        files.find(|file| file.is_file())
    }

    fn in_workspace(name: &str) -> Result<Package> {
        let manifest = project::root().join("Cargo.toml");
        Package::find(&manifest, |package| package["name"] == name)
            .with_context(|| format!("the workspace has no package {name}"))
    }

    fn in_folder(folder: &Path) -> Result<Package> {
        let manifest = folder.join("Cargo.toml");
        let manifest = fs::canonicalize(&manifest)
            .with_context(|| format!("CRATE={}: no Cargo.toml there", folder.display()))?;
        Package::find(&manifest, |package| {
            package["manifest_path"].as_str().map(Path::new) == Some(&manifest)
        })
        .with_context(|| format!("{} has no package", manifest.display()))
    }

    fn find(manifest: &Path, is_it: impl Fn(&Value) -> bool) -> Result<Package> {
        let mut cargo = shell::command("cargo");
        cargo
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .arg("--manifest-path")
            .arg(manifest);
        let metadata: Value = serde_json::from_str(&shell::quiet(&mut cargo)?.stdout)?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.into_iter().find(|package| is_it(package));
        let package = package.context("cargo knows of none")?;
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        Ok(Package {
            name: text("name"),
            version: text("version"),
            description: text("description"),
            manifest: text("manifest_path").into(),
            features: without_vendored(&package["features"]["default"]),
            workspace: metadata["workspace_root"]
                .as_str()
                .unwrap_or_default()
                .into(),
        })
    }
}

/// Compiles the shipped module, and leaves it where cargo has put it.
pub fn compiled(nginx: &Nginx) -> Result<PathBuf> {
    compile(nginx, &Package::in_workspace(SHIPPED)?)
}

fn put(nginx: &Nginx, package: &Package) -> Result<PathBuf> {
    let built = compile(nginx, package)?;
    let is_shipped = package.is_shipped();
    if let Err(e) = prove(nginx, &built, is_shipped) {
        anyhow::ensure!(
            !is_without_module(&e.to_string()),
            "{} is not a module: there is no content_by_rust::module! in it",
            package.name
        );
        return Err(e);
    }
    let dir = if is_shipped {
        nginx.module_dir()
    } else {
        nginx.module_dir().join(&package.name)
    };
    fs::create_dir_all(&dir)?;
    fs::create_dir_all(project::run_dir())?;
    let module = dir.join(FILE);
    // Renamed into place: an nginx that has the old file mapped keeps it whole.
    let unfinished = module.with_extension("unfinished");
    fs::copy(&built, &unfinished)?;
    fs::rename(&unfinished, &module)?;
    if is_shipped {
        let loaded: Vec<PathBuf> = nginx
            .companions
            .iter()
            .cloned()
            .chain([module.clone()])
            .collect();
        fs::write(dir.join("modules.conf"), modules_conf(nginx, &loaded))?;
        fs::write(dir.join("test.env"), test_env(nginx, &loaded))?;
    }
    Ok(module)
}

/// Runs cargo, and gives the library that it made of the package.
fn compile(nginx: &Nginx, package: &Package) -> Result<PathBuf> {
    let mut cargo = nginx.cargo();
    match nginx.sanitizer {
        None => drop(cargo.args(["build", "--release"])),
        Some(sanitizer) => sanitizer.build(&mut cargo)?,
    }
    cargo.args(["--lib", "--no-default-features"]);
    cargo.arg("--manifest-path").arg(&package.manifest);
    cargo.arg("--features").arg(&package.features);
    cargo.arg("--message-format=json-render-diagnostics");
    eprintln!("$ {}", shell::display(&cargo));
    let output = cargo
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("running cargo")?;
    if !output.status.success() {
        anyhow::bail!("{} does not compile against {}", package.name, nginx.name);
    }
    library(&String::from_utf8_lossy(&output.stdout)).with_context(|| {
        format!(
            "{} is not a module: its Cargo.toml needs crate-type = [\"cdylib\"]",
            package.name
        )
    })
}

/// What a module is built with: its default features but `vendored`, which is for builds that know of no nginx.
fn without_vendored(features: &Value) -> String {
    let features = features.as_array().into_iter().flatten();
    let features: Vec<&str> = features
        .filter_map(Value::as_str)
        .filter(|feature| *feature != "vendored")
        .collect();
    features.join(",")
}

/// The last cdylib in cargo's messages: the package's own, as cargo builds it after what it depends on.
fn library(messages: &str) -> Option<PathBuf> {
    let is_cdylib = |message: &Value| {
        message["reason"] == "compiler-artifact"
            && message["target"]["crate_types"]
                .as_array()
                .is_some_and(|types| types.iter().any(|t| t == "cdylib"))
    };
    let mut messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = messages.rfind(is_cdylib)?;
    let files = last["filenames"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str);
    files
        .map(PathBuf::from)
        .find(|file| file.extension().is_some_and(|extension| extension == "so"))
}

/// `nginx -t` on a configuration that loads the module, and uses it where its handlers are known.
fn prove(nginx: &Nginx, library: &Path, is_shipped: bool) -> Result<()> {
    test_conf(
        &nginx.binary,
        Some(library),
        is_shipped,
        &nginx.dir.join("proof"),
    )
}

/// `nginx -t` on a configuration that is written into `dir`; without a library the module is linked into the binary.
pub fn test_conf(
    binary: &Path,
    library: Option<&Path>,
    is_shipped: bool,
    dir: &Path,
) -> Result<()> {
    fs::create_dir_all(dir)?;
    fs::write(dir.join("nginx.conf"), proof_conf(library, is_shipped))?;
    let mut command = shell::command(binary);
    command
        .arg("-p")
        .arg(dir)
        .args(["-c", "nginx.conf", "-e", "stderr", "-t"]);
    eprintln!("$ {}", shell::display(&command));
    shell::quiet(&mut command).map(|said| eprint!("{}", said.stderr))
}

/// nginx looks for the table of modules that `module!` makes, and not for the macro.
fn is_without_module(said: &str) -> bool {
    said.contains("dlsym()") && said.contains("\"ngx_modules\"")
}

fn proof_conf(library: Option<&Path>, is_shipped: bool) -> String {
    let load = library.map_or(String::new(), |library| {
        format!("load_module \"{}\";\n", library.display())
    });
    let locations = match is_shipped {
        true => {
            "location = /ok { content_by_rust ok; } location = /hello { content_by_rust hello; }"
        }
        false => "",
    };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("    {kind}_temp_path {kind}_temp;\n"))
        .concat();
    format!(
        "{load}pid nginx.pid;\nerror_log stderr notice;\nevents {{}}\nhttp {{\n    access_log off;\n\
         {temporary}    server {{ listen 127.0.0.1:8080; {locations} }}\n}}\n"
    )
}

/// The `load_module` lines that the configurations in nginx-conf/ include.
fn modules_conf(nginx: &Nginx, loaded: &[PathBuf]) -> String {
    let lines: String = loaded
        .iter()
        .map(|file| format!("load_module \"{}\";\n", file.display()))
        .collect();
    format!(
        "# Written by `make build` for {} ({}).\n{lines}",
        nginx.binary.display(),
        nginx.name
    )
}

/// What the tests read when these variables are not set.
fn test_env(nginx: &Nginx, loaded: &[PathBuf]) -> String {
    let loaded: Vec<_> = loaded.iter().map(|file| file.to_string_lossy()).collect();
    format!(
        "TEST_NGINX_BINARY={}\nTEST_NGINX_LOAD_MODULES={}\nCONTENT_BY_RUST_MODULES_DIR={}\n",
        nginx.binary.display(),
        loaded.join(" "),
        nginx.module_dir().display()
    )
}

/// The path as seen from the repository's root.
pub fn shown(path: &Path) -> std::path::Display<'_> {
    path.strip_prefix(project::root()).unwrap_or(path).display()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_built_with_its_default_features_but_vendored() {
        let features = serde_json::json!(["vendored", "tokio", "x"]);
        assert_eq!(without_vendored(&features), "tokio,x");
        assert_eq!(without_vendored(&Value::Null), "");
    }

    fn nginx() -> Nginx {
        Nginx {
            binary: "/usr/sbin/nginx".into(),
            name: "nginx/1.22.1".into(),
            dir: "/d".into(),
            cargo_target: "/d/cargo".into(),
            companions: vec!["/m/ndk_http_module.so".into()],
            sanitizer: None,
        }
    }

    #[test]
    fn the_library_in_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"crate_types":["lib"]},"filenames":["/t/liba.rlib"]}
{"reason":"compiler-artifact","target":{"crate_types":["cdylib"]},"filenames":["/t/libb.so"]}
{"reason":"build-finished","success":true}"#;
        assert_eq!(library(messages).unwrap(), Path::new("/t/libb.so"));
        assert_eq!(
            library(r#"{"reason":"build-finished","success":true}"#),
            None
        );
    }

    #[test]
    fn tests_are_told_in_lines() {
        let loaded = [
            "/m/ndk_http_module.so".into(),
            "/r/ngx_http_rust_module.so".into(),
        ];
        let env = test_env(&nginx(), &loaded);
        assert!(env.starts_with("TEST_NGINX_BINARY=/usr/sbin/nginx\n"));
        assert!(env.contains(
            "\nTEST_NGINX_LOAD_MODULES=/m/ndk_http_module.so /r/ngx_http_rust_module.so\n"
        ));
    }

    #[test]
    fn a_library_without_the_macro_is_told_from_other_failures() {
        let nginx = "nginx: [emerg] dlsym() \"/t/libb.so\", \"ngx_modules\" failed \
                     (/t/libb.so: undefined symbol: ngx_modules) in /d/nginx.conf:1";
        assert!(is_without_module(nginx));
        let other =
            "nginx: [emerg] dlopen() \"/t/libb.so\" failed (/t/libb.so: undefined symbol: x)";
        assert!(!is_without_module(other));
    }

    #[test]
    fn another_packages_handlers_are_not_known_here() {
        let module = Some(Path::new("/m.so"));
        assert!(proof_conf(module, true).contains("content_by_rust ok;"));
        assert!(!proof_conf(module, false).contains("content_by_rust"));
    }

    #[test]
    fn a_module_in_the_binary_is_not_loaded() {
        assert!(proof_conf(Some(Path::new("/m.so")), true).starts_with("load_module \"/m.so\";\n"));
        assert!(!proof_conf(None, true).contains("load_module"));
    }
}
