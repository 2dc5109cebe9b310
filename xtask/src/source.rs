//! An nginx source tree: whose it is, and the copy of it that is configured. The tree itself is never written to.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::nginx_v::NginxV;

/// Where Debian's and Ubuntu's package nginx-dev puts the source of their nginx.
pub const NGINX_DEV: &str = "/usr/share/nginx/src";

/// What `configure` and a module's build read; all else in a tree is documentation or earlier output.
const NEEDED: [&str; 3] = ["auto", "configure", "src"];

/// The source of this binary: the given tree, or the one of nginx-dev where it matches. The versions are compared
/// here, so that nothing is compiled against another nginx.
pub fn of(nginx: &NginxV, binary: &Path, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        let source = tree(given).context("NGINX_SOURCE_DIR")?;
        let name = name(&source)?;
        if name != nginx.name {
            bail!(
                "{} is the source of {name}, but {} is {}: give its own source in NGINX_SOURCE_DIR",
                source.display(),
                binary.display(),
                nginx.name
            );
        }
        return Ok(source);
    }
    if let Ok(source) = tree(Path::new(NGINX_DEV))
        && name(&source)? == nginx.name
    {
        return Ok(source);
    }
    bail!(
        "{} is {}, and its source is not in {NGINX_DEV}: give it as NGINX_SOURCE_DIR=/path/to/{}",
        binary.display(),
        nginx.name,
        match nginx.is_openresty() {
            true => format!(
                "openresty-{}/build/nginx-{}",
                version(&nginx.name),
                nginx.core_version()
            ),
            false => format!("nginx-{}", version(&nginx.name)),
        }
    );
}

fn version(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The nginx tree at this path, or inside it where it is OpenResty's tree.
pub fn tree(path: &Path) -> Result<PathBuf> {
    let path = fs::canonicalize(path).with_context(|| path.display().to_string())?;
    if path.join("src/core/nginx.h").is_file() {
        return Ok(path);
    }
    for inner in ["build", "bundle"] {
        for entry in fs::read_dir(path.join(inner))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let is_nginx = name.to_str().and_then(|name| name.strip_prefix("nginx-"));
            if is_nginx.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                && entry.path().join("src/core/nginx.h").is_file()
            {
                return Ok(entry.path());
            }
        }
    }
    bail!(
        "{} is not the source of nginx: it has no src/core/nginx.h",
        path.display()
    );
}

/// What a binary made of this tree calls itself: `nginx/1.22.1`, `openresty/1.27.1.2`.
pub fn name(source: &Path) -> Result<String> {
    let header = source.join("src/core/nginx.h");
    let text =
        fs::read_to_string(&header).with_context(|| format!("reading {}", header.display()))?;
    name_in(&text).with_context(|| format!("no NGINX_VER in {}", header.display()))
}

fn name_in(header: &str) -> Option<String> {
    let define = |name: &str| {
        header.lines().find_map(|line| {
            let rest = line
                .strip_prefix("#define")?
                .trim_start()
                .strip_prefix(name)?;
            rest.starts_with(char::is_whitespace).then(|| rest.trim())
        })
    };
    let version = define("NGINX_VERSION")?.trim_matches('"');
    Some(
        define("NGINX_VER")?
            .replace("NGINX_VERSION", version)
            .replace(['"', ' '], ""),
    )
}

/// A number that changes when a file of the tree does.
pub fn fingerprint(source: &Path) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    for file in files(source)? {
        file.hash(&mut hasher);
        fs::read(source.join(&file))
            .with_context(|| format!("reading {}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Copies what is needed of the tree, once.
pub fn copy(source: &Path, to: &Path) -> Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    eprintln!("copying {} to {}", source.display(), to.display());
    let unfinished = to.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    for file in files(source)? {
        let target = unfinished.join(&file);
        fs::create_dir_all(target.parent().expect("a file is in a directory"))?;
        fs::copy(source.join(&file), &target)
            .with_context(|| format!("copying {}", file.display()))?;
    }
    fs::rename(&unfinished, to)?;
    Ok(())
}

/// The needed files, by paths relative to the tree, in order.
fn files(source: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = NEEDED.iter().map(PathBuf::from).collect();
    while let Some(path) = waiting.pop() {
        let full = source.join(&path);
        if full.is_dir() {
            for entry in
                fs::read_dir(&full).with_context(|| format!("reading {}", full.display()))?
            {
                waiting.push(path.join(entry?.file_name()));
            }
        } else if full.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nginx(name: &str) -> NginxV {
        NginxV {
            name: name.into(),
            arguments: vec![],
        }
    }

    /// A source tree of a few files, removed at the end of the test.
    struct Tree(PathBuf);

    impl Tree {
        fn new(test: &str, at: &str, ver: &str) -> Self {
            let root = std::env::temp_dir().join(format!("xtask-{test}-{}", std::process::id()));
            fs::create_dir_all(root.join(at).join("src/core")).unwrap();
            fs::write(root.join(at).join("src/core/nginx.h"), header(ver)).unwrap();
            Self(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn header(ver: &str) -> String {
        format!(
            "#define nginx_version      1027001\n#define NGINX_VERSION      \"1.27.1\"\n#define NGINX_VER          {ver}\n\n#ifdef NGX_BUILD\n#define NGINX_VER_BUILD    NGINX_VER \" (\" NGX_BUILD \")\"\n"
        )
    }

    #[test]
    fn names_of_stock_and_openresty() {
        assert_eq!(
            name_in(&header("\"nginx/\" NGINX_VERSION")).unwrap(),
            "nginx/1.27.1"
        );
        assert_eq!(
            name_in(&header("\"openresty/\" NGINX_VERSION \".2\"")).unwrap(),
            "openresty/1.27.1.2"
        );
        assert_eq!(name_in("int main() {}"), None);
    }

    #[test]
    fn another_version_is_refused() {
        let tree = Tree::new("version", ".", "\"nginx/\" NGINX_VERSION");
        let binary = Path::new("/usr/sbin/nginx");
        assert!(of(&nginx("nginx/1.27.1"), binary, Some(&tree.0)).is_ok());
        let error = of(&nginx("nginx/1.27.2"), binary, Some(&tree.0))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("is the source of nginx/1.27.1, but /usr/sbin/nginx is nginx/1.27.2"),
            "{error}"
        );
    }

    #[test]
    fn stock_source_for_openresty_is_refused() {
        let tree = Tree::new("stock", ".", "\"nginx/\" NGINX_VERSION");
        assert!(
            of(
                &nginx("openresty/1.27.1.2"),
                Path::new("nginx"),
                Some(&tree.0)
            )
            .is_err()
        );
    }

    #[test]
    fn openresty_bundles_its_nginx() {
        let tree = Tree::new(
            "bundle",
            "build/nginx-1.27.1",
            "\"openresty/\" NGINX_VERSION \".2\"",
        );
        let source = of(
            &nginx("openresty/1.27.1.2"),
            Path::new("nginx"),
            Some(&tree.0),
        )
        .unwrap();
        assert!(source.ends_with("build/nginx-1.27.1"));
    }

    #[test]
    fn without_a_source_the_message_names_it() {
        let error = of(&nginx("openresty/9.27.1.2"), Path::new("nginx"), None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("NGINX_SOURCE_DIR=/path/to/openresty-9.27.1.2/build/nginx-9.27.1"),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_a_source() {
        let error = of(
            &nginx("nginx/1.27.1"),
            Path::new("nginx"),
            Some(Path::new("/usr")),
        )
        .unwrap_err();
        let error = format!("{error:#}");
        assert!(error.starts_with("NGINX_SOURCE_DIR: /usr "), "{error}");
        assert!(error.contains("no src/core/nginx.h"), "{error}");
    }

    #[test]
    fn a_copy_is_made_once_and_without_what_is_not_needed() {
        let tree = Tree::new("copy", "tree", "\"nginx/\" NGINX_VERSION");
        let (source, to) = (tree.0.join("tree"), tree.0.join("copy"));
        fs::create_dir_all(source.join("objs")).unwrap();
        fs::write(source.join("objs/Makefile"), "").unwrap();
        copy(&source, &to).unwrap();
        assert!(to.join("src/core/nginx.h").is_file());
        assert!(!to.join("objs").exists());
        let before = fingerprint(&source).unwrap();
        assert_eq!(before, fingerprint(&to).unwrap());
        fs::write(source.join("src/core/nginx.c"), "").unwrap();
        assert_ne!(before, fingerprint(&source).unwrap());
        copy(&source, &to).unwrap();
        assert!(!to.join("src/core/nginx.c").exists());
    }
}
