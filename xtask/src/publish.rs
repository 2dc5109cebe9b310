//! That the crates which are meant for others can be published: whole, and building with nothing around them.

use anyhow::{Result, bail, ensure};

use crate::{project, shell};

/// In the order in which one may depend on another.
const CRATES: [&str; 2] = ["test-nginx", "content-by-rust"];

/// What cargo says each time: tests that need more than their crate stay here, and nothing is uploaded.
const EXPECTED: [&str; 2] = ["warning: ignoring test ", "warning: aborting upload "];

pub fn test() -> Result<()> {
    for package in CRATES {
        let cargo = |words: &[&str]| {
            let mut cargo = shell::command("cargo");
            cargo
                .args(words)
                .args(["--allow-dirty", "--package", package]);
            shell::quiet(cargo.current_dir(project::root()))
        };
        let list = cargo(&["package", "--list"])?.stdout;
        if let Some(fault) = fault(&list) {
            bail!("{package} {fault}");
        }
        let said = cargo(&["publish", "--dry-run"])?.stderr;
        for line in said.lines().filter(|line| line.starts_with("warning:")) {
            let is_expected = EXPECTED.iter().any(|start| line.starts_with(start));
            ensure!(is_expected, "{package}: {line}");
        }
    }
    Ok(())
}

/// What is wrong with a package of these files, if anything.
fn fault(list: &str) -> Option<String> {
    let is_hidden = |file: &&str| file.starts_with('.') && *file != ".cargo_vcs_info.json";
    if let Some(hidden) = list.lines().find(is_hidden) {
        return Some(format!("would be published with {hidden}"));
    }
    let missing = ["LICENSE", "README.md", "src/lib.rs"];
    let missing = missing
        .iter()
        .find(|file| !list.lines().any(|line| line == **file))?;
    Some(format!("would be published without {missing}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_whole_and_has_no_more() {
        let whole = ".cargo_vcs_info.json\nLICENSE\nREADME.md\nsrc/lib.rs";
        assert_eq!(fault(whole), None);
        let more = fault(&format!("{whole}\n.ci/run")).unwrap();
        assert!(more.contains("with .ci/run"), "{more}");
        let less = fault("README.md\nsrc/lib.rs").unwrap();
        assert!(less.contains("without LICENSE"), "{less}");
    }
}
