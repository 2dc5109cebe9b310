//! What the kernel knows: of a server's process tree, of the network, of the machine.

pub mod cpus;
pub mod listeners;
pub mod machine;
pub mod network;
pub mod tree;

use std::fs;

/// The number behind `name` in a file of `name number` lines, as /proc likes them (`VmHWM:   1234 kB`).
fn number(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(name)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

/// A file that holds a number.
fn number_in(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
