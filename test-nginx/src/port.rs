//! Ports: free ones for servers, and the fixed ones that tests must share.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Condvar, Mutex, MutexGuard};

/// A port that nothing listens on and that this process has not given out before.
pub(crate) fn free() -> io::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(|e| e.into_inner());
    for _ in 0..1000 {
        let port = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?
            .local_addr()?
            .port();
        if given.insert(port) {
            return Ok(port);
        }
    }
    // All have been given out, most of them long ago.
    given.clear();
    Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?
        .local_addr()?
        .port())
}

static HELD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static RELEASED: Condvar = Condvar::new();

/// Addresses written into a test as they are, held until dropped: another test
/// with one of them waits.
pub(crate) struct Fixed(Vec<String>);

impl Fixed {
    pub fn hold(addresses: Vec<String>) -> Fixed {
        let taken = |held: &mut BTreeSet<String>| addresses.iter().any(|a| held.contains(a));
        let mut held: MutexGuard<_> = RELEASED
            .wait_while(held(), taken)
            .unwrap_or_else(|e| e.into_inner());
        held.extend(addresses.iter().cloned());
        Fixed(addresses)
    }
}

impl Drop for Fixed {
    fn drop(&mut self) {
        let mut held = held();
        self.0.iter().for_each(|address| {
            held.remove(address);
        });
        RELEASED.notify_all();
    }
}

fn held() -> MutexGuard<'static, BTreeSet<String>> {
    HELD.lock().unwrap_or_else(|e| e.into_inner())
}

/// The ports and sockets that the `listen` directives of a configuration name.
pub(crate) fn listened(config: &str) -> impl Iterator<Item = String> + '_ {
    let words = config.split(|c: char| c.is_whitespace() || c == ';');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    (1..words.len())
        .filter(|i| words[i - 1] == "listen")
        .collect::<Vec<_>>()
        .into_iter()
        .map(move |i| match words[i].strip_prefix("unix:") {
            Some(path) => path.to_owned(),
            None => words[i].rsplit(':').next().unwrap_or_default().to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn free_ports_differ() {
        assert_ne!(free().unwrap(), free().unwrap());
    }

    #[test]
    fn finds_what_is_listened_on() {
        let config = "server { listen 81; listen 127.0.0.1:82 ssl;\nlisten\tunix:/a.sock; }";
        assert_eq!(
            listened(config).collect::<Vec<_>>(),
            ["81", "82", "/a.sock"]
        );
    }

    #[test]
    fn the_second_holder_waits_for_the_first() {
        let first = Fixed::hold(vec!["port a".to_owned()]);
        let second = std::thread::spawn(|| Fixed::hold(vec!["port a".to_owned()]));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!second.is_finished());
        drop(first);
        drop(second.join().unwrap());
        assert!(!held().contains("port a"));
    }
}
