//! Gate 9: listen queues, local ports and descriptors: checked before the load and after it.

use super::{Gate, n};
use crate::result::{Machine, NetworkSample, Verdict};

pub const GATE: Gate = Gate(9, "queues, ports, descriptors");

/// Descriptors that a process needs beside its connections.
const SPARE: u64 = 64;

/// Before: whether the load fits on the machine at all. `server_files` is the least limit of the server's processes.
pub fn before(machine: &Machine, connections: u32, server_files: Option<u64>) -> Verdict {
    let needed = u64::from(connections) + SPARE;
    if machine.open_files < needed {
        return GATE.refuse(format!(
            "the client may have {} files open and {connections} connections need {needed}: ulimit -n {needed}",
            machine.open_files
        ));
    }
    if let Some(files) = server_files.filter(|files| *files < needed) {
        return GATE.refuse(format!(
            "the server may have {files} files open and {connections} connections need {needed}: raise its ulimit -n"
        ));
    }
    let ports = u32::from(machine.local_ports.1.saturating_sub(machine.local_ports.0)) + 1;
    if connections > ports {
        return GATE.refuse(format!(
            "{connections} connections and {ports} local ports: widen net.ipv4.ip_local_port_range"
        ));
    }
    GATE.pass(format!(
        "{} files and {} ports are enough",
        n(machine.open_files as f64),
        n(ports.into())
    ))
}

/// After: what the kernel counted during all rounds of a row. The row answers for the server's own sockets; only where
/// the kernel does not tell these, anybody's overflow may be its own.
pub fn after<'a>(rounds: impl IntoIterator<Item = &'a NetworkSample>) -> Verdict {
    let (mut overflows, mut drops, mut own) = (0, 0, Some(0));
    for round in rounds {
        overflows += round.listen_overflows;
        drops += round.listen_drops;
        own = own.zip(round.own_drops).map(|(sum, drops)| sum + drops);
    }
    match own {
        Some(0) if drops > 0 => GATE.pass(format!(
            "the server's listen queue did not overflow; other sockets of this machine dropped {drops} connections: not \
             this row's"
        )),
        None if overflows.max(drops) > 0 => GATE.no_rate(format!(
            "a listen queue on this machine overflowed: {overflows} times, {drops} connections dropped, each waiting a \
             second or more; raise the server's backlog and net.core.somaxconn"
        )),
        Some(own @ 1..) => GATE.no_rate(format!(
            "the server's listen queue overflowed: {own} connections dropped, each waiting a second or more; raise its \
             backlog and net.core.somaxconn"
        )),
        _ => GATE.pass("no listen queue overflowed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    fn machine(open_files: u64) -> Machine {
        Machine {
            open_files,
            local_ports: (32768, 60999),
            ..Machine::default()
        }
    }

    /// A `ulimit -n` of 1024 on drill alone gave "27,457 of 40,000 failed, 50,196 rps" at 2000 connections: the third
    /// article's own load.
    #[test]
    fn a_thousand_descriptors_and_two_thousand_connections() {
        let verdict = before(&machine(1024), 2000, None);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(verdict.text.ends_with("ulimit -n 2064"));
        assert_eq!(
            before(&machine(20_000), 2000, Some(1024)).outcome,
            Outcome::Refuse
        );
        assert_eq!(
            before(&machine(20_000), 2000, Some(20_000)).outcome,
            Outcome::Pass
        );
        assert_eq!(
            before(&machine(1_000_000), 30_000, None).outcome,
            Outcome::Refuse
        );
    }

    #[test]
    fn a_row_answers_for_its_own_overflows() {
        let round = |machine, own_drops| NetworkSample {
            listen_overflows: machine,
            listen_drops: machine,
            own_drops,
            ..NetworkSample::default()
        };
        let outcome = |machine, own| after([&round(0, Some(0)), &round(machine, own)]).outcome;
        assert_eq!(outcome(0, Some(0)), Outcome::Pass);
        assert_eq!(outcome(3, Some(0)), Outcome::Pass);
        assert_eq!(outcome(3, Some(1)), Outcome::NoRate);
        assert_eq!(outcome(0, None), Outcome::Pass);
        assert_eq!(outcome(3, None), Outcome::NoRate);
        let others = after([&round(3, Some(0))]).text;
        assert!(
            others.contains("other sockets of this machine dropped 3"),
            "{others}"
        );
    }
}
