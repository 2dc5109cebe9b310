//! Faults of the machine, for an nginx that is started with this library in `LD_PRELOAD`.
//!
//! Memory that is refused and a clock that is stepped are told from outside and at any time, by
//! a file that `TEST_FAULTS` names: see `Control`. System calls are refused from the start,
//! those that `TEST_REFUSED` names.

mod clock;
mod memory;
mod refused;

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64};

/// What the file holds: words of eight bytes, in the machine's order.
#[repr(C)]
struct Control {
    /// Whose allocations count: nobody's (0), nginx's own (1), or the module's (2).
    whose: AtomicU64,
    /// The first of them that fails, counted from 1.
    first: AtomicU64,
    /// The last of them that fails.
    last: AtomicU64,
    /// How many there have been.
    count: AtomicU64,
    /// By how many seconds the time of day is wrong.
    step: AtomicI64,
}

static CONTROL: AtomicPtr<Control> = AtomicPtr::new(ptr::null_mut());

/// The file, once it is mapped.
fn control() -> Option<&'static Control> {
    // SAFETY: mapped for good, and its words are atomic.
    unsafe { CONTROL.load(std::sync::atomic::Ordering::Acquire).as_ref() }
}

/// Called when the library has been loaded, before nginx's `main`. Workers inherit it all.
extern "C" fn start() {
    if let Ok(path) = std::env::var("TEST_FAULTS") {
        map(&path);
    }
    if let Ok(calls) = std::env::var("TEST_REFUSED") {
        refused::install(&calls);
    }
}

fn map(path: &str) {
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.expect("the file that TEST_FAULTS names");
    // SAFETY: a new mapping, of a file that has this size and is never made shorter.
    let memory = unsafe {
        libc::mmap(
            ptr::null_mut(),
            size_of::<Control>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(memory, libc::MAP_FAILED, "mmap");
    CONTROL.store(memory.cast(), std::sync::atomic::Ordering::Release);
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
