//! One nginx made ready to build a module for.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::install::{self, Need};
use crate::nginx_v::NginxV;
use crate::sanitize::Sanitizer;
use crate::{configure, project, shell, source, vendored};

/// Modules beside ours, in the order in which they must be loaded: Lua needs the one before it.
const COMPANIONS: [&str; 4] = [
    "ndk_http_module.so",
    "ngx_http_lua_module.so",
    "ngx_http_echo_module.so",
    "ngx_http_js_module.so",
];

/// Which nginx the user means.
#[derive(clap::Args, Clone, Default)]
pub struct Choice {
    /// Path of the binary, or `vendored`; the system's nginx when not given
    #[arg(long, env = "NGINX")]
    nginx: Option<String>,
    /// The source of that binary, where it is not that of the package nginx-dev
    #[arg(long, env = "NGINX_SOURCE_DIR")]
    source: Option<PathBuf>,
}

impl Choice {
    pub fn vendored() -> Self {
        Self {
            nginx: Some("vendored".into()),
            source: None,
        }
    }

    pub fn of(binary: &Path, source: &Path) -> Self {
        Self {
            nginx: Some(binary.to_string_lossy().into_owned()),
            source: Some(source.to_owned()),
        }
    }

    /// Whether neither a binary nor a source is given.
    pub fn is_system(&self) -> bool {
        let source = self.source.iter().map(|source| source.as_os_str());
        let mut given = self.nginx.iter().map(AsRef::as_ref).chain(source);
        given.all(OsStr::is_empty)
    }
}

/// An nginx whose source has been configured as the binary was.
pub struct Nginx {
    pub binary: PathBuf,
    pub name: String,
    /// `target/nginx/VERSION-HASH`: all that belongs to this nginx alone, so that no other build disturbs it.
    pub dir: PathBuf,
    /// Where cargo puts what it makes for this nginx.
    pub cargo_target: PathBuf,
    /// Lua, echo and njs as dynamic modules beside the binary, where they are.
    pub companions: Vec<PathBuf>,
    /// What it was made with to be tested, where it was made here.
    pub sanitizer: Option<Sanitizer>,
}

impl Nginx {
    pub fn source(&self) -> PathBuf {
        self.dir.join("source")
    }

    pub fn objs(&self) -> PathBuf {
        self.dir.join("objs")
    }

    /// Where its modules are put, with the environment of the tests.
    pub fn module_dir(&self) -> PathBuf {
        match self.sanitizer {
            None => project::module_dir(),
            Some(_) => self.dir.join("module"),
        }
    }

    /// The cargo command, told to build against this nginx and beside the builds for all others.
    pub fn cargo(&self) -> std::process::Command {
        let mut cargo = shell::command("cargo");
        cargo
            .current_dir(project::root())
            .env("NGINX_SOURCE_DIR", self.source())
            .env("NGINX_BUILD_DIR", self.objs())
            .env("CARGO_TARGET_DIR", &self.cargo_target);
        cargo
    }

    /// Whether a configuration for this nginx may use a directive, from one of its modules or from within.
    pub fn knows(&self, directive: &str) -> bool {
        let directive = format!("{directive}\0");
        self.companions.iter().chain([&self.binary]).any(|file| {
            fs::read(file).is_ok_and(|bytes| configure::contains(&bytes, directive.as_bytes()))
        })
    }
}

/// Installs what is missing, and configures a copy of the source of the chosen nginx.
pub fn prepare(choice: &Choice) -> Result<Nginx> {
    let _lock = project::lock()?;
    let given = choice.nginx.as_deref().filter(|nginx| !nginx.is_empty());
    let given_source = choice
        .source
        .as_deref()
        .filter(|source| !source.as_os_str().is_empty());
    let (binary, source) = match given {
        Some("vendored") => {
            if given_source.is_some() {
                bail!("NGINX=vendored brings its own source: leave NGINX_SOURCE_DIR out");
            }
            install::install(&[Need::Toolchain])?;
            let (binary, source) = vendored::nginx()?;
            (binary, Some(source))
        }
        Some(path) => {
            let binary = fs::canonicalize(path).with_context(|| format!("NGINX={path}"))?;
            install::install(&[Need::Toolchain])?;
            (binary, given_source.map(Path::to_owned))
        }
        None => {
            install::install(&[Need::Toolchain, Need::SystemNginx])?;
            (system()?, given_source.map(Path::to_owned))
        }
    };

    let told = NginxV::of(&binary)?;
    ensure!(
        told.has_http(),
        "{} is configured --without-http, and a content handler answers HTTP requests",
        binary.display()
    );
    let source = source::of(&told, &binary, source.as_deref())?;
    let arguments = configure::arguments(&told.arguments);
    let mut hasher = DefaultHasher::new();
    (
        &binary,
        &told.name,
        &told.arguments,
        source::fingerprint(&source)?,
    )
        .hash(&mut hasher);
    let dir = format!(
        "{}-{:08x}",
        told.name.rsplit('/').next().unwrap_or_default(),
        hasher.finish() as u32
    );
    let dir = project::target().join("nginx").join(dir);
    let mut nginx = Nginx {
        cargo_target: dir.join("cargo"),
        dir,
        name: told.name.clone(),
        binary,
        companions: vec![],
        sanitizer: None,
    };

    fs::create_dir_all(&nginx.dir)?;
    source::copy(&source, &nginx.source())?;
    configure::run(&nginx.source(), &nginx.objs(), &arguments)?;
    let signature = configure::signature(&nginx.source(), &nginx.objs())?;
    configure::check_signature(&signature, &nginx.binary, &nginx.name)?;

    let modules = told.modules_path();
    nginx.companions = COMPANIONS
        .iter()
        .map(|file| modules.join(file))
        .filter(|file| file.is_file())
        .collect();
    Ok(nginx)
}

/// The system's nginx: the package's own, before one in PATH that was put beside it.
fn system() -> Result<PathBuf> {
    let packaged = Path::new("/usr/sbin/nginx");
    if packaged.is_file() {
        return Ok(packaged.to_owned());
    }
    let found = shell::find("nginx")
        .context("no nginx on this machine: give NGINX=/path/to/nginx or NGINX=vendored")?;
    Ok(fs::canonicalize(found)?)
}
