//! Ctrl-C and SIGTERM: remembered here, and looked at by everything that waits.
//!
//! The first signal lets the command end in order: the client leaves its loop, contenders are ended by their guards,
//! files are removed. Nothing is done inside the signal handler itself.

use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static STOPPED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on these signals end the command in order. Called once, before anything is started.
pub fn on_signals() {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Fails for signals that cannot be caught only, and these can.
        let _ = signal_hook::flag::register(signal, Arc::clone(&STOPPED));
    }
}

/// Whether a signal has asked to stop.
pub fn requested() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// Ends the caller by `?` when a signal has asked to stop.
pub fn check() -> Result<()> {
    if requested() {
        bail!("stopped by a signal");
    }
    Ok(())
}
