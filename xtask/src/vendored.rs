//! `NGINX=vendored`: the nginx that the nginx-src crate carries, for a machine without one.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{configure, project, shell, source};

/// What a packaged nginx has, as far as it needs no more than the libraries a module's build needs anyway.
pub const ARGUMENTS: [&str; 19] = [
    "--with-cc-opt=-O2 -fPIC",
    "--error-log-path=stderr",
    "--with-compat",
    "--with-pcre-jit",
    "--with-threads",
    "--with-http_addition_module",
    "--with-http_auth_request_module",
    "--with-http_dav_module",
    "--with-http_gunzip_module",
    "--with-http_gzip_static_module",
    "--with-http_realip_module",
    "--with-http_secure_link_module",
    "--with-http_slice_module",
    "--with-http_ssl_module",
    "--with-http_stub_status_module",
    "--with-http_sub_module",
    "--with-http_v2_module",
    "--with-stream",
    "--with-stream_ssl_module",
];

/// Makes the binary, once, and gives its path and that of its source.
pub fn nginx() -> Result<(PathBuf, PathBuf)> {
    let source = carried_by(&project::root())?;
    let name = source::name(&source)?;
    let mut hasher = DefaultHasher::new();
    (source::fingerprint(&source)?, ARGUMENTS).hash(&mut hasher);
    let dir = format!(
        "vendored-{}-{:08x}",
        name.rsplit('/').next().unwrap_or_default(),
        hasher.finish() as u32
    );
    let dir = project::target().join("nginx").join(dir);
    let (copy, objs) = (dir.join("source"), dir.join("binary"));
    let binary = objs.join("nginx");
    fs::create_dir_all(&dir)?;
    source::copy(&source, &copy)?;
    configure::run(&copy, &objs, &ARGUMENTS.map(String::from))?;
    if !binary.is_file() {
        configure::make(&copy, &objs, &["binary"], &[])?;
    }
    Ok((binary, copy))
}

/// The source inside the nginx-src crate that the workspace in this folder depends on.
pub fn carried_by(workspace: &Path) -> Result<PathBuf> {
    let metadata = shell::quiet(
        shell::command("cargo")
            .args(["metadata", "--format-version", "1"])
            .current_dir(workspace),
    )?;
    let metadata: Value = serde_json::from_str(&metadata.stdout)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let manifest = packages
        .iter()
        .find(|package| package["name"] == "nginx-src");
    let manifest = manifest
        .and_then(|package| package["manifest_path"].as_str())
        .context("no crate nginx-src")?;
    Ok(PathBuf::from(manifest).with_file_name("nginx"))
}
