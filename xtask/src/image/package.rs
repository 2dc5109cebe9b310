//! The package of `make deb` on a Debian of its own: installed, removed, installed again, purged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::buildah::{Buildah, Container};
use super::server::{self, Server};
use crate::instructions::http::Expected;
use crate::shell;

const OK: Expected = Expected {
    body: "OK\n",
    content_type: None,
    delay: Duration::from_millis(20),
};
const PLAIN: Expected = Expected {
    body: "plain\n",
    content_type: None,
    delay: Duration::ZERO,
};
/// Where Debian's own modules put theirs.
const LINK: &str = "etc/nginx/modules-enabled/50-mod-http-rust.conf";

pub fn check(buildah: &Buildah, deb: &Path) -> Result<()> {
    let debian = buildah.container(&buildah.base)?;
    let apt_get = |words: &[&str]| {
        let apt_get = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
        debian.run(&[&apt_get, words].concat())
    };
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", "nginx"])?;
    // It makes folders in its first run.
    serves(&debian, "return 200 'plain\\n';", &PLAIN)?;
    let before = files(&debian)?;

    let query = ["dpkg-query", "--show", "--showformat", "${Provides}"];
    let provides = debian.run(&[&query, &["nginx"][..]].concat())?;
    let mut provides = provides.split(", ");
    let abi = provides.find(|name| name.starts_with("nginx-abi-"));
    let abi = abi.context("Debian's nginx names its ABI")?;
    let field = |name: &str| {
        let mut dpkg_deb = shell::command("dpkg-deb");
        dpkg_deb.arg("--field").arg(deb).arg(name);
        shell::quiet(&mut dpkg_deb).map(|said| said.stdout.trim().to_owned())
    };
    let depends = field("Depends")?;
    ensure!(
        depends.split(", ").any(|name| name == abi),
        "the package does not depend on {abi}: {depends}"
    );

    debian.copy(deb, "/tmp")?;
    let file = Path::new("/tmp").join(deb.file_name().context("a package has a name")?);
    let file = file.to_string_lossy();
    apt_get(&["install", "-y", &file])?;
    serves(&debian, "content_by_rust ok;", &OK).context("installed")?;

    let name = &field("Package")?;
    apt_get(&["remove", "-y", name])?;
    serves(&debian, "return 200 'plain\\n';", &PLAIN).context("removed")?;
    // Debian remembers so which modules were enabled.
    let remembered = BTreeSet::from([
        format!("{LINK}.removed"),
        format!("var/lib/dpkg/info/{name}.list"),
        format!("var/lib/dpkg/info/{name}.postrm"),
    ]);
    let after = files(&debian)?;
    let left: BTreeSet<String> = after.symmetric_difference(&before).cloned().collect();
    ensure!(left == remembered, "removed, it leaves {left:?}");

    apt_get(&["install", "-y", &file])?;
    serves(&debian, "content_by_rust ok;", &OK).context("installed again")?;

    apt_get(&["purge", "-y", name])?;
    serves(&debian, "return 200 'plain\\n';", &PLAIN).context("purged")?;
    let after = files(&debian)?;
    let left: Vec<_> = after.symmetric_difference(&before).collect();
    ensure!(left.is_empty(), "purged, it leaves {left:?}");
    Ok(())
}

/// nginx accepts its configuration, begins, answers, and ends.
fn serves(debian: &Container, does: &str, expected: &Expected) -> Result<()> {
    let conf =
        format!("server {{ listen 8080; default_type text/plain; location / {{ {does} }} }}\n");
    fs::write(debian.root.join("etc/nginx/conf.d/test.conf"), conf)?;
    debian.run(&["nginx", "-t"])?;
    server::alone(|| {
        let nginx = debian.command(&["nginx", "-g", "daemon off;"]);
        let server = Server::start(debian, nginx, "run/nginx.pid", 8080)?;
        server.answers("/", expected)?;
        server.quit(None)?;
        Ok(())
    })
}

/// All files but those that apt, dpkg and nginx write for themselves.
fn files(debian: &Container) -> Result<BTreeSet<String>> {
    let mut find = shell::command("find");
    find.arg(&debian.root).args(["-mindepth", "1"]);
    for own in ["tmp", "run", "var/cache", "var/log", "var/lib/apt"] {
        find.arg("-path")
            .arg(debian.root.join(own))
            .args(["-prune", "-o"]);
    }
    find.args(["-not", "-path"])
        .arg(debian.root.join("var/lib/dpkg/*-old"));
    find.args(["-printf", "%P\\n"]);
    let found = shell::quiet(&mut find)?.stdout;
    Ok(found.lines().map(String::from).collect())
}
