//! The kernel's counters of the whole machine's TCP: gates 8 and 9 look at what they grew by.

use std::fs;

use crate::result::NetworkSample;

/// Counters since the machine started, but for `time_wait`, which is a state, and `own_drops`, which is a server's.
pub fn now() -> NetworkSample {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let netstat = read("/proc/net/netstat");
    let snmp = read("/proc/net/snmp");
    let of = |text: &str, group, name| counter(text, group, name).unwrap_or(0);
    NetworkSample {
        listen_overflows: of(&netstat, "TcpExt:", "ListenOverflows"),
        listen_drops: of(&netstat, "TcpExt:", "ListenDrops"),
        own_drops: None,
        accepted: of(&snmp, "Tcp:", "PassiveOpens"),
        opened: of(&snmp, "Tcp:", "ActiveOpens"),
        retransmits: of(&snmp, "Tcp:", "RetransSegs"),
        time_wait: time_wait(&read("/proc/net/sockstat")).unwrap_or(0),
    }
}

impl NetworkSample {
    /// What the counters grew by.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            listen_overflows: self
                .listen_overflows
                .saturating_sub(before.listen_overflows),
            listen_drops: self.listen_drops.saturating_sub(before.listen_drops),
            own_drops: None,
            accepted: self.accepted.saturating_sub(before.accepted),
            opened: self.opened.saturating_sub(before.opened),
            retransmits: self.retransmits.saturating_sub(before.retransmits),
            time_wait: self.time_wait,
        }
    }
}

/// Of two lines that begin with `group`, the first has the names and the second the numbers.
pub fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let at = lines.next()?.split(' ').position(|word| word == name)?;
    lines.next()?.split(' ').nth(at)?.parse().ok()
}

/// `TCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1`
pub fn time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split(' ').skip_while(|word| *word != "tw");
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_by_name() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 17 19\n\
                    IpExt: InNoRoutes\nIpExt: 3\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), Some(17));
        assert_eq!(counter(text, "TcpExt:", "ListenDrops"), Some(19));
        assert_eq!(counter(text, "IpExt:", "InNoRoutes"), Some(3));
        assert_eq!(counter(text, "TcpExt:", "Other"), None);
        let text = "sockets: used 9\nTCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1\n";
        assert_eq!(time_wait(text), Some(12));
    }

    #[test]
    fn a_connection_is_counted() {
        let before = now();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let grown = now().since(&before);
        assert!(grown.opened >= 1 && grown.accepted >= 1, "{grown:?}");
    }
}
