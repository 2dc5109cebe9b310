//! A time of day that is stepped, as an operator or NTP steps it. What counts from the machine's
//! start is left alone, as the kernel leaves it.

use crate::control;
use libc::{c_int, c_void, clockid_t, time_t, timespec, timeval};
use std::sync::atomic::Ordering;

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the caller of clock_gettime() promises a place to write to.
    unsafe {
        if libc::syscall(libc::SYS_clock_gettime, clock, time) != 0 {
            return -1;
        }
        if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) {
            (*time).tv_sec += control().map_or(0, |c| c.step.load(Ordering::Acquire));
        }
    }
    0
}

fn now() -> timespec {
    let mut time = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place of our own; this clock is always there.
    unsafe { clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    time
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int {
    let now = now();
    // SAFETY: the caller of gettimeofday() promises a place to write to.
    unsafe {
        time.write(timeval {
            tv_sec: now.tv_sec,
            tv_usec: now.tv_nsec / 1000,
        });
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(place: *mut time_t) -> time_t {
    let now = now().tv_sec;
    // SAFETY: the caller of time() promises a place to write to, or none.
    if let Some(place) = unsafe { place.as_mut() } {
        *place = now;
    }
    now
}
