//! A process and all that descend from it, as `/proc` tells.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::signal::{Signal, kill as send};
use nix::unistd::Pid;

/// All that descend from this process, without it.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        let of_parent = children.remove(&parent).unwrap_or_default();
        found.extend(&of_parent);
        next.extend(of_parent);
    }
    found
}

pub fn terminate(process: u32) {
    let _ = send(Pid::from_raw(process as i32), Signal::SIGTERM);
}

pub fn kill(process: u32) {
    let _ = send(Pid::from_raw(process as i32), Signal::SIGKILL);
}

/// The name of a process.
pub fn name(process: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim().to_owned())
}

/// The fourth word of /proc/PID/stat; the second is a name in parentheses that may hold anything.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, words) = stat.rsplit_once(')')?;
    words.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_with_a_nasty_name() {
        assert_eq!(parent_in("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(""), None);
    }

    #[test]
    fn children_are_found() {
        let mut child = std::process::Command::new("sleep")
            .arg("5")
            .spawn()
            .unwrap();
        let found = descendants(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
        assert!(!found.contains(&std::process::id()));
    }
}
