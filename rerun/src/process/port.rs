//! Loopback ports: a free one, and who holds one.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

use super::tree;

/// A port that nobody uses. It lies outside the range that clients' own sockets are given ports from, so that none of
/// them takes it before the contender does.
pub fn free() -> Result<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = range.split_whitespace().next();
    let first = first.and_then(|word| word.parse().ok()).unwrap_or(32768u16);
    let lowest = 10_000;
    if first > lowest + 1000 {
        for _ in 0..100 {
            let port = fastrand::u16(lowest..first);
            if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
                return Ok(port);
            }
        }
    }
    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a free port")?;
    Ok(any.local_addr()?.port())
}

/// Who listens on this port and is none of `ours`.
pub fn holder(port: u16, ours: &[u32]) -> Option<String> {
    let mut inodes: BTreeSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|file| listeners(&fs::read_to_string(file).unwrap_or_default(), port))
        .collect();
    for &process in ours {
        for inode in sockets(process) {
            inodes.remove(&inode);
        }
    }
    if inodes.is_empty() {
        return None;
    }
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for process in processes {
        if sockets(process).iter().any(|inode| inodes.contains(inode)) {
            let name = tree::name(process).unwrap_or_default();
            return Some(format!("{name} (process {process})"));
        }
    }
    Some("another process".to_owned())
}

/// The inodes of listening sockets with this port in a table as /proc/net/tcp has it.
pub fn listeners(table: &str, port: u16) -> Vec<String> {
    let listens = |line: &str| -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, local) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(local, 16).ok()? == port && *words.get(3)? == "0A";
        is_it.then(|| words.get(9).map(|inode| (*inode).to_owned()))?
    };
    table.lines().skip(1).filter_map(listens).collect()
}

/// The inodes of a process's sockets.
fn sockets(process: u32) -> BTreeSet<String> {
    let files = fs::read_dir(format!("/proc/{process}/fd"));
    files
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            let inode = target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_in_the_kernels_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n\
            1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1\n";
        assert_eq!(listeners(table, 8080), ["4711"]);
        assert_eq!(listeners(table, 8081), Vec::<String>::new());
    }

    #[test]
    fn a_taken_port_has_a_holder() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let me = std::process::id();
        assert!(
            holder(port, &[])
                .unwrap()
                .ends_with(&format!("(process {me})"))
        );
        assert_eq!(holder(port, &[me]), None);
        drop(taken);
        assert_eq!(holder(port, &[]), None);
    }

    #[test]
    fn a_free_port_is_nobodys() {
        let port = free().unwrap();
        assert_eq!(holder(port, &[]), None);
    }
}
