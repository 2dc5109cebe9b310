//! The files of this repository, for tests that read them.

#![allow(dead_code, reason = "no test needs all of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// The files with such endings in a folder of the repository and below it, by their paths in that folder.
pub fn texts(folder: &str, endings: &[&str]) -> BTreeMap<String, String> {
    let folder = root().join(folder);
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.clone()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let file = path.strip_prefix(&folder).unwrap().to_str().unwrap();
                found.insert(file.to_owned(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}
