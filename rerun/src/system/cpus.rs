//! Which cores there are, and who gets which.

use std::fs;

use crate::result::Budget;

/// The cores that this process may use: `sched_getaffinity`, as `/proc/self/status` prints it.
pub fn allowed() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cpus = parse(list.unwrap_or_default());
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// Every server gets the same cores, and the client one of its own: the last one. A server gets one core unless more
/// are asked for: rates of one core are the ones that can be compared, and most of what is measured here is written for
/// one. With one core in all, both share it.
pub fn share(allowed: &[usize], server: usize) -> Budget {
    let Some((last, others)) = allowed.split_last() else {
        return Budget::default();
    };
    let servers = if others.is_empty() { allowed } else { others };
    Budget {
        server_cpus: servers.iter().copied().take(server.max(1)).collect(),
        client_cpus: vec![*last],
    }
}

/// Linux has no more (`NR_CPUS`).
pub const MOST: usize = 8192;

/// The cores in `0-2,5`.
pub fn parse(list: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<Vec<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (last < MOST).then(|| (first..=last).collect())
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(parse("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse("\t3\n"), [3]);
        assert!(parse("").is_empty());
        assert!(parse("0-18446744073709551615").is_empty());
        assert!(!allowed().is_empty());
    }

    #[test]
    fn server_and_client_are_apart_where_they_can_be() {
        let two = share(&[0, 1], 1);
        assert_eq!(
            (two.server_cpus.as_slice(), two.client_cpus.as_slice()),
            (&[0][..], &[1][..])
        );
        assert!(!two.shared());
        let four = share(&[2, 3, 4, 5], 8);
        assert_eq!(four.server_cpus, [2, 3, 4]);
        assert!(share(&[0], 1).shared());
    }
}
