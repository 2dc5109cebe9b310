//! Configuring a copy of the source as the binary was configured, and proving by the signature that it worked.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Modules that need a library which a machine that only runs nginx need not have; a module of ours touches none.
const NEED_A_LIBRARY: [&str; 6] = [
    "--with-http_xslt_module",
    "--with-http_image_filter_module",
    "--with-http_geoip_module",
    "--with-http_perl_module",
    "--with-stream_geoip_module",
    "--with-google_perftools_module",
];

/// Options that name files of the machine where the binary was built.
const NAME_OTHER_FILES: [&str; 10] = [
    "--add-module=",
    "--add-dynamic-module=",
    "--builddir=",
    "--with-openssl=",
    "--with-openssl-opt=",
    "--with-pcre-opt=",
    "--with-zlib=",
    "--with-zlib-opt=",
    "--with-zlib-asm=",
    "--with-perl",
];

/// The binary's own arguments, without those that need what this machine need not have and that change no structure
/// of nginx's core. (Whether they changed one shows in the signature.)
pub fn arguments(of_binary: &[String]) -> Vec<String> {
    of_binary
        .iter()
        .filter(|argument| {
            !NAME_OTHER_FILES
                .iter()
                .any(|start| argument.starts_with(start))
        })
        .filter(|argument| {
            !NEED_A_LIBRARY.contains(&argument.split('=').next().unwrap_or_default())
        })
        .map(|argument| match argument.split_once('=') {
            // The system's library stands in for a source tree that was built along.
            Some((option @ ("--with-pcre" | "--with-libatomic"), _)) => option.to_owned(),
            _ => argument.clone(),
        })
        .collect()
}

/// Runs `configure` in `source`, with its results in `objs`, unless it has been run so before.
pub fn run(source: &Path, objs: &Path, arguments: &[String]) -> Result<()> {
    let script = if source.join("configure").is_file() {
        "./configure"
    } else {
        "auto/configure"
    };
    let mut command = shell::command("sh");
    command
        .arg(script)
        .args(arguments)
        .arg(format!("--builddir={}", objs.display()))
        .current_dir(source);
    let stamp = objs.join("configured");
    let done = shell::display(&command);
    if fs::read_to_string(&stamp).is_ok_and(|before| before == done) {
        return Ok(());
    }
    if objs.exists() {
        fs::remove_dir_all(objs)?;
    }
    eprintln!("configuring {}", source.display());
    shell::quiet(&mut command)?;
    fs::write(stamp, done)?;
    Ok(())
}

/// Runs make for targets of the Makefile that `configure` wrote, with the environment given besides.
pub fn make(
    source: &Path,
    objs: &Path,
    targets: &[&str],
    environment: &[(&str, &Path)],
) -> Result<()> {
    eprintln!("making {}: {}", objs.display(), targets.join(", "));
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut make = shell::command("make");
    make.arg("-f")
        .arg(objs.join("Makefile"))
        .arg(format!("-j{jobs}"))
        .args(targets)
        .envs(environment.iter().copied())
        .current_dir(source);
    shell::quiet(&mut make)?;
    Ok(())
}

/// The NGX_MODULE_SIGNATURE of the configured source: a module loads only into a binary with the same.
pub fn signature(source: &Path, objs: &Path) -> Result<String> {
    let makefile = fs::read_to_string(objs.join("Makefile"))
        .context("reading the Makefile that configure wrote")?;
    let makefile = makefile.replace("\\\n", " ");
    let words = |name: &str| -> Vec<String> {
        let value = makefile.lines().find_map(|line| {
            line.strip_prefix(name)?
                .trim_start()
                .strip_prefix('=')
                .map(str::to_owned)
        });
        value
            .and_then(|value| shlex::split(&value))
            .unwrap_or_default()
    };
    let program = objs.join("signature.c");
    fs::write(
        &program,
        "#include <ngx_config.h>\n#include <ngx_core.h>\nchar content_by_rust_signature[] = NGX_MODULE_SIGNATURE;\n",
    )?;
    let cc = words("CC");
    let (cc, cc_arguments) = cc
        .split_first()
        .context("no CC in the Makefile that configure wrote")?;
    let mut command = shell::command(cc);
    command
        .args(cc_arguments)
        .args(["-E", "-P"])
        .args(words("CFLAGS"))
        .args(words("ALL_INCS"))
        .arg(program);
    literals(&shell::quiet(command.current_dir(source))?.stdout)
        .context("no NGX_MODULE_SIGNATURE in the source")
}

/// The joined string literals of `content_by_rust_signature[] = "8" "," ...;`.
fn literals(preprocessed: &str) -> Option<String> {
    let (_, value) = preprocessed.split_once("content_by_rust_signature[] =")?;
    Some(
        value
            .split_once(';')?
            .0
            .split('"')
            .skip(1)
            .step_by(2)
            .collect(),
    )
}

/// Fails unless the binary has this signature.
pub fn check_signature(signature: &str, binary: &Path, name: &str) -> Result<()> {
    let bytes = fs::read(binary).with_context(|| format!("reading {}", binary.display()))?;
    if !contains(&bytes, format!("{signature}\0").as_bytes()) {
        bail!(
            "{} ({name}) does not have the signature {signature} of the source configured by its own `nginx -V`: \
             the source or the libraries here are not those it was built with, and it would not load the module",
            binary.display()
        );
    }
    Ok(())
}

/// Whether `bytes` has `wanted` in it.
pub fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nginx_v::NginxV;
    use crate::nginx_v::tests::{DEBIAN, OPENRESTY};

    fn kept(nginx_v: &str) -> Vec<String> {
        arguments(&NginxV::parse(nginx_v).unwrap().arguments)
    }

    #[test]
    fn debian_keeps_all_but_modules_with_libraries() {
        let kept = kept(DEBIAN);
        for argument in [
            "--with-compat",
            "--with-debug",
            "--with-threads",
            "--with-mail=dynamic",
        ] {
            assert!(kept.iter().any(|kept| kept == argument), "{argument}");
        }
        assert!(
            !kept.iter().any(|kept| kept.contains("geoip")
                || kept.contains("xslt")
                || kept.contains("perl"))
        );
        assert!(kept[0].starts_with("--with-cc-opt=-g -O2 "));
    }

    #[test]
    fn openresty_loses_its_static_modules() {
        let kept = kept(OPENRESTY);
        assert!(!kept.iter().any(|kept| kept.starts_with("--add-module")));
        assert_eq!(kept.last().unwrap(), "--with-http_ssl_module");
    }

    #[test]
    fn libraries_built_along_become_the_systems() {
        let given = [
            "--with-pcre=../pcre2-10.42",
            "--with-zlib=../zlib",
            "--with-openssl=../o",
            "--with-pcre-jit",
        ];
        assert_eq!(
            arguments(&given.map(String::from)),
            ["--with-pcre", "--with-pcre-jit"]
        );
    }

    #[test]
    fn signature_out_of_the_preprocessor() {
        let text = "int x;\nchar content_by_rust_signature[] = \"8\" \",\" \"4\" \",\" \"8\" \",\" \"00\" \"1\";\n";
        assert_eq!(literals(text).unwrap(), "8,4,8,001");
        assert_eq!(literals("int x;"), None);
    }

    #[test]
    fn a_binary_with_another_signature_is_refused() {
        let binary = std::env::temp_dir().join(format!("xtask-signature-{}", std::process::id()));
        fs::write(&binary, b"\x7fELF\08,4,8,0010\0rest").unwrap();
        let same = check_signature("8,4,8,0010", &binary, "nginx/1.22.1");
        let longer = check_signature("8,4,8,001", &binary, "nginx/1.22.1");
        let other = check_signature("8,4,8,1010", &binary, "nginx/1.22.1");
        fs::remove_file(&binary).unwrap();
        assert!(same.is_ok());
        assert!(longer.is_err());
        assert!(
            other
                .unwrap_err()
                .to_string()
                .contains("would not load the module")
        );
    }
}
