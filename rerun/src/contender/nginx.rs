//! The one nginx that all nginx contenders share: the binary for which `make build` built the module, and the modules
//! that it found for it.

use std::fs;
use std::path::PathBuf;

use super::places::Places;

/// Sets `{nginx}`, `{modules}` (a file of `load_module` lines) and `{modules-dir}`, if `make build` has run.
pub fn places(places: &mut Places) {
    let dir = dir();
    let modules = dir.join("modules.conf");
    let Ok(environment) = fs::read_to_string(dir.join("test.env")) else {
        return;
    };
    if let Some(binary) = value(&environment, "TEST_NGINX_BINARY")
        && modules.is_file()
    {
        places.set("nginx", binary);
        places.set("modules", modules.display());
        places.set("modules-dir", dir.display());
    }
}

/// What to do where `{nginx}` stands for nothing.
pub const HINT: &str = "the module for nginx: `make build`";

/// `target/module/` of the repository, or the folder that `RERUN_MODULES` names.
fn dir() -> PathBuf {
    match std::env::var_os("RERUN_MODULES") {
        Some(folder) => folder.into(),
        None => super::root().join("target/module"),
    }
}

fn value<'a>(environment: &'a str, name: &str) -> Option<&'a str> {
    environment
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_environment_file() {
        let text = "TEST_NGINX_BINARY_X=1\nTEST_NGINX_BINARY=/usr/sbin/nginx\n";
        assert_eq!(value(text, "TEST_NGINX_BINARY"), Some("/usr/sbin/nginx"));
        assert_eq!(value(text, "OTHER"), None);
    }
}
