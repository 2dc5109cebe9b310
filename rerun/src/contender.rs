//! The contenders: one folder each in `rerun/contenders/`, with all that it takes to install, build, start and judge
//! one server. A new contender is a new folder and nothing else.
//!
//! [`manifest`] reads a folder's `contender.toml`, [`places`] fills in its `{placeholders}`, [`presence`] says whether
//! this machine has what it needs, [`install`] gets it, [`build`] compiles, and `crate::process` starts it.

pub mod build;
pub mod command;
pub mod install;
pub mod list;
pub mod manifest;
pub mod nginx;
pub mod places;
pub mod presence;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::result;
use manifest::Manifest;
use places::Places;

/// One contender: its folder's name, where it is, and what its manifest says.
#[derive(Clone, Debug)]
pub struct Contender {
    pub name: String,
    /// The folder with its manifest and its source. Nothing is written there.
    pub dir: PathBuf,
    /// What is installed or compiled for it alone is put here.
    pub built: PathBuf,
    pub manifest: Manifest,
}

/// All contenders of one folder, by name.
#[derive(Clone, Debug)]
pub struct Contenders(Vec<Contender>);

impl Contenders {
    /// Those of this repository, or of the folder that `RERUN_CONTENDERS` names.
    pub fn load() -> Result<Self> {
        match std::env::var_os("RERUN_CONTENDERS") {
            Some(folder) => Self::load_from(Path::new(&folder)),
            None => Self::load_from(&root().join("rerun/contenders")),
        }
    }

    /// Reads every folder; one bad manifest is an error, as a contender that is silently left out would be a gap.
    pub fn load_from(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder)
            .with_context(|| format!("the contenders' folder {}", folder.display()))?;
        let mut contenders = Vec::new();
        let entries =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let dir = entry?.path();
            if !dir.is_dir() {
                continue;
            }
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            contenders.push(Contender {
                name: name.to_string(),
                manifest: Manifest::load(&dir)?,
                built: build_dir().join(name.as_ref()),
                dir,
            });
        }
        if contenders.is_empty() {
            bail!(
                "no contenders in {}: each is a folder with a contender.toml",
                folder.display()
            );
        }
        contenders.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self(contenders))
    }

    /// The contender of this name; the error lists the names that there are.
    pub fn get(&self, name: &str) -> Result<&Contender> {
        self.0
            .iter()
            .find(|contender| contender.name == name)
            .with_context(|| {
                let names: Vec<&str> = self.iter().map(|contender| &*contender.name).collect();
                format!("no contender {name:?}; there are: {}", names.join(" "))
            })
    }

    /// Those named, in that order; all of them where none is named.
    pub fn choose(&self, names: &[String]) -> Result<Vec<&Contender>> {
        if names.is_empty() {
            return Ok(self.iter().collect());
        }
        names.iter().map(|name| self.get(name)).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Contender> {
        self.0.iter()
    }
}

impl Contender {
    /// What its placeholders stand for, as long as it does not run.
    pub fn places(&self) -> Places {
        let mut places = Places::default();
        places.set("dir", self.dir.display());
        places.set("built", self.built.display());
        nginx::places(&mut places);
        for (name, candidates) in &self.manifest.programs {
            let found = candidates.iter().find_map(|candidate| {
                presence::find(&places.fill(candidate).ok()?).map(|path| path.display().to_string())
            });
            if let Some(found) = found {
                places.set(name, found);
            }
        }
        places
    }

    /// What a result file says of it; `start` are its commands as they were typed.
    pub fn about(&self, start: Vec<String>) -> result::Contender {
        let manifest = &self.manifest;
        let places = self.places();
        result::Contender {
            title: manifest.title.clone(),
            stands_for: manifest.stands_for(),
            versions: presence::versions(self, &places),
            build: manifest
                .build
                .run
                .iter()
                .map(|words| words.join(" "))
                .collect(),
            start,
            files: self.files(),
            limited_by: manifest.limits.by.clone(),
            at_once: manifest.limits.at_once,
            missing: presence::of(self).missing(),
            notes: manifest.notes.clone(),
        }
    }

    /// Its sources and configurations by name, but for lock files, which say little for their length.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for path in build::sources(&self.dir) {
            let name = path.strip_prefix(&self.dir).unwrap_or(&path);
            if name
                .extension()
                .is_some_and(|extension| extension == "lock")
            {
                continue;
            }
            if let Ok(text) = fs::read_to_string(&path) {
                files.insert(name.display().to_string(), text);
            }
        }
        files
    }
}

/// The repository's root.
pub fn root() -> PathBuf {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest_dir.parent().unwrap_or(manifest_dir).to_owned()
}

/// Where contenders are built and results kept: `target/rerun/` of the repository, or the folder that
/// `RERUN_BUILD_DIR` names.
pub fn build_dir() -> PathBuf {
    match std::env::var_os("RERUN_BUILD_DIR") {
        Some(folder) => folder.into(),
        None => root().join("target/rerun"),
    }
}
