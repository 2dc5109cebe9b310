//! Stands in for the module's worker, which needs nginx: it writes down who was woken.

use crate::wake::Key;
use std::sync::Mutex;

static WOKEN: Mutex<Vec<Key>> = Mutex::new(Vec::new());

/// What a waker calls, on any thread.
pub(crate) fn wake(key: Key) {
    WOKEN.lock().unwrap().push(key);
}

/// How often `key` was woken.
#[cfg(not(loom))]
pub(crate) fn count(key: Key) -> usize {
    WOKEN.lock().unwrap().iter().filter(|k| **k == key).count()
}
