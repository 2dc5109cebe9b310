//! The nginx under test: which binary, which modules, what it says of itself.

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An nginx binary with the dynamic modules to load into it.
#[derive(Debug, Clone)]
pub struct Nginx {
    pub(crate) binary: PathBuf,
    pub(crate) modules: Vec<String>,
    pub(crate) version: Version,
    pub(crate) openssl: Option<String>,
    pub(crate) pcre: u8,
    configured: String,
}

/// The version of an nginx.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The number that test files compare: 1.22.1 is `1.022001`.
    pub(crate) fn canon(self) -> String {
        format!("{}.{:03}{:03}", self.0, self.1, self.2)
    }
}

impl Nginx {
    /// The nginx that `TEST_NGINX_BINARY` names (`nginx` in `PATH` by default)
    /// with the modules that `TEST_NGINX_LOAD_MODULES` lists.
    pub fn from_env() -> io::Result<Nginx> {
        Nginx::from_vars(|name| env::var(name).ok())
    }

    pub(crate) fn from_vars(var: impl Fn(&str) -> Option<String>) -> io::Result<Nginx> {
        let binary = var("TEST_NGINX_BINARY").filter(|name| !name.is_empty());
        let modules = var("TEST_NGINX_LOAD_MODULES").unwrap_or_default();
        Ok(Nginx::new(binary.as_deref().unwrap_or("nginx"))?
            .modules(modules.split_whitespace().map(str::to_owned)))
    }

    /// The nginx at `binary`, a path or a name to be found in `PATH`.
    pub fn new(binary: impl AsRef<Path>) -> io::Result<Nginx> {
        let binary = binary.as_ref();
        let output = Command::new(binary).arg("-V").output().map_err(|e| {
            io::Error::new(
                e.kind(),
                format!("cannot run \"{} -V\": {e}", binary.display()),
            )
        })?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let version = said
            .lines()
            .find_map(|line| version_in(line.strip_prefix("nginx version: ")?.split('/').nth(1)?))
            .ok_or_else(|| {
                let message = format!("\"{} -V\" names no version: {said}", binary.display());
                io::Error::new(io::ErrorKind::InvalidData, message)
            })?;
        let pcre2 = version >= Version(1, 25, 0) && !said.contains("--without-pcre2");
        Ok(Nginx {
            binary: binary.to_owned(),
            modules: Vec::new(),
            version,
            openssl: said.lines().find_map(openssl_in),
            pcre: if pcre2 {
                2
            } else {
                said.contains("pcre").into()
            },
            configured: said,
        })
    }

    /// The dynamic modules to load, each as `load_module` takes it.
    pub fn modules(mut self, modules: impl IntoIterator<Item = String>) -> Nginx {
        self.modules.extend(modules);
        self
    }

    /// The version of this nginx.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether this nginx was configured with the option.
    pub(crate) fn configured_with(&self, option: &str) -> bool {
        self.configured.contains(option)
    }
}

fn version_in(text: &str) -> Option<Version> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().ok());
    Some(Version(
        numbers.next()??,
        numbers.next()??,
        numbers.next()??,
    ))
}

/// `1.001001` of 1.1.1, and `1.001001006` of 1.1.1g.
fn openssl_in(line: &str) -> Option<String> {
    let text = line
        .strip_prefix("built with OpenSSL ")?
        .split(' ')
        .next()?;
    let canon = version_in(text)?.canon();
    Some(match text.bytes().last()? {
        letter @ b'a'..=b'z' => format!("{canon}{:03}", letter - b'a'),
        _ => canon,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(version_in("1.22.1"), Some(Version(1, 22, 1)));
        assert_eq!(version_in("1.21.4.3 (custom)"), Some(Version(1, 21, 4)));
        assert_eq!(version_in("unknown"), None);
        assert_eq!(Version(1, 22, 1).canon(), "1.022001");
        assert!(Version(1, 9, 15) < Version(1, 22, 1));
    }

    #[test]
    fn openssl_may_carry_a_letter() {
        let line = "built with OpenSSL 1.1.1g  21 Apr 2020";
        assert_eq!(openssl_in(line).as_deref(), Some("1.001001006"));
        assert_eq!(
            openssl_in("built with OpenSSL 3.0.2 x").as_deref(),
            Some("3.000002")
        );
        assert_eq!(openssl_in("built with BoringSSL"), None);
    }
}
