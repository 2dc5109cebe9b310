//! The sources of nginx there are: each line that the registry has, and those that are given.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{project, source, vendored};

/// A source tree of nginx.
#[derive(Debug)]
pub struct Source {
    pub tree: PathBuf,
    /// `nginx/1.28.3`, `openresty/1.27.1.2`.
    pub name: String,
    /// Where it is from, as a table shows it.
    pub origin: &'static str,
}

impl Source {
    fn new(tree: PathBuf, origin: &'static str) -> Result<Source> {
        let name = source::name(&tree)?;
        Ok(Source { tree, name, origin })
    }
}

/// All of them, those of MATRIX last.
pub fn all(given: &[PathBuf]) -> Result<Vec<Source>> {
    let given: Vec<Source> = given
        .iter()
        .filter(|tree| !tree.as_os_str().is_empty())
        .map(|tree| self::given(tree))
        .collect::<Result<_>>()?;
    let mut sources = registry()?;
    sources.extend(given);
    Ok(sources)
}

fn given(tree: &Path) -> Result<Source> {
    let tree = source::tree(tree).context("MATRIX")?;
    ensure!(
        tree.join("src/core/nginx.c").is_file(),
        "MATRIX: {} has nginx's headers alone",
        tree.display()
    );
    Source::new(tree, "MATRIX")
}

/// The nginx-src that Cargo.lock names.
pub fn locked() -> Result<Source> {
    Source::new(vendored::carried_by(&project::root())?, NGINX_SRC)
}

const NGINX_SRC: &str = "nginx-src";

/// The newest release of each line that nginx-src has, the newest line first. Its own versions are nginx's with
/// another third part.
fn registry() -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = vec![];
    let mut requirement = "*".to_owned();
    while let Some(tree) = release(&requirement)? {
        let source = Source::new(tree, NGINX_SRC)?;
        requirement = format!(
            "<{}",
            line(&source.name).context("a version has two parts")?
        );
        sources.push(source);
    }
    Ok(sources)
}

/// `1.28` of `nginx/1.28.3`.
fn line(name: &str) -> Option<String> {
    let version = name.rsplit('/').next()?;
    let mut parts = version.split('.');
    Some(format!("{}.{}", parts.next()?, parts.next()?))
}

/// The newest nginx-src that meets a requirement, if there is one. A workspace can have one version of its line of
/// major versions alone, so each gets a workspace of its own.
fn release(requirement: &str) -> Result<Option<PathBuf>> {
    let dir = project::target().join("matrix/nginx-src");
    fs::create_dir_all(&dir)?;
    fs::write(dir.join("Cargo.toml"), manifest(requirement))?;
    fs::write(dir.join("lib.rs"), "")?;
    let lock = dir.join("Cargo.lock");
    if lock.exists() {
        fs::remove_file(lock)?;
    }
    match vendored::carried_by(&dir) {
        Ok(tree) => Ok(Some(tree)),
        Err(error) if is_without_match(&error.to_string()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn manifest(requirement: &str) -> String {
    format!(
        "[package]\nname = \"line\"\n\n[lib]\npath = \"lib.rs\"\n\n[dependencies]\nnginx-src = \"{requirement}\"\n\n\
         [workspace]\n"
    )
}

/// Whether cargo says that the crate is there, and no version of it fits.
fn is_without_match(error: &str) -> bool {
    error.contains("candidate versions found which didn't match")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_version() {
        assert_eq!(line("nginx/1.28.3").unwrap(), "1.28");
        assert_eq!(line("openresty/1.27.1.2").unwrap(), "1.27");
        assert_eq!(line("nginx/1"), None);
    }

    #[test]
    fn no_version_is_told_from_no_registry() {
        let none = "error: failed to select a version for the requirement `nginx-src = \"<1.28\"`\n\
                    candidate versions found which didn't match: 1.28.5+1.28.3, 1.28.4+1.28.2";
        assert!(is_without_match(none));
        let offline = "error: failed to get `nginx-src` as a dependency of package `line v0.0.0`\n\
                       Caused by: download of config.json failed";
        assert!(!is_without_match(offline));
    }

    #[test]
    fn what_is_given_must_be_a_source() {
        let error = format!("{:#}", given(Path::new("/nowhere")).unwrap_err());
        assert!(error.starts_with("MATRIX: /nowhere"), "{error}");
        let headers = project::target().join("matrix-test-headers");
        fs::create_dir_all(headers.join("src/core")).unwrap();
        fs::write(headers.join("src/core/nginx.h"), "").unwrap();
        let error = given(&headers).unwrap_err().to_string();
        fs::remove_dir_all(&headers).unwrap();
        assert!(error.ends_with("headers alone"), "{error}");
    }
}
