//! The zone in which workers count. It is all one scoreboard: nothing is allocated in it.

use super::shared::{Locked, declare, is_new};
use super::{Conf, shim};
use crate::stats::scoreboard::{Scoreboard, words};
use nginx_sys::*;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// No name that somebody would give to a zone of `rust_shared_zone`.
const NAME: &str = "content_by_rust stats";

/// A zone of a configuration. It can be used once the configuration is in force.
#[derive(Clone, Copy)]
pub(crate) struct ScoreboardZone {
    zone: NonNull<ngx_shm_zone_t>,
    handlers: usize,
}

impl ScoreboardZone {
    /// Declares a zone for so many handlers. What is wrong has been logged.
    pub(crate) fn add(
        conf: Conf<'_>,
        handlers: usize,
        tag: *const ngx_module_t,
    ) -> Result<ScoreboardZone, ()> {
        let bytes = words(handlers) * size_of::<AtomicU64>();
        // SAFETY: nginx sets it before it reads a configuration (invariant 6).
        let page = unsafe { ngx_pagesize };
        // nginx keeps 24 bytes for each page, and a few hundred at the beginning.
        let size = bytes.next_multiple_of(page) + (bytes / 64).next_multiple_of(page) + 8 * page;
        let zone = declare(conf, NAME.as_bytes(), size, tag, on_init)?;
        Ok(ScoreboardZone { zone, handlers })
    }

    /// Locks the zone and works with its scoreboard.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&Scoreboard<'static>) -> R) -> R {
        // SAFETY: the zone's configuration is in force, so its memory is mapped (invariant 8).
        let _locked = Locked::new(unsafe { shim::cbr_zone_pool(self.zone.as_ptr()) });
        work(&Scoreboard::new(self.words(), self.handlers))
    }

    /// What the scoreboard is made of. Without a master, a reload may take it away.
    pub(crate) fn words(&self) -> &'static [AtomicU64] {
        // SAFETY: mapped, as in `with`, and nothing is allocated in it (invariant 8).
        unsafe { room(self.zone.as_ptr()) }
    }
}

/// # Safety
///
/// The zone is mapped, and nothing is allocated in it.
unsafe fn room<'a>(zone: *const ngx_shm_zone_t) -> &'a [AtomicU64] {
    // SAFETY: by the caller's promise; the room begins with a page (invariant 8).
    unsafe {
        let room = shim::cbr_slab_room(shim::cbr_zone_pool(zone));
        std::slice::from_raw_parts(room.data.cast(), room.len / size_of::<AtomicU64>())
    }
}

/// nginx has mapped a zone.
extern "C" fn on_init(zone: *mut ngx_shm_zone_t, old: *mut c_void) -> ngx_int_t {
    // SAFETY: nginx gives us a zone that `add` declared (invariant 8).
    unsafe {
        if is_new(zone, old) {
            Scoreboard::new(room(zone), 0).clear();
        }
    }
    NGX_OK as ngx_int_t
}
