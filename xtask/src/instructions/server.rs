//! The nginx that is counted: one process, on the configuration that all rows share, under valgrind, strace or nothing.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::nginx::Nginx;
use crate::{project, shell};

const CONF: &str = include_str!("nginx.conf");

/// What the server may open: 9,000 connections and as much again for whatever loads it.
pub const DESCRIPTORS: u64 = 16_384;

/// Where nginx runs and what it loads, the same for all rows.
pub struct Place {
    binary: PathBuf,
    dir: PathBuf,
    pub address: SocketAddr,
    /// What nginx loads, in this order.
    modules: Vec<PathBuf>,
    /// The environment that all runs get.
    environment: Vec<(&'static str, String)>,
}

impl Place {
    /// `module` is ours, loaded behind the nginx's own.
    pub fn new(
        nginx: &Nginx,
        module: &Path,
        environment: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let dir = project::target().join(format!("instructions-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let modules = nginx.companions.iter().map(PathBuf::as_path);
        let place = Self {
            binary: nginx.binary.clone(),
            dir,
            address: free_address()?,
            modules: modules.chain([module]).map(Path::to_owned).collect(),
            environment,
        };
        place.configure(None)?;
        Ok(place)
    }

    /// Has the next nginx load all modules and know all locations, or those alone that one location needs.
    pub fn configure(&self, only: Option<&str>) -> Result<()> {
        let conf = conf(&self.modules, &self.address.to_string(), only);
        fs::write(self.file("nginx.conf"), conf).context("writing nginx.conf")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Starts nginx, behind a wrapper such as `valgrind --tool=callgrind`, and waits until it listens and has said so.
    pub fn start(&self, wrapper: &[String]) -> Result<Server<'_>> {
        let nginx = [
            self.binary.display().to_string(),
            "-p".into(),
            self.dir.display().to_string(),
            "-c".into(),
            "nginx.conf".into(),
            "-e".into(),
            "stderr".into(),
        ];
        let words: Vec<&String> = wrapper.iter().chain(&nginx).collect();
        let mut command = shell::command(words[0]);
        command
            .args(&words[1..])
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        shell::dies_with_us(&mut command).stdin(Stdio::null());
        let child = command
            .spawn()
            .with_context(|| format!("running {}", words[0]))?;
        let mut server = Server {
            place: self,
            child,
            pid: 0,
        };
        let begun = Instant::now();
        // The pid file names nginx itself where strace is its parent. It is written behind the call of listen().
        while server.pid == 0 {
            if let Some(status) = server.child.try_wait()? {
                bail!("nginx ended at once: {status}");
            }
            if begun.elapsed() > Duration::from_secs(60) {
                bail!("nginx does not write its pid");
            }
            std::thread::sleep(Duration::from_millis(20));
            let pid = fs::read_to_string(self.file("nginx.pid")).unwrap_or_default();
            server.pid = pid.trim().parse().unwrap_or(0);
        }
        Ok(server)
    }
}

fn conf(modules: &[PathBuf], address: &str, only: Option<&str>) -> String {
    let modules: String = modules
        .iter()
        .filter(|file| only.is_none_or(|path| needs(path, file)))
        .map(|file| format!("load_module \"{}\";\n", file.display()))
        .collect();
    let is_meant = |line: &&str| match (only, line.trim().strip_prefix("location = ")) {
        (Some(path), Some(rest)) => rest.split(' ').next() == Some(path),
        _ => true,
    };
    let lines: Vec<&str> = CONF.lines().filter(is_meant).collect();
    (lines.join("\n") + "\n")
        .replace("@MODULES@\n", &modules)
        .replace("@ADDRESS@", address)
}

/// Whether a location needs a module: the last letter of its path tells whose it is.
fn needs(path: &str, module: &Path) -> bool {
    let file = module.file_name().unwrap_or_default().to_string_lossy();
    let whose: &[&str] = match path.chars().last() {
        Some('h' | 'p' | 't') => &["ngx_http_rust_module.so"],
        Some('e') => &["ngx_http_echo_module.so"],
        Some('l') => &["ndk_http_module.so", "ngx_http_lua_module.so"],
        _ => &[],
    };
    whose.contains(&&*file)
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// An address that nobody listens on. Its port has five digits, so that requests are equally long from run to run.
fn free_address() -> Result<SocketAddr> {
    for _ in 0..100 {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        if address.port() >= 10_000 {
            return Ok(address);
        }
    }
    bail!("no free port of five digits");
}

/// A running nginx. Dropped, it ends at once.
pub struct Server<'a> {
    place: &'a Place,
    child: Child,
    pub pid: libc::pid_t,
}

impl Server<'_> {
    /// Has nginx answer what it has begun with, and waits for its end.
    pub fn quit(mut self) -> Result<()> {
        match self.end(libc::SIGQUIT)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("nginx on {} ended with {status}", self.place.address),
            None => bail!("nginx on {} does not end", self.place.address),
        }
    }

    /// Sends a signal until nginx has ended; `None` where it does not within a minute.
    ///
    /// One that comes between nginx's look for signals and its `epoll_wait()` is not seen before the next event, and
    /// there may be none.
    fn end(&mut self, signal: libc::c_int) -> io::Result<Option<ExitStatus>> {
        for tick in 0..6000 {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if tick % 20 == 0 {
                self.signal(signal);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(None)
    }

    fn signal(&self, signal: libc::c_int) {
        if self.pid > 0 {
            // To the thread of the event loop: another one would take the signal, and the loop would sleep on.
            // SAFETY: nginx is our child, or that of our child, and has not been waited for.
            unsafe { libc::syscall(libc::SYS_tgkill, self.pid, self.pid, signal) };
        }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        // strace ends with what it traces, valgrind is nginx; where that is not known yet, the child itself goes.
        if self.pid == 0 || !matches!(self.end(libc::SIGTERM), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Raises the number of files that this process and its children may open.
pub fn raise_descriptors() -> Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills in a structure of our own.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(std::io::Error::last_os_error()).context("reading the limit of open files");
    }
    if limit.rlim_cur >= DESCRIPTORS {
        return Ok(());
    }
    limit.rlim_cur = DESCRIPTORS;
    // Root may pass the hard limit.
    limit.rlim_max = limit.rlim_max.max(DESCRIPTORS);
    // SAFETY: reads a structure of our own.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } != 0 {
        bail!(
            "{DESCRIPTORS} open files are needed: run `ulimit -n {DESCRIPTORS}` first, or as root"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_five_digits() {
        assert!(free_address().unwrap().port() >= 10_000);
    }

    #[test]
    fn a_location_alone_brings_its_modules_alone() {
        let modules = ["/m/ngx_http_lua_module.so", "/m/ngx_http_rust_module.so"].map(Into::into);
        let all = conf(&modules, "127.0.0.1:1", None);
        assert!(all.contains("rust_module") && all.contains("lua_module"));
        let one = conf(&modules, "127.0.0.1:1", Some("/ok-20/h"));
        assert!(one.contains("rust_module") && !one.contains("lua_module"));
        assert_eq!(one.matches("location = ").count(), 1);
        assert!(!conf(&modules, "127.0.0.1:1", Some("/ok-20/r")).contains("load_module"));
    }

    #[test]
    fn addresses_that_are_compared_are_equally_long() {
        let paths: Vec<&str> = CONF
            .lines()
            .filter_map(|line| line.trim().strip_prefix("location = "))
            .filter_map(|rest| rest.split(' ').next())
            .collect();
        for task in ["/hello/", "/ok-20/", "/long-/"] {
            let of_task: Vec<_> = paths.iter().filter(|path| path.starts_with(task)).collect();
            assert!(of_task.len() >= 3, "{task}");
            assert!(of_task.iter().all(|path| path.len() == task.len() + 1));
        }
    }
}
