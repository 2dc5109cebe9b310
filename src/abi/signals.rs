//! Which signals the calling thread takes.

use libc::{SIG_SETMASK, pthread_sigmask, sigfillset, sigset_t};
use std::mem::MaybeUninit;
use std::ptr;

/// Takes none from now on; gives back what it took before.
pub(crate) fn block() -> sigset_t {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are written before they are read; neither call can fail with these
    // arguments (invariant 6).
    unsafe {
        sigfillset(all.as_mut_ptr());
        pthread_sigmask(SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

/// Takes these again.
pub(crate) fn restore(before: &sigset_t) {
    // SAFETY: the set came from `block` (invariant 6).
    unsafe { pthread_sigmask(SIG_SETMASK, before, ptr::null_mut()) };
}
