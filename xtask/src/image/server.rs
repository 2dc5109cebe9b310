//! nginx in a container, asked from outside of it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::buildah::Container;
use crate::instructions::http::{self, Expected};
use crate::shell;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs something in a network of its own: each port is free there, and nobody else comes in.
pub fn alone<T: Send>(inside: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let thread = || {
        // SAFETY: takes a number, and changes this thread and what it will start alone.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(io::Error::last_os_error()).context("making a network namespace");
        }
        shell::quiet(shell::command("ip").args(["link", "set", "lo", "up"]))?;
        inside()
    };
    thread::scope(|scope| scope.spawn(thread).join()).expect("it does not panic")
}

/// A running nginx. Dropped, it ends at once.
pub struct Server {
    child: Child,
    pub pid: libc::pid_t,
    port: u16,
}

impl Server {
    /// Starts nginx in the container, and waits until it has written its pid, which it does once it listens.
    pub fn start(
        container: &Container,
        mut command: Command,
        pid_file: &str,
        port: u16,
    ) -> Result<Self> {
        let shown = shell::display(&command);
        let child = shell::dies_with_us(&mut command)
            .spawn()
            .with_context(|| format!("running {shown}"))?;
        let mut server = Self {
            child,
            pid: 0,
            port,
        };
        let pid_file = container.root.join(pid_file);
        until("nginx does not write its pid", || {
            if let Some(status) = server.child.try_wait()? {
                bail!("nginx ended at once: {status}");
            }
            let pid = fs::read_to_string(&pid_file).unwrap_or_default();
            server.pid = pid.trim().parse().unwrap_or(0);
            Ok(server.pid != 0)
        })?;
        Ok(server)
    }

    /// Asks, and fails where the answer is not this.
    pub fn answers(&self, path: &str, expected: &Expected) -> Result<()> {
        let answer = http::get(&format!("127.0.0.1:{}", self.port), path)?;
        match answer.fault(expected) {
            Some(fault) => bail!("{path} {fault}"),
            None => Ok(()),
        }
    }

    /// Sends a request, and gives its connection when nginx has read it.
    pub fn begin(&self, path: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
        let ports = (self.port, stream.local_addr()?.port());
        until("nginx does not read the request", || {
            let sockets = fs::read_to_string("/proc/thread-self/net/tcp")?;
            Ok(unread(&sockets, ports) == Some(0))
        })?;
        Ok(stream)
    }

    /// Has nginx quit as the image's STOPSIGNAL does. It answers what it has begun with.
    pub fn quit(mut self, begun: Option<TcpStream>) -> Result<String> {
        // SAFETY: nginx is a child of our child, which has not been waited for.
        unsafe { libc::kill(self.pid, libc::SIGQUIT) };
        let mut answer = String::new();
        if let Some(mut stream) = begun {
            stream.read_to_string(&mut answer)?;
        }
        let mut status = None;
        until("nginx does not end", || {
            status = self.child.try_wait()?;
            Ok(status.is_some())
        })?;
        ensure!(
            status.is_some_and(|status| status.success()),
            "nginx ended with {status:?}"
        );
        Ok(answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            if self.pid != 0 {
                // SAFETY: nginx is a child of our child, which has not been waited for.
                unsafe { libc::kill(self.pid, libc::SIGTERM) };
            } else {
                let _ = self.child.kill();
            }
            let _ = self.child.wait();
        }
    }
}

/// Waits for what has no event of its own.
fn until(otherwise: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        ensure!(begun.elapsed() < PATIENCE, "{otherwise}");
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// How many bytes the one end of a connection has not read, by the ports of both ends and the kernel's table.
fn unread(sockets: &str, (ours, theirs): (u16, u16)) -> Option<u64> {
    sockets.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote, queues) = (words.next()?, words.next()?, words.nth(1)?);
        let is_it =
            local.ends_with(&format!(":{ours:04X}")) && remote.ends_with(&format!(":{theirs:04X}"));
        is_it.then(|| u64::from_str_radix(queues.split_once(':')?.1, 16).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read_stands_in_the_kernels_table() {
        let sockets =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33        0 1 1
   1: 0100007F:1F90 0100007F:C001 01 00000000:0000001A 00:00000000 00000000    33        0 2 1
   2: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 3 1";
        assert_eq!(unread(sockets, (8080, 0xC001)), Some(26));
        assert_eq!(unread(sockets, (8080, 0xC002)), None);
        assert_eq!(unread(sockets, (0xC001, 8080)), Some(0));
    }
}
