//! A real nginx for tests written in Rust.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::thread::{panicking, sleep};
use std::time::{Duration, Instant};

use crate::conf::Conf;
use crate::expand::Variables;
use crate::log;
use crate::nginx::Nginx;
use crate::port;
use crate::process::{self, Process, StartError};
use crate::room::Room;

pub use rustix::process::Signal;

/// A running nginx with a port and a directory of its own.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let server = test_nginx::Server::builder()
///     .config("location = /ok { return 200 ok; }")
///     .start()?;
/// let client = std::net::TcpStream::connect(server.addr())?;
/// server.wait_for_log("accept: 127.0.0.1", std::time::Duration::from_secs(1))?;
/// # Ok(())
/// # }
/// ```
///
/// When it is dropped, nginx is stopped and the directory removed. If the test
/// is panicking, the directory is kept and its path printed with the last lines
/// of the error log.
pub struct Server {
    process: Process,
    room: Room,
    builder: ServerBuilder,
    nginx: Nginx,
    vars: Variables,
    port: u16,
}

/// What a [`Server`] is made of. Configuration text may use
/// `$TEST_NGINX_SERVER_PORT`, `$TEST_NGINX_SERVER_ROOT`, `$TEST_NGINX_HTML_DIR`
/// and `$TEST_NGINX_RAND_PORT_1`.
#[derive(Debug, Clone, Default)]
pub struct ServerBuilder {
    nginx: Option<Nginx>,
    conf: Conf,
}

impl ServerBuilder {
    /// The nginx to run; the one from the environment by default.
    pub fn nginx(mut self, nginx: Nginx) -> Self {
        self.nginx = Some(nginx);
        self
    }

    /// Text at the top level of nginx.conf.
    pub fn main_config(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.conf.main_config = text.into();
        self
    }

    /// Text in the `http` block.
    pub fn http_config(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.conf.http_config = text.into();
        self
    }

    /// Text in the `server` block.
    pub fn config(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.conf.config = text.into();
        self
    }

    /// How many workers run; with more than one, a master as well.
    pub fn workers(mut self, count: usize) -> Self {
        self.conf.workers = count.to_string();
        self.conf.master |= count > 1;
        self
    }

    /// Whether there is a master process; there is none by default.
    pub fn master(mut self, on: bool) -> Self {
        self.conf.master = on;
        self
    }

    /// `worker_connections`, 64 by default.
    pub fn worker_connections(mut self, count: usize) -> Self {
        self.conf.worker_connections = count.to_string();
        self
    }

    /// The level of the error log, `debug` by default.
    pub fn log_level(mut self, level: impl Into<String>) -> Self {
        self.conf.log_level = level.into();
        self
    }

    /// Whether `location /` serves files from the `html` directory, as it does
    /// by default.
    pub fn root_location(mut self, on: bool) -> Self {
        self.conf.root_location = on;
        self
    }

    /// Whether the port speaks HTTP/2 (without TLS) rather than only HTTP/1.
    pub fn http2(mut self, on: bool) -> Self {
        self.conf.http2 = on;
        self
    }

    /// Starts nginx, and returns once it listens and its workers run. If it does not start, the
    /// error holds what it said.
    pub fn start(self) -> io::Result<Server> {
        let nginx = match &self.nginx {
            Some(nginx) => nginx.clone(),
            None => Nginx::from_env()?,
        };
        let room = Room::new()?;
        for _ in 0..5 {
            let port = port::free()?;
            let vars = variables(&room, port);
            self.write(&nginx, &room, port, &vars)?;
            return match Process::start(&nginx, &room, port, None) {
                Ok(process) => {
                    let server = Server {
                        process,
                        room,
                        builder: self,
                        nginx,
                        vars,
                        port,
                    };
                    Ok(server.with_workers())
                }
                Err(StartError::PortTaken) => continue,
                Err(StartError::Io(e)) => Err(e),
                Err(StartError::Exited(status)) => Err(io::Error::other(format!(
                    "nginx does not start: {status}\n{}",
                    log::text(&room.stderr()).trim_end()
                ))),
            };
        }
        Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "all ports were lost to other processes",
        ))
    }

    fn write(&self, nginx: &Nginx, room: &Room, port: u16, vars: &Variables) -> io::Result<()> {
        let conf = self.conf.render(nginx, &room.root(), port, vars);
        std::fs::write(room.conf(), conf.map_err(io::Error::other)?)
    }
}

fn variables(room: &Room, port: u16) -> Variables {
    let vars = [
        ("TEST_NGINX_SERVER_PORT", port.to_string()),
        ("TEST_NGINX_SERVER_ROOT", room.root().display().to_string()),
        ("TEST_NGINX_HTML_DIR", room.html().display().to_string()),
    ];
    Variables::new(vars.map(|(name, value)| (name.to_owned(), value)).into())
}

impl Server {
    /// A server to be configured.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Waits for the workers, which the master starts after it listens.
    fn with_workers(self) -> Server {
        let count: usize = self.builder.conf.workers.parse().unwrap_or(1);
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.worker_pids().len() < count && Instant::now() < deadline {
            sleep(Duration::from_millis(5));
        }
        self
    }

    /// The port that nginx listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address to connect to.
    pub fn addr(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The process that was started: the master, or the only process there is.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The processes that serve requests, those that are shutting down included.
    pub fn worker_pids(&self) -> Vec<u32> {
        if self.builder.conf.master {
            process::workers(self.pid())
        } else {
            vec![self.pid()]
        }
    }

    /// Sends a signal to [`pid`](Server::pid).
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.process.signal(signal)
    }

    /// Writes another configuration and has the master read it (`HUP`). It
    /// returns at once; `wait_for_log` can tell when the workers have changed.
    pub fn reload(
        &mut self,
        change: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> io::Result<()> {
        let builder = change(self.builder.clone());
        builder.write(&self.nginx, &self.room, self.port, &self.vars)?;
        self.builder = builder;
        self.signal(Signal::HUP)
    }

    /// nginx's prefix: it has `conf`, `html` and `logs`.
    pub fn root(&self) -> PathBuf {
        self.room.root()
    }

    /// The path of nginx.conf.
    pub fn conf_path(&self) -> PathBuf {
        self.room.conf()
    }

    /// Replaces the `$TEST_NGINX_*` variables in `text` as in the configuration:
    /// `$TEST_NGINX_RAND_PORT_1` is the port that it is there.
    pub fn expand(&self, text: &str) -> io::Result<String> {
        let text = self
            .vars
            .expand(text.as_bytes())
            .map_err(io::Error::other)?;
        String::from_utf8(text).map_err(io::Error::other)
    }

    /// The text of the error log so far.
    pub fn error_log(&self) -> String {
        log::text(&self.room.error_log())
    }

    /// The text of the access log so far.
    pub fn access_log(&self) -> String {
        log::text(&self.room.access_log())
    }

    /// Waits until a line of the error log contains `text`, and returns the
    /// first that does.
    pub fn wait_for_log(&self, text: &str, patience: Duration) -> io::Result<String> {
        let deadline = Instant::now() + patience;
        loop {
            let log = self.error_log();
            if let Some(line) = log.lines().find(|line| line.contains(text)) {
                return Ok(line.to_owned());
            }
            if Instant::now() >= deadline {
                let message = format!(
                    "no line of the error log has {text:?} after {patience:?}; its last lines:\n{}",
                    log::tail(&log, 20)
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until nginx has ended by itself.
    pub fn wait(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        self.process.wait(patience)?.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("nginx still runs after {patience:?}"),
            )
        })
    }

    /// Stops nginx gracefully, and insists when `patience` ends. The logs can
    /// still be read.
    pub fn stop(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        self.process.stop(Signal::QUIT, patience)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("port", &self.port)
            .field("root", &self.root())
            .finish()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if panicking() {
            self.room.keep();
            let tail = log::tail(&self.error_log(), 20);
            eprintln!(
                "nginx.conf: {}\nerror.log:\n{tail}",
                self.conf_path().display()
            );
        }
    }
}
