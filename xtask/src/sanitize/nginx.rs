//! An nginx as the chosen one, with a sanitizer in it or around it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::reports::Reports;
use super::{Sanitizer, distribution};
use crate::nginx::Nginx;
use crate::nginx_v::NginxV;
use crate::{configure, project, source};

/// nginx copies empty strings with a length of 0 from an address that may be null, reads and writes four bytes at once
/// wherever they are (NGX_HAVE_NONALIGNED), and moves what points into a buffer by the distance to another one.
const NGINX_TRIPS_OVER: &str = "-fno-sanitize=nonnull-attribute,alignment,pointer-overflow";

/// Linked into an nginx with AddressSanitizer: its options, as nginx clears the environment before it runs another
/// binary, and a test may clear it before.
const OPTIONS: &str = include_str!("options.c");

/// Makes it, once, from the source of the plain one and with its arguments.
pub fn prepare(plain: &Nginx, sanitizer: Sanitizer, reports: &Reports) -> Result<Nginx> {
    let _lock = project::lock()?;
    let dir = plain.dir.join(sanitizer.name());
    let mut nginx = Nginx {
        cargo_target: dir.join("cargo"),
        dir,
        name: plain.name.clone(),
        binary: PathBuf::new(),
        companions: plain.companions.clone(),
        sanitizer: Some(sanitizer),
    };
    fs::create_dir_all(&nginx.dir)?;
    source::copy(&whole_source(plain)?, &nginx.source())?;

    let log = reports.dir().join(sanitizer.name());
    let (mut for_cc, mut for_ld) = (sanitizer.c_flags().to_owned(), String::new());
    for_cc.push_str(" -fPIC -DNGX_DEBUG_PALLOC=1");
    if sanitizer == Sanitizer::Address {
        let options = nginx.dir.join("options.c");
        let text = OPTIONS.replace("@LOG_PATH@", &log.to_string_lossy());
        let binary = nginx.objs().join("nginx");
        if write(&options, &text)? && binary.is_file() {
            // make knows nothing of them.
            fs::remove_file(binary)?;
        }
        for_cc.push_str(&format!(" {NGINX_TRIPS_OVER}"));
        for_ld = format!("-fsanitize=address,undefined {}", options.display());
    }
    let told = NginxV::of(&plain.binary)?;
    let mut arguments = configure::arguments(&told.arguments);
    arguments.retain(|argument| {
        !argument.starts_with("--with-cc-opt=") && !argument.starts_with("--with-ld-opt=")
    });
    arguments.push(format!("--with-cc-opt={for_cc}"));
    arguments.push(format!("--with-ld-opt={for_ld}"));
    configure::run(&nginx.source(), &nginx.objs(), &arguments)?;
    nginx.binary = nginx.objs().join("nginx");
    if !nginx.binary.is_file() {
        configure::make(&nginx.source(), &nginx.objs(), &["binary"], &[])?;
    }
    if sanitizer == Sanitizer::Memcheck {
        nginx.binary = under_valgrind(&nginx, &log)?;
    }

    // What was made for the plain one loads here, too.
    let signature = configure::signature(&nginx.source(), &nginx.objs())?;
    configure::check_signature(&signature, &plain.binary, &plain.name)?;
    Ok(nginx)
}

fn whole_source(plain: &Nginx) -> Result<PathBuf> {
    let source = plain.source();
    match source.join("src/core/nginx.c").is_file() {
        true => Ok(source),
        false => distribution::source(&plain.dir.join("distribution"), &plain.name),
    }
}

/// A script in nginx's place. valgrind is to look at single bits: nginx leaves `valid` as it is where `not_found` is 1,
/// and a compiler compares both at once.
fn under_valgrind(nginx: &Nginx, log: &Path) -> Result<PathBuf> {
    let script = nginx.dir.join("nginx.sh");
    let text = format!(
        "#!/bin/sh\n\
         [ \"$1\" = -V ] && exec {binary} -V\n\
         exec valgrind -q --vgdb=no --trace-children=yes --error-exitcode=99 \
         --expensive-definedness-checks=yes --log-file={log}.%p {binary} \"$@\"\n",
        binary = nginx.binary.display(),
        log = log.display(),
    );
    write(&script, &text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(script)
}

/// Writes the file unless it says the same already, and gives whether it did not.
fn write(file: &Path, text: &str) -> Result<bool> {
    let is_news = fs::read_to_string(file).map_or(true, |before| before != text);
    if is_news {
        fs::write(file, text)?;
    }
    Ok(is_news)
}
