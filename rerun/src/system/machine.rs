//! The machine that a run was made on.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::{cpus, number, number_in};
use crate::result::Machine;

/// Raises the limit on open files as far as it goes, and describes the machine.
pub fn describe() -> Machine {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let release = read("/etc/os-release");
    let system = release.lines().find_map(|line| {
        Some(
            line.strip_prefix("PRETTY_NAME=")?
                .trim_matches('"')
                .to_owned(),
        )
    });
    let load = read("/proc/loadavg");
    Machine {
        system: system.unwrap_or_default(),
        kernel: kernel(),
        cpu: field("model name").unwrap_or_default(),
        cpus: cpus::allowed(),
        memory_bytes: number(&read("/proc/meminfo"), "MemTotal:").unwrap_or(0) * 1024,
        virtual_machine: field("flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        governor: fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .ok()
            .map(|text| text.trim().to_owned()),
        load_average: load
            .split(' ')
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0.0),
        open_files: raise_open_files(),
        local_ports: ports(&read("/proc/sys/net/ipv4/ip_local_port_range")),
        listen_queue: number_in("/proc/sys/net/core/somaxconn").unwrap_or(0),
        time_wait_reuse: number_in("/proc/sys/net/ipv4/tcp_tw_reuse").unwrap_or(0),
    }
}

fn kernel() -> String {
    let read = |name| fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    format!("{} {}", read("ostype").trim(), read("osrelease").trim())
}

fn ports(range: &str) -> (u16, u16) {
    let mut words = range.split_whitespace().map_while(|word| word.parse().ok());
    (words.next().unwrap_or(32768), words.next().unwrap_or(60999))
}

/// The soft limit on open files after it was set to the hard one. Contenders and other generators inherit it.
fn raise_open_files() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return 0;
    };
    match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => hard,
        Err(_) => soft,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = describe();
        assert!(machine.kernel.starts_with("Linux "), "{machine:?}");
        assert!(machine.memory_bytes > 0 && machine.open_files > 0);
        assert!(!machine.cpus.is_empty());
        assert!(machine.local_ports.0 < machine.local_ports.1);
    }

    #[test]
    fn ranges_of_ports() {
        assert_eq!(ports("1024\t65000\n"), (1024, 65000));
        assert_eq!(ports(""), (32768, 60999));
    }
}
