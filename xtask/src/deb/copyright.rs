//! The package's `copyright` file: what is compiled into the module, and under which licences.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::build::Package;
use crate::shell;

/// Most crates may be used under this licence; its text is on every Debian machine.
const COMMON: &str = "Apache-2.0";

pub fn of(package: &Package) -> Result<String> {
    let mut text = format!(
        "The module contains these crates, and Rust's standard library under {COMMON}.\n\
         On Debian systems the text of {COMMON} is in /usr/share/common-licenses/{COMMON}.\n"
    );
    for krate in contained(package)? {
        let field = |key: &str| krate[key].as_str().unwrap_or("unknown");
        let license = field("license");
        let is_common = is_common(license);
        let license = if is_common { COMMON } else { license };
        text += &format!("\n{} {}: {license}\n", field("name"), field("version"));
        if !is_common {
            text += &texts(&Path::new(field("manifest_path")).with_file_name(""))?;
        }
    }
    Ok(text)
}

/// Whether a crate of this SPDX expression may be used under the common licence alone.
fn is_common(license: &str) -> bool {
    let mut words = license.split([' ', '/', '(', ')']);
    !license.contains(" AND ") && words.any(|word| word == COMMON)
}

/// The licences that lie beside a crate's manifest.
fn texts(folder: &Path) -> Result<String> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if ["LICENSE", "LICENCE", "COPYING", "NOTICE"]
            .iter()
            .any(|start| name.starts_with(start))
            && entry.path().is_file()
        {
            files.push(entry.path());
        }
    }
    files.sort();
    let texts = files.iter().map(|file| {
        let text =
            fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        Ok(format!("\n{}\n", text.trim_end()))
    });
    texts.collect()
}

/// The crates that the module is linked from, itself among them, as `cargo metadata` describes them.
fn contained(package: &Package) -> Result<Vec<Value>> {
    let cargo = |words: &[&str]| {
        let mut cargo = shell::command("cargo");
        cargo
            .args(words)
            .arg("--manifest-path")
            .arg(&package.manifest);
        cargo.args(["--no-default-features", "--features", &package.features]);
        shell::quiet(&mut cargo).map(|said| said.stdout)
    };
    // Macros and build scripts are in the compiler, not in the module.
    let tree = [
        "tree",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ];
    let tree = cargo(&[&tree[..], &["--format", "{p} "]].concat())?;
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1"])?)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let is_linked = |krate: &&Value| {
        let [name, version] =
            ["name", "version"].map(|key| krate[key].as_str().unwrap_or_default());
        let start = format!("{name} v{version} ");
        tree.lines().any(|line| line.starts_with(&start))
    };
    Ok(packages.iter().filter(is_linked).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_that_is_offered_is_taken() {
        assert!(is_common("Apache-2.0"));
        assert!(is_common("MIT OR Apache-2.0"));
        assert!(is_common("Unlicense/Apache-2.0"));
        assert!(!is_common("MIT"));
        assert!(!is_common("(MIT OR Apache-2.0) AND Unicode-3.0"));
    }
}
