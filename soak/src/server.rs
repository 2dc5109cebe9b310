//! The nginx that is soaked: its changing configuration, its reloads, and the kills of its workers.

use crate::processes::{self, PATIENCE, eventually};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use rustix::io::Errno;
use rustix::process::{Pid, kill_process};
use std::net::SocketAddr;
use std::time::Duration;
use test_nginx::{Nginx, Server, ServerBuilder, Signal};

/// What all configurations have.
#[derive(Clone, Debug)]
pub struct Places {
    /// The ports of those who are asked by handlers.
    pub http: u16,
    pub redis: u16,
    /// The handler behind /greet.
    pub greet: String,
}

/// The nginx that runs.
pub struct Soaked {
    server: Server,
    places: Places,
    pub http1: SocketAddr,
    pub http2: SocketAddr,
    /// The workers that were killed.
    pub killed: Vec<u32>,
    pub reloads: usize,
}

const WORKERS: usize = 2;

impl Soaked {
    pub fn start(nginx: Nginx, places: Places, rng: &mut Rng) -> Result<Soaked> {
        let builder = Server::builder()
            .nginx(nginx)
            .workers(WORKERS)
            .log_level("notice");
        let builder = configured(
            builder.worker_connections(2048).root_location(false),
            &places,
            rng,
        );
        let server = builder.start()?;
        let http2: u16 = server.expand("$TEST_NGINX_RAND_PORT_1")?.parse()?;
        let http1 = server.addr();
        let http2 = SocketAddr::new(http1.ip(), http2);
        Ok(Soaked {
            server,
            places,
            http1,
            http2,
            killed: Vec::new(),
            reloads: 0,
        })
    }

    pub fn master(&self) -> u32 {
        self.server.pid()
    }

    /// All of them, those that are shutting down included.
    pub fn workers(&self) -> Vec<u32> {
        processes::children(self.server.pid())
    }

    pub fn ports(&self) -> [u16; 2] {
        [self.http1.port(), self.http2.port()]
    }

    /// Reads another configuration, and waits for the workers that have it.
    pub fn reload(&mut self, rng: &mut Rng) -> Result<()> {
        let before = self.workers();
        let places = self.places.clone();
        self.server
            .reload(|builder| configured(builder, &places, rng))?;
        self.reloads += 1;
        eventually("new workers after a reload", PATIENCE, || {
            let new = self
                .workers()
                .into_iter()
                .filter(|pid| !before.contains(pid));
            (new.count() >= WORKERS).then_some(())
        })
    }

    /// Kills one of the newest workers with SIGSEGV. It is stopped before that, so that all connections that it has are known
    /// to be cut by the kill, and no others.
    pub fn kill(&mut self, world: &World, rng: &mut Rng) -> Result<()> {
        loop {
            let workers = self.workers();
            let newest = &workers[workers.len().saturating_sub(WORKERS)..];
            let pid = *rng.choice(newest).context("there are no workers")?;
            // It may have come to its end by itself: another one, then.
            match signal(pid, Signal::STOP) {
                Err(Errno::SRCH) => continue,
                stopped => stopped?,
            }
            let stopped = eventually("a worker stops", PATIENCE, || match processes::state(pid) {
                Some('T') => Some(true),
                None | Some('Z') => Some(false),
                _ => None,
            });
            if !stopped? {
                continue;
            }
            let cut = world
                .connections
                .cut(processes::clients(pid, &self.ports())?);
            self.killed.push(pid);
            signal(pid, Signal::SEGV)?;
            signal(pid, Signal::CONT)?;
            eventually("a worker is gone", PATIENCE, || {
                processes::state(pid).is_none().then_some(())
            })?;
            eprintln!("killed worker {pid}, which had {cut} connections");
            return Ok(());
        }
    }

    /// Waits until only the last two workers are left.
    ///
    /// # Errors
    ///
    /// Others that have been asked to quit do not.
    pub fn settle(&self, patience: Duration) -> Result<()> {
        eventually("the workers that quit have gone", patience, || {
            (self.workers().len() == WORKERS).then_some(())
        })
    }

    /// Has it quit.
    ///
    /// # Errors
    ///
    /// It does not, or fails.
    pub fn quit(&mut self, patience: Duration) -> Result<()> {
        self.server.signal(Signal::QUIT)?;
        let status = self.server.wait(patience)?;
        ensure!(status.success(), "nginx ends with {status}");
        Ok(())
    }

    pub fn error_log(&self) -> String {
        self.server.error_log()
    }
}

fn signal(pid: u32, signal: Signal) -> Result<(), Errno> {
    kill_process(Pid::from_raw(pid as i32).expect("no pid is 0"), signal)
}

/// The locations and the answers that are expected of them stay; what is around them changes.
fn configured(builder: ServerBuilder, places: &Places, rng: &mut Rng) -> ServerBuilder {
    let locations = include_str!("locations.conf")
        .replace("$GREET", &places.greet)
        .replace("$HTTP", &places.http.to_string())
        .replace("$REDIS", &places.redis.to_string());
    let mut main = "worker_rlimit_core 0;".to_owned();
    if rng.u8(0..4) == 0 {
        main += &format!("timer_resolution {}ms;", rng.u8(5..50));
    }
    let mut one_of = |all: &[&str]| all[rng.usize(0..all.len())].to_owned();
    let mut http: String = [
        ("client_body_buffer_size", &["1k", "16k", "1m"][..]),
        ("client_body_in_single_buffer", &["on", "off"]),
        ("keepalive_requests", &["3", "50", "1000"]),
        ("output_buffers", &["1 4k", "2 32k"]),
        ("postpone_output", &["0", "1460"]),
        ("reset_timedout_connection", &["on", "off"]),
        ("rust_ignore_client_abort", &["on", "off"]),
        ("rust_max_delay", &["30s", "60s"]),
        ("rust_max_pending", &["0", "100000"]),
        ("rust_tokio_threads", &["1", "2", "3"]),
        ("sendfile", &["on", "off"]),
        ("tcp_nodelay", &["on", "off"]),
        ("http2_chunk_size", &["1k", "8k"]),
        ("http2_max_concurrent_streams", &["4", "128"]),
        ("recursive_error_pages", &["on", "off"]),
    ]
    .into_iter()
    .map(|(name, values)| format!("{name} {};\n", one_of(values)))
    .collect();
    http += "rust_shared_zone z 1m;\n";
    http += "log_format told '$rust_handler $rust_wait $rust_pending';\n";
    // Where nginx does not wait for the client's end, pipelined requests that it will not read make a RST, which takes
    // along what the client has not read of the answer before them (RFC 9112, section 9.6).
    http += "lingering_close always; lingering_timeout 1m; lingering_time 10m;\n";
    for n in 0..rng.u8(0..3) {
        http += &format!("rust_shared_zone other{n} 64k;\n");
    }
    // Locations that nobody asks come and go.
    let others: String = (0..rng.u8(0..40))
        .map(|n| match n % 3 {
            0 => format!(
                "location = /other{n} {{ content_by_rust reply body=\"$uri {n}\" delay={n}ms; }}\n"
            ),
            1 => format!(
                "location = /other{n} {{ content_by_rust patience first=1s second={n}s; }}\n"
            ),
            _ => format!(
                "location = /other{n} {{ content_by_rust redis_counter key=$arg_key{n}; }}\n"
            ),
        })
        .collect();
    http += &format!(
        "server {{ listen $TEST_NGINX_RAND_PORT_1 http2; client_max_body_size 30m;\n{locations}{others}}}"
    );
    builder
        .main_config(main)
        .http_config(http)
        .config(locations + &others)
}
