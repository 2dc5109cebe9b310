//! Each target over its seeds, and over random changes of them: what libFuzzer does, without a search.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use fuzz::{TARGETS, Target};

/// Changed seeds for each target.
const CHANGES: usize = 200;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")
}

/// The seeds of one target by their names.
fn seeds(target: &Target) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = [
        Some(folder().join(target.name)),
        target.more.map(|more| root.join(more)),
    ];
    let files = folders.into_iter().flatten();
    let files = files.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut seeds: Vec<(String, Vec<u8>)> = files
        .map(|file| file.unwrap())
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                fs::read(file.path()).unwrap(),
            )
        })
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn every_target_has_seeds_and_every_seed_a_target() {
    let folders = fs::read_dir(folder()).unwrap();
    let mut folders: Vec<String> = folders
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut names = TARGETS.map(|target| target.name);
    names.sort_unstable();
    assert_eq!(folders, names);
    for target in &TARGETS {
        assert!(seeds(target).len() > 2, "{} has few seeds", target.name);
    }
}

#[test]
fn every_seed_keeps_the_promises() {
    for target in &TARGETS {
        for (name, seed) in seeds(target) {
            if catch_unwind(|| (target.run)(&seed)).is_err() {
                panic!("{}/{name}", target.name);
            }
        }
    }
}

#[test]
fn so_do_seeds_that_are_changed() {
    for target in &TARGETS {
        let seeds = seeds(target);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..CHANGES {
            let (name, mut bytes) = random.choice(&seeds).unwrap().clone();
            for _ in 0..random.usize(1..8) {
                change(&mut bytes, &mut random);
            }
            if catch_unwind(|| (target.run)(&bytes)).is_err() {
                panic!("{}/{name} as {}", target.name, bytes.escape_ascii());
            }
        }
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    if bytes.is_empty() {
        return bytes.push(random.u8(..));
    }
    let at = random.usize(..bytes.len());
    match random.u8(..6) {
        0 => bytes[at] = random.u8(..),
        1 => bytes[at] = *random.choice(b"0 \t\r\n\0\"'\\={};:%&+<>/-").unwrap(),
        2 => drop(bytes.remove(at)),
        3 => bytes.insert(at, random.u8(..)),
        4 => bytes.truncate(at),
        _ => bytes.extend_from_within(at..),
    }
    bytes.truncate(16 * 1024);
}
