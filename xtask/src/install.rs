//! Installing what is missing: packages of Debian or Ubuntu, asked for only when they are not there.
//!
//! Debian's nginx package starts a service on port 80 unless the machine's policy-rc.d says no. It is left to do what
//! it does everywhere: a policy-rc.d of ours, left behind by an interrupted call, would silently keep other services
//! from starting. The service is not needed here; `systemctl disable --now nginx` ends it.

use std::fs;
use std::io::IsTerminal;

use anyhow::{Result, bail};

use crate::shell;

/// What a command cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Compiling a module: a C toolchain, libclang for bindgen (its package brings clang's own headers), and the
    /// headers of the libraries nginx is configured with.
    Toolchain,
    /// The system's nginx, its source, and the modules to compare with.
    SystemNginx,
    /// What `rerun compare` measures beside nginx's modules, and the generator that its own is compared with.
    Comparing,
    /// What counts instructions, system calls and allocations, and loads what is counted.
    Counting,
    /// What unpacks a source package.
    Unpacking,
    /// What the `.t` files are read and asked with, and what the examples ask.
    Testing,
    /// libFuzzer is C++.
    Fuzzing,
    /// What tries the package and the image.
    Containers,
    /// What measures rerun's report on a small screen. The test goes without it where it is no package.
    Browser,
}

impl Need {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Toolchain => &[
                "gcc",
                "libc6-dev",
                "make",
                "libclang-dev",
                "libpcre2-dev",
                "zlib1g-dev",
                "libssl-dev",
            ],
            Self::SystemNginx => &[
                "nginx",
                "nginx-dev",
                "libnginx-mod-http-ndk",
                "libnginx-mod-http-lua",
                "libnginx-mod-http-echo",
                "libnginx-mod-http-js",
            ],
            Self::Comparing => &["php-fpm", "wrk"],
            Self::Counting => &["valgrind", "nghttp2-client", "strace", "gdb"],
            Self::Unpacking => &["dpkg-dev"],
            Self::Testing => &["perl", "curl", "redis-server"],
            Self::Fuzzing => &["g++"],
            Self::Containers => &["buildah", "debootstrap", "lintian"],
            Self::Browser => &["chromium", "fonts-dejavu-core"],
        }
    }

    /// How its absence shows where there is no dpkg to ask.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Toolchain => &["cc", "make"],
            Self::SystemNginx => &["nginx"],
            Self::Comparing => &["wrk"],
            Self::Counting => &["valgrind", "h2load", "strace", "gdb"],
            Self::Unpacking => &["dpkg-source"],
            Self::Testing => &["perl", "curl", "redis-server"],
            Self::Fuzzing => &["c++"],
            Self::Containers => &["buildah", "debootstrap", "lintian"],
            Self::Browser => &[],
        }
    }
}

/// Installs what is missing of the needs, or says what to do.
pub fn install(needs: &[Need]) -> Result<()> {
    let os_release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if !is_debian(&os_release) || !shell::has("dpkg-query") {
        let missing = missing_programs(needs, shell::has);
        if !missing.is_empty() {
            bail!(
                "missing: {}. This is neither Debian nor Ubuntu: install them with this system's package manager",
                missing.join(", ")
            );
        }
        return Ok(());
    }
    let wanted: Vec<&str> = needs
        .iter()
        .filter(|need| **need != Need::Browser || has_chromium(&os_release))
        .flat_map(|need| need.packages())
        .copied()
        .collect();
    // dpkg-query fails when it does not know one of the packages, and lists the others all the same.
    let known = shell::command("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\n"])
        .args(&wanted)
        .output()?;
    let missing = missing_packages(&wanted, &String::from_utf8_lossy(&known.stdout));
    if missing.is_empty() {
        Ok(())
    } else {
        apt(&missing)
    }
}

/// What Debian's Lua module replaces, if something else brought it: LuaJIT in place of OpenResty's LuaJIT, which is one
/// for all programs that want either, such as wrk.
const REPLACED: [&str; 2] = ["libluajit-5.1-2", "libluajit-5.1-common"];

fn apt(packages: &[&str]) -> Result<()> {
    let as_root: &[&str] = if is_root() {
        &[]
    } else if !shell::has("sudo") {
        bail!(
            "missing packages, this is not root and there is no sudo. As root, run:\n    apt-get update && apt-get \
             install -y --no-install-recommends {}",
            packages.join(" ")
        );
    } else if std::io::stdin().is_terminal() {
        &["sudo"]
    } else {
        &["sudo", "-n"]
    };
    let apt = |arguments: &[&str]| {
        let environment = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
        let words: Vec<&str> = as_root
            .iter()
            .chain(&environment)
            .chain(arguments)
            .copied()
            .collect();
        shell::run(shell::command(words[0]).args(&words[1..]))
    };
    apt(&["update"])?;
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    let plan = shell::command("apt-get")
        .arg("-s")
        .args(&install)
        .args(packages)
        .output()?;
    if !removes_only(&String::from_utf8_lossy(&plan.stdout), &REPLACED) {
        install.push("--no-remove");
    }
    if let Err(error) = apt(&[&install, packages].concat()) {
        bail!(
            "{error}\nnginx-dev is in Debian 12, Ubuntu 24.04 and later. With another nginx, or where apt cannot \
             install these packages, give NGINX=/path/to/nginx NGINX_SOURCE_DIR=/path/to/its/source, or NGINX=vendored"
        );
    }
    Ok(())
}

/// Whether apt-get's simulation removes nothing but these.
fn removes_only(plan: &str, replaced: &[&str]) -> bool {
    plan.lines()
        .filter_map(|line| line.strip_prefix("Remv ")?.split_whitespace().next())
        .all(|removed| replaced.contains(&removed))
}

pub fn is_root() -> bool {
    // SAFETY: geteuid takes nothing, changes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Whether /etc/os-release is that of Debian, of Ubuntu or of a system made from one of them.
fn is_debian(os_release: &str) -> bool {
    let values = |name: &str| {
        let line = os_release
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default()
            .trim_matches('"')
            .split_whitespace()
    };
    values("ID")
        .chain(values("ID_LIKE"))
        .any(|id| id == "debian" || id == "ubuntu")
}

/// Name and number of this machine's Debian (`bookworm`, `12`), where it is Debian itself.
pub fn debian_release() -> Option<(String, String)> {
    release(&fs::read_to_string("/etc/os-release").ok()?)
}

fn release(os_release: &str) -> Option<(String, String)> {
    let value = |name: &str| {
        let mut lines = os_release.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned())
    };
    (value("ID")? == "debian").then_some((value("VERSION_CODENAME")?, value("VERSION_ID")?))
}

/// Whether the browser is a package: Ubuntu has a snap in its place.
fn has_chromium(os_release: &str) -> bool {
    os_release.lines().any(|line| line == "ID=debian")
}

/// Those of `wanted` that dpkg-query (`name status` lines) does not call installed.
fn missing_packages<'a>(wanted: &[&'a str], dpkg: &str) -> Vec<&'a str> {
    let installed = |package: &&str| {
        dpkg.lines()
            .any(|line| line.split_once(' ') == Some((package, "installed")))
    };
    wanted
        .iter()
        .filter(|package| !installed(package))
        .copied()
        .collect()
}

fn missing_programs(needs: &[Need], has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    needs
        .iter()
        .flat_map(|need| need.programs())
        .filter(|program| !has(program))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_and_its_descendants() {
        assert!(is_debian(
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n"
        ));
        assert!(is_debian("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n"));
        assert!(is_debian(
            "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
        ));
        assert!(!is_debian("NAME=\"Fedora Linux\"\nID=fedora\n"));
        assert!(!is_debian("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"));
        assert!(!is_debian(""));
    }

    #[test]
    fn chromium_is_a_package_of_debian_itself() {
        assert!(has_chromium("PRETTY_NAME=\"Debian\"\nID=debian\n"));
        assert!(!has_chromium("ID=ubuntu\nID_LIKE=debian\n"));
    }

    #[test]
    fn debians_release_has_a_name_and_a_number() {
        let debian = "VERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        let release = release(debian).unwrap();
        assert_eq!(release, ("bookworm".into(), "12".into()));
        assert_eq!(super::release("VERSION_ID=\"24.04\"\nID=ubuntu\n"), None);
    }

    #[test]
    fn a_library_that_is_replaced_may_go() {
        let plan = "Remv libluajit-5.1-2 [2.1.0] []\nInst libluajit2-5.1-2 (2.1-20230119)\nConf nginx (1.22.1)\n";
        assert!(removes_only(plan, &REPLACED));
        assert!(removes_only("Inst nginx (1.22.1)\n", &REPLACED));
        assert!(!removes_only(
            &format!("Remv apache2 [2.4]\n{plan}"),
            &REPLACED
        ));
    }

    #[test]
    fn only_what_is_not_installed_is_missing() {
        let dpkg = "gcc installed\nnginx config-files\nmake installed\n";
        assert_eq!(missing_packages(&["gcc", "make"], dpkg), Vec::<&str>::new());
        assert_eq!(
            missing_packages(&["gcc", "nginx", "wrk"], dpkg),
            ["nginx", "wrk"]
        );
    }

    #[test]
    fn elsewhere_programs_are_looked_for() {
        let needs = [Need::Toolchain, Need::SystemNginx];
        assert_eq!(
            missing_programs(&needs, |program| program == "cc"),
            ["make", "nginx"]
        );
    }
}
