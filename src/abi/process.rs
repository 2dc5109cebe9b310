//! nginx's processes.

use super::shim;
use nginx_sys::*;
use std::io;

/// Whether requests are answered in this process: it is a worker, or nginx runs without a master.
/// It is neither the master, nor a cache manager or loader, nor OpenResty's privileged agent.
pub(crate) fn is_worker() -> bool {
    // SAFETY: written before the module's code runs in the process (invariant 6).
    matches!(
        unsafe { ngx_process } as u32,
        NGX_PROCESS_WORKER | NGX_PROCESS_SINGLE
    )
}

/// The number of a worker among those of its configuration.
pub(crate) fn worker_number() -> usize {
    // SAFETY: as in `is_worker` (invariant 6).
    unsafe { ngx_worker }
}

/// How many workers the current configuration has. For the event thread.
pub(crate) fn worker_count() -> usize {
    // SAFETY: as in `is_worker` (invariant 6).
    if unsafe { ngx_process } as u32 == NGX_PROCESS_SINGLE {
        return 1;
    }
    // SAFETY: a process has a current cycle, whose configuration has been read (invariant 6).
    unsafe { shim::cbr_worker_processes(ngx_cycle) as usize }
}

/// Whether the worker was told to quit, and stays for what it must answer.
pub(crate) fn is_exiting() -> bool {
    // SAFETY: a word, written by the event thread (invariant 6).
    unsafe { (&raw const ngx_exiting).read_volatile() != 0 }
}

/// Whether there is a process of this number, whosever it is. One that has ended is one until its
/// parent has looked.
pub(crate) fn exists(pid: u32) -> bool {
    // SAFETY: sends no signal (invariant 6).
    let sent = unsafe { libc::kill(pid as libc::pid_t, 0) };
    sent == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
