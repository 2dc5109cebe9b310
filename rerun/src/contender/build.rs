//! Compiling a contender into its own folder under `target/rerun/`, when its source or its commands have changed.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nix::fcntl::{Flock, FlockArg};

use super::Contender;
use super::command;

/// A compiler that gets its libraries first may take a while.
const PATIENCE: Duration = Duration::from_secs(900);

/// Runs the build commands, if they have not yet succeeded for these sources.
pub fn build(contender: &Contender) -> Result<()> {
    let commands = &contender.manifest.build.run;
    if commands.is_empty() {
        return Ok(());
    }
    let built = &contender.built;
    fs::create_dir_all(built).with_context(|| format!("creating {}", built.display()))?;
    let _lock = lock(built)?;
    let places = contender.places();
    let commands: Vec<Vec<String>> = commands
        .iter()
        .map(|words| places.fill_all(words))
        .collect::<Result<_>>()?;
    let stamp = built.join("built-from");
    let wanted = fingerprint(&contender.dir, &commands)?;
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    eprintln!("building {}", contender.name);
    for words in &commands {
        command::quiet(command::command(words), PATIENCE)
            .map_err(|error| anyhow!("{}", places.without_folders(&format!("{error:#}"))))?;
    }
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

/// Two calls at once must not write into the same folder.
fn lock(built: &Path) -> Result<Flock<File>> {
    let path = built.join("lock");
    let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
    Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, error)| error)
        .with_context(|| format!("locking {}", path.display()))
}

/// A number that changes with any byte of the sources and with the commands.
fn fingerprint(dir: &Path, commands: &[Vec<String>]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    commands.hash(&mut hasher);
    for file in sources(dir) {
        file.hash(&mut hasher);
        fs::read(&file)
            .with_context(|| format!("reading {}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

/// Every file of the folder, in a fixed order.
pub fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
