//! A Redis of its own, which goes and comes back.

use crate::processes::{PATIENCE, eventually};
use crate::world::Outages;
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use test_nginx::spawn;

/// A Redis that keeps nothing.
#[derive(Debug)]
pub struct Redis {
    process: Option<Child>,
    dir: PathBuf,
    pub port: u16,
}

impl Redis {
    /// Starts it on a free port; `dir` is where it may write.
    pub fn start(dir: PathBuf) -> Result<Redis> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut redis = Redis {
            process: None,
            dir,
            port,
        };
        redis.start_again()?;
        Ok(redis)
    }

    fn start_again(&mut self) -> Result<()> {
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(&self.dir)
            .stdout(Stdio::null());
        self.process = Some(spawn(command).context("redis-server")?);
        eventually("Redis answers", PATIENCE, || self.answers().then_some(()))
    }

    fn answers(&self) -> bool {
        let mut pong = [0; 7];
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok_and(|mut stream| {
            stream.set_read_timeout(Some(PATIENCE)).is_ok()
                && stream.write_all(b"PING\r\n").is_ok()
                && stream.read_exact(&mut pong).is_ok()
                && pong == *b"+PONG\r\n"
        })
    }

    /// Kills it, which begins an outage.
    pub fn stop(&mut self, outages: &Outages) -> Result<()> {
        outages.begin();
        self.kill()
    }

    /// Ends the outage, if there is one.
    pub fn resume(&mut self, outages: &Outages) -> Result<()> {
        if self.process.is_none() {
            self.start_again()?;
            outages.end();
        }
        Ok(())
    }

    fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // One that cannot be killed has ended.
        let _ = self.kill();
    }
}
