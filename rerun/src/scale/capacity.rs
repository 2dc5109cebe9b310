//! What a host carries, by what was measured: the least of what its memory, its cores and its descriptors allow.
//!
//! The cores' limit is Little's law (J. D. C. Little, "A Proof for the Queuing Formula L = λW", Operations Research 9,
//! 1961): who waits for W seconds while λ requests a second come are L = λW at once.

/// What one waiting request takes.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Of the worker's memory.
    pub bytes: f64,
    /// CPU time of the worker, microseconds.
    pub cpu_us: f64,
    /// Requests that share a connection, and so a descriptor and a port.
    pub per_connection: f64,
}

/// A host that has one worker for each core.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub memory_bytes: f64,
    pub cores: f64,
}

/// Part of the memory that the workers may take: the rest is for the kernel, whose sockets are not in the workers'
/// memory, and for all else.
pub const MEMORY_PART: f64 = 0.5;

/// Part of their time that cores may be busy: close to all of it, queues grow without end.
pub const CPU_PART: f64 = 0.7;

/// Descriptors of a process: `fs.nr_open` as Linux comes.
pub const DESCRIPTORS: f64 = 1_048_576.0;

/// Ports of one address that connects to one address and port: `net.ipv4.ip_local_port_range` as Linux comes.
pub const PORTS: f64 = 28_232.0;

impl Host {
    /// So many requests can wait in memory at once.
    pub fn by_memory(&self, cost: &Cost) -> f64 {
        (self.memory_bytes * MEMORY_PART / cost.bytes).floor()
    }

    /// So many wait at once for so many seconds each, where the cores have no time for more.
    pub fn by_cores(&self, cost: &Cost, seconds: f64) -> f64 {
        (self.cores * CPU_PART * 1e6 / cost.cpu_us * seconds).floor()
    }

    /// So many are in connections that the workers have descriptors for.
    pub fn by_descriptors(&self, cost: &Cost) -> f64 {
        self.cores * DESCRIPTORS * cost.per_connection
    }

    /// The least of the three.
    pub fn carries(&self, cost: &Cost, seconds: f64) -> f64 {
        let most = self.by_memory(cost).min(self.by_cores(cost, seconds));
        most.min(self.by_descriptors(cost))
    }

    /// What so many such hosts carry together if one of them may fail.
    pub fn fleet(&self, hosts: u32, cost: &Cost, seconds: f64) -> f64 {
        f64::from(hosts.saturating_sub(1)) * self.carries(cost, seconds)
    }
}

/// A balancer needs so many addresses to connect from, or hosts so many ports to listen on, for these requests to one
/// host.
pub fn addresses(requests: f64, cost: &Cost) -> f64 {
    (requests / cost.per_connection / PORTS).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Host = Host {
        memory_bytes: 20e9,
        cores: 4.0,
    };
    const STREAM: Cost = Cost {
        bytes: 10_000.0,
        cpu_us: 28.0,
        per_connection: 1_000.0,
    };
    const CONNECTION: Cost = Cost {
        per_connection: 1.0,
        ..STREAM
    };

    #[test]
    fn the_least_of_three_limits_decides() {
        assert_eq!(HOST.by_memory(&STREAM), 1_000_000.0);
        // 100,000 requests a second.
        assert_eq!(HOST.by_cores(&STREAM, 1.0), 100_000.0);
        assert_eq!(HOST.by_cores(&STREAM, 60.0), 6_000_000.0);
        assert_eq!(HOST.by_descriptors(&CONNECTION), 4_194_304.0);
        assert_eq!(HOST.carries(&STREAM, 1.0), 100_000.0);
        assert_eq!(HOST.carries(&STREAM, 60.0), 1_000_000.0);
        let roomy = Host {
            memory_bytes: 1e12,
            ..HOST
        };
        assert_eq!(roomy.carries(&CONNECTION, 60.0), 4_194_304.0);
    }

    #[test]
    fn a_fleet_does_without_one() {
        assert_eq!(HOST.fleet(10, &STREAM, 60.0), 9_000_000.0);
        assert_eq!(HOST.fleet(1, &STREAM, 60.0), 0.0);
    }

    #[test]
    fn ports_are_of_connections() {
        assert_eq!(addresses(1_000_000.0, &CONNECTION), 36.0);
        assert_eq!(addresses(1_000_000.0, &STREAM), 1.0);
    }
}
