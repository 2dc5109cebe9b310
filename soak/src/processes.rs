//! Processes and sockets as the system tells of them.

use crate::world::Ends;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What kinds of descriptors a process has, and how many of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// TCP sockets that listen.
    pub listening: usize,
    /// All other sockets but those of `channels`: also what the kernel lists nowhere, as it is no longer connected.
    pub connections: usize,
    /// eventfds, epolls and the like.
    pub anonymous: usize,
    /// Files and devices.
    pub files: usize,
    /// Unix sockets. nginx's own lead to the other workers there are or have been.
    pub channels: usize,
}

/// A line of /proc/net/tcp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    pub local: u16,
    pub remote: u16,
    pub state: u8,
    pub inode: u64,
}

/// The states that are looked for, by their numbers in the kernel's tcp_states.h.
pub const CLOSE_WAIT: u8 = 8;
const LISTEN: u8 = 10;

/// All TCP sockets over IPv4 but those that have ended long since, in TIME_WAIT, which may be many.
pub fn tcp() -> Result<Vec<Tcp>> {
    let table = fs::read_to_string("/proc/net/tcp").context("/proc/net/tcp")?;
    let lines = table.lines().skip(1);
    let lines = lines.filter(|line| !line.contains(" 06 00000000:00000000 "));
    Ok(lines.filter_map(tcp_line).collect())
}

fn tcp_line(line: &str) -> Option<Tcp> {
    let mut words = line.split_whitespace().skip(1);
    let mut port = || u16::from_str_radix(words.next()?.rsplit_once(':')?.1, 16).ok();
    let (local, remote) = (port()?, port()?);
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let inode = words.nth(5)?.parse().ok()?;
    Some(Tcp {
        local,
        remote,
        state,
        inode,
    })
}

/// The descriptors of a process; `None` if there is no such process any more.
pub fn descriptors(pid: u32) -> Option<Descriptors> {
    let targets = targets(pid)?;
    let sockets: BTreeMap<u64, u8> = tcp()
        .ok()?
        .iter()
        .map(|tcp| (tcp.inode, tcp.state))
        .collect();
    let unix = unix().ok()?;
    let mut all = Descriptors::default();
    for target in targets {
        *match socket(&target) {
            Some(inode) if sockets.get(&inode) == Some(&LISTEN) => &mut all.listening,
            Some(inode) if unix.contains(&inode) => &mut all.channels,
            Some(_) => &mut all.connections,
            None if target.starts_with("anon_inode:") => &mut all.anonymous,
            None => &mut all.files,
        } += 1;
    }
    Some(all)
}

/// The inodes of all Unix sockets.
fn unix() -> Result<BTreeSet<u64>> {
    let table = fs::read_to_string("/proc/net/unix").context("/proc/net/unix")?;
    let inodes = table.lines().skip(1);
    Ok(inodes
        .filter_map(|line| line.split_whitespace().nth(6)?.parse().ok())
        .collect())
}

/// What each of the process's descriptors is.
pub fn targets(pid: u32) -> Option<Vec<String>> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let targets = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    Some(targets.map(|target| target.display().to_string()).collect())
}

/// The connections that a process, which stands still, has to one of its own ports. Each of its sockets is asked: the
/// system's table of them may lack some that are there all the time, as it changes while it is read.
///
/// # Errors
///
/// There is no such process, or it is not for this one to look into.
pub fn clients(pid: u32, own: &[u16]) -> Result<BTreeSet<Ends>> {
    let context = || format!("the sockets of process {pid}");
    let process = Pid::from_raw(pid as i32).expect("no pid is 0");
    let process = pidfd_open(process, PidfdFlags::empty()).with_context(context)?;
    let mut ports = BTreeSet::new();
    for file in fs::read_dir(format!("/proc/{pid}/fd")).with_context(context)? {
        let path = file.with_context(context)?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let target = fs::read_link(&path).with_context(context)?;
        if let (Some(number), Some(_)) = (number, socket(&target.to_string_lossy())) {
            let socket = pidfd_getfd(&process, number, PidfdGetfdFlags::empty());
            let socket = TcpStream::from(socket.with_context(context)?);
            // One that listens, or has come apart, has no peer.
            if let (Ok(here), Ok(there)) = (socket.local_addr(), socket.peer_addr())
                && own.contains(&here.port())
            {
                ports.insert((here.port(), there.port()));
            }
        }
    }
    Ok(ports)
}

fn socket(target: &str) -> Option<u64> {
    target
        .strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// Resident memory of its own in bytes, without files and shared zones; `None` if there is no such process any more.
pub fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The child processes of a process.
pub fn children(pid: u32) -> Vec<u32> {
    let all = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    all.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// R, S, T and so on; `None` if there is no such process any more.
pub fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// How long is waited for what must come, where nobody says how long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until there is what is waited for, and fails where there is not within `patience`.
pub fn eventually<T>(
    what: &str,
    patience: Duration,
    mut there: impl FnMut() -> Option<T>,
) -> Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = there() {
            return Ok(found);
        }
        if Instant::now() > deadline {
            bail!("{what}: not within {patience:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use tokio::net::TcpSocket;

    #[test]
    fn a_line_of_the_kernels_table() {
        let line = "   1: 0100007F:1F90 0100007F:C350 08 00000000:00000000 00:00000000 00000000     0        0 4711 1";
        let expected = Tcp {
            local: 8080,
            remote: 50000,
            state: CLOSE_WAIT,
            inode: 4711,
        };
        assert_eq!(tcp_line(line), Some(expected));
        assert_eq!(tcp_line("nonsense"), None);
    }

    #[test]
    fn this_process_and_its_sockets() {
        let me = std::process::id();
        let before = descriptors(me).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _file = File::open("/dev/null").unwrap();
        let now = descriptors(me).unwrap();
        assert!(now.listening > before.listening && now.connections > before.connections);
        assert!(now.files > before.files);
        let _unconnected = TcpSocket::new_v4().unwrap();
        let _channel = UnixStream::pair().unwrap();
        let more = descriptors(me).unwrap();
        assert_eq!(more.connections, now.connections + 1);
        assert_eq!(more.channels, now.channels + 2);
        let _accepted = listener.accept().unwrap();
        let clients = clients(me, &[port]).unwrap();
        let client = client.local_addr().unwrap().port();
        assert_eq!(clients, [(port, client)].into());
        assert!(resident(me).unwrap() > 100_000);
        assert!(state(me).is_some() && state(u32::MAX).is_none());
    }
}
