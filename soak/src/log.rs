//! What nginx's error log says of its processes, and what it must not say.

use std::collections::{BTreeMap, BTreeSet};

/// What is in a log from level `notice` on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How many workers have begun with each pid: the system gives it again.
    pub started: BTreeMap<u32, usize>,
    /// How those have ended: "with code 0".
    pub ended: BTreeMap<u32, Vec<String>>,
    /// Who was asked to quit.
    pub quitting: BTreeSet<u32>,
    /// Lines at `alert`, `crit` and `emerg`.
    pub alarms: Vec<String>,
}

impl Log {
    pub fn read(text: &str) -> Log {
        let mut log = Log::default();
        for line in text.lines() {
            // Where the system's core_pattern is a program, no limit keeps a worker from a core dump.
            let line = line.trim_end_matches(" (core dumped)");
            let words: Vec<&str> = line.split(' ').collect();
            let pid = |word: &str| word.split('#').next().and_then(|pid| pid.parse().ok());
            // Date, time, level, pid, and what is said.
            match words.get(4..).unwrap_or_default() {
                ["start", "worker", "process", worker] => {
                    if let Some(pid) = pid(worker) {
                        *log.started.entry(pid).or_default() += 1;
                    }
                }
                ["gracefully", "shutting", "down"] => log.quitting.extend(pid(words[3])),
                ["worker", "process", worker, "exited", how @ ..] => {
                    if let Some(pid) = pid(worker) {
                        log.ended.entry(pid).or_default().push(how.join(" "));
                    }
                }
                _ => {}
            }
            if ["[alert]", "[crit]", "[emerg]"]
                .iter()
                .any(|level| words.get(2) == Some(level))
            {
                log.alarms.push(line.to_owned());
            }
        }
        log
    }

    /// What is wrong, when these workers were killed and all have ended.
    pub fn violations(&self, killed: &[u32]) -> Vec<String> {
        let mut wrong = Vec::new();
        for (pid, started) in &self.started {
            let kills = killed.iter().filter(|killed| *killed == pid).count();
            let mut expected = vec!["with code 0"; started.saturating_sub(kills)];
            expected.extend(vec!["on signal 11"; kills]);
            let mut ended = self.ended.get(pid).cloned().unwrap_or_default();
            ended.sort_by_key(|how| how == "on signal 11");
            if ended.len() < *started {
                wrong.push(format!("worker {pid} has not exited"));
            } else if ended != expected {
                let (ended, expected) = (ended.join(", "), expected.join(", "));
                wrong.push(format!("worker {pid} exited {ended} and not {expected}"));
            }
        }
        for pid in self
            .ended
            .keys()
            .chain(killed)
            .filter(|pid| !self.started.contains_key(pid))
        {
            wrong.push(format!("nobody has started worker {pid}"));
        }
        // What a kill leaves: a line of the master's, one where the worker held a zone's lock, and one where it was
        // changing a zone.
        let mut excused: Vec<(String, usize)> = Vec::new();
        for pid in killed {
            excused.push((format!("worker process {pid} exited on signal 11"), 1));
            excused.push((format!("was locked by {pid}"), 1));
        }
        excused.push((
            "was left in the middle of a change, and is emptied".to_owned(),
            killed.len(),
        ));
        for line in &self.alarms {
            match excused
                .iter_mut()
                .find(|(text, left)| line.ends_with(text.as_str()) && *left > 0)
            {
                Some((_, left)) => *left -= 1,
                None => wrong.push(format!("in the error log: {line}")),
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
2026/11/30 10:00:00 [notice] 10#10: start worker processes
2026/11/30 10:00:00 [notice] 10#10: start worker process 11
2026/11/30 10:00:00 [notice] 10#10: start worker process 12
2026/11/30 10:00:01 [error] 11#11: *1 handler \"x\" panicked, client: 127.0.0.1
2026/11/30 10:00:02 [alert] 10#10: worker process 12 exited on signal 11 (core dumped)
2026/11/30 10:00:03 [notice] 11#11: gracefully shutting down
2026/11/30 10:00:03 [notice] 10#10: worker process 11 exited with code 0
";

    fn violations(more: &str, killed: &[u32]) -> Vec<String> {
        Log::read(&format!("{LOG}{more}")).violations(killed)
    }

    #[test]
    fn a_log_that_is_in_order() {
        let log = Log::read(LOG);
        assert_eq!(log.started, [(11, 1), (12, 1)].into());
        assert_eq!(log.quitting, [11].into());
        assert_eq!(violations("", &[12]), [""; 0]);
        assert_eq!(
            violations(
                "t t [alert] 11#11: shared memory zone \"z\" was locked by 12\n",
                &[12]
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_pid_that_is_given_again() {
        let again = "t t [notice] 10#10: start worker process 12\n";
        let ended = |how| format!("{again}t t [notice] 10#10: worker process 12 exited {how}\n");
        assert_eq!(violations(&ended("with code 0"), &[12]), [""; 0]);
        assert_eq!(violations(again, &[12]), ["worker 12 has not exited"]);
        assert_eq!(
            violations(&ended("on signal 11"), &[12]),
            ["worker 12 exited on signal 11, on signal 11 and not with code 0, on signal 11",]
        );
        assert_eq!(violations(&ended("on signal 11"), &[12, 12]), [""; 0]);
    }

    #[test]
    fn what_a_kill_does_not_explain() {
        assert_eq!(
            violations("", &[]),
            [
                "worker 12 exited on signal 11 and not with code 0",
                "in the error log: 2026/11/30 10:00:02 [alert] 10#10: worker process 12 exited on signal 11",
            ]
        );
        assert_eq!(
            violations("t t [notice] 10#10: start worker process 13\n", &[12]),
            ["worker 13 has not exited"]
        );
        assert_eq!(
            violations(
                "t t [notice] 10#10: worker process 14 exited with code 0\n",
                &[12]
            ),
            ["nobody has started worker 14"]
        );
        let twice = "t t [alert] 10#10: worker process 12 exited on signal 11";
        assert_eq!(
            violations(&format!("{twice}\n"), &[12]),
            [
                "worker 12 exited on signal 11, on signal 11 and not on signal 11".to_owned(),
                format!("in the error log: {twice}"),
            ]
        );
        for line in [
            "t t [alert] 11#11: *3 open socket #5 left in connection 7",
            "t t [crit] 11#11: *3 accept4() failed",
            "t t [emerg] 10#10: unknown directive",
        ] {
            assert_eq!(
                violations(&format!("{line}\n"), &[12]),
                [format!("in the error log: {line}")]
            );
        }
    }
}
