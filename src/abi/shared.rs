//! Shared memory of nginx's: a zone, its lock, and the allocator in it.

use super::event;
use super::{Conf, bytes, shim};
use crate::log::Level;
use crate::shared::table::{Alloc, Table};
use nginx_sys::*;
use std::ffi::c_void;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

const OK: ngx_int_t = NGX_OK as ngx_int_t;
const ERROR: ngx_int_t = NGX_ERROR as ngx_int_t;

/// A zone of a configuration. It can be used once the configuration is in force.
#[derive(Clone, Copy)]
pub(crate) struct Zone(NonNull<ngx_shm_zone_t>);

/// What lies in a zone.
struct Content {
    /// Somebody is changing the map, or was killed while changing it.
    is_changing: AtomicBool,
    table: Table,
}

/// For so many bytes of a zone there is one bucket: for about two small entries.
const BYTES_A_BUCKET: usize = 256;

impl Zone {
    /// Declares a zone. What is wrong has been logged.
    pub(crate) fn add(
        conf: Conf<'_>,
        name: &[u8],
        size: usize,
        tag: *const ngx_module_t,
    ) -> Result<Zone, ()> {
        declare(conf, name, size, tag, on_init).map(Zone)
    }

    /// The size in bytes that a zone must have, as nginx's own zones must.
    pub(crate) fn smallest() -> usize {
        // SAFETY: nginx sets it before it reads a configuration (invariant 6).
        8 * unsafe { ngx_pagesize }
    }

    /// The zone's name.
    pub(crate) fn name(&self) -> &[u8] {
        // SAFETY: the zone is part of a configuration that is in force (invariant 6).
        unsafe { bytes(shim::cbr_zone_name(self.0.as_ptr())) }
    }

    /// Locks the zone and works with its map. A map that somebody was killed in the middle of
    /// changing is emptied before.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Table, &Slab) -> R) -> R {
        // SAFETY: the zone's configuration is in force, so its memory is mapped (invariant 8).
        let slab = Slab(unsafe { shim::cbr_zone_pool(self.0.as_ptr()) });
        let _locked = Locked::new(slab.0);
        // SAFETY: made when the zone was, and locked (invariant 8).
        let mut content = unsafe { slab.content() };
        // SAFETY: as above (invariant 8).
        if unsafe { content.as_ref() }
            .is_changing
            .load(Ordering::Acquire)
        {
            content = self.empty(&slab, content);
        }
        // SAFETY: locked, so nobody else has it (invariant 8).
        let content = unsafe { content.as_mut() };
        content.is_changing.swap(true, Ordering::Acquire);
        let result = work(&mut content.table, &slab);
        content.is_changing.store(false, Ordering::Release);
        result
    }

    /// Begins anew. The lock stays as it is.
    #[cold]
    fn empty(&self, slab: &Slab, old: NonNull<Content>) -> NonNull<Content> {
        event::log_cycle(
            Level::Alert as usize,
            format_args!(
                "shared zone \"{}\" was left in the middle of a change, and is emptied",
                self.name().escape_ascii()
            ),
        );
        // SAFETY: the pool is locked, and what was allocated in it is not used any more
        // (invariant 8).
        unsafe { ngx_slab_init(slab.0) };
        // There was room for it when the zone was made, in as many bytes.
        slab.make_content().unwrap_or(old)
    }
}

/// Declares a zone of a configuration. What is wrong has been logged.
pub(super) fn declare(
    conf: Conf<'_>,
    name: &[u8],
    size: usize,
    tag: *const ngx_module_t,
    init: unsafe extern "C" fn(*mut ngx_shm_zone_t, *mut c_void) -> ngx_int_t,
) -> Result<NonNull<ngx_shm_zone_t>, ()> {
    // SAFETY: nginx reads a directive; the name is part of the configuration, or static
    // (invariant 6).
    let zone = unsafe {
        shim::cbr_zone_add(
            conf.as_ptr(),
            name.as_ptr(),
            name.len(),
            size,
            tag.cast_mut().cast(),
            Some(init),
        )
    };
    NonNull::new(zone).ok_or(())
}

/// Whether nothing has been put into a zone that nginx has mapped. `old` is that of the
/// configuration before, where its memory goes on to be used.
///
/// # Safety
///
/// nginx has given both to the zone's `init`.
pub(super) unsafe fn is_new(zone: *const ngx_shm_zone_t, old: *const c_void) -> bool {
    // SAFETY: by the caller's promise (invariant 8).
    old.is_null() && unsafe { shim::cbr_zone_exists(zone) } == 0
}

/// The allocator in a locked zone.
pub(crate) struct Slab(*mut ngx_slab_pool_t);

impl Alloc for Slab {
    fn alloc(&self, size: usize) -> Option<NonNull<u8>> {
        // SAFETY: the pool is locked (invariant 8).
        NonNull::new(unsafe { ngx_slab_alloc_locked(self.0, size) }.cast())
    }

    fn most(&self) -> usize {
        // SAFETY: the pool is mapped (invariant 8).
        unsafe { shim::cbr_slab_size(self.0) }
    }

    unsafe fn free(&self, memory: NonNull<u8>) {
        // SAFETY: the pool is locked, and the memory its own, by the caller's promise
        // (invariant 8).
        unsafe { ngx_slab_free_locked(self.0, memory.as_ptr().cast()) }
    }
}

impl Slab {
    /// # Safety
    ///
    /// [`make_content`](Slab::make_content) has been called.
    unsafe fn content(&self) -> NonNull<Content> {
        // SAFETY: by the caller's promise (invariant 8).
        unsafe { NonNull::new_unchecked(shim::cbr_slab_data(self.0).cast()) }
    }

    /// Puts an empty map into a pool in which nothing has been allocated.
    fn make_content(&self) -> Option<NonNull<Content>> {
        let place = self.alloc(size_of::<Content>())?.cast::<Content>();
        let table = Table::new(self, self.most() / BYTES_A_BUCKET, [random(), random()])?;
        // SAFETY: just allocated; nobody else knows it (invariant 8).
        unsafe {
            place.write(Content {
                is_changing: AtomicBool::new(false),
                table,
            });
            shim::cbr_slab_set_data(self.0, place.as_ptr().cast());
        }
        Some(place)
    }
}

/// A number that nobody can guess.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// While this lives, no other process or handler uses the zone.
pub(super) struct Locked(*mut ngx_slab_pool_t);

impl Locked {
    pub(super) fn new(pool: *mut ngx_slab_pool_t) -> Locked {
        // SAFETY: the pool is mapped (invariant 8).
        unsafe { shim::cbr_slab_lock(pool) };
        Locked(pool)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: locked by this process (invariant 8).
        unsafe { shim::cbr_slab_unlock(self.0) };
    }
}

/// nginx has mapped a zone.
extern "C" fn on_init(zone: *mut ngx_shm_zone_t, old: *mut c_void) -> ngx_int_t {
    // SAFETY: nginx gives us a zone that `add` declared (invariant 8).
    let slab = unsafe {
        if !is_new(zone, old) {
            return OK;
        }
        Slab(shim::cbr_zone_pool(zone))
    };
    match slab.make_content() {
        Some(_) => OK,
        None => ERROR,
    }
}
