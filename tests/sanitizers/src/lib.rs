//! Handlers with a fault each, for `tests/sanitizers.rs` to see it reported. Nobody else loads them.

use content_by_rust::{Request, Response, Result};
use std::ffi::c_int;

content_by_rust::module! { after_free, beyond_a_pools_piece, forgotten, shifted_too_far, never_written }

fn answer(read: u8) -> Result<Response> {
    Ok(Response::text(if read == 1 {
        "one\n"
    } else {
        "another\n"
    }))
}

/// Reads from memory that was given back.
async fn after_free(_: &mut Request) -> Result<Response> {
    let gone = {
        let memory = Box::new(1u8);
        &raw const *memory
    };
    // SAFETY: none: the memory is gone.
    answer(unsafe { gone.read_volatile() })
}

/// Reads the byte behind a piece of a pool: into the next piece, if pools are what nginx makes of them.
async fn beyond_a_pools_piece(_: &mut Request) -> Result<Response> {
    // SAFETY: nginx has set its cycle, and the pool is the event thread's (invariant 6).
    let piece: *const u8 = unsafe { nginx_sys::ngx_palloc((*nginx_sys::ngx_cycle).pool, 8) }.cast();
    // SAFETY: none: the piece has eight bytes.
    answer(unsafe { piece.add(8).read_volatile() })
}

/// Loses memory.
async fn forgotten(_: &mut Request) -> Result<Response> {
    std::mem::forget(Box::new([1u8; 64]));
    answer(1)
}

unsafe extern "C" {
    fn test_shift(by: c_int) -> c_int;
}

/// Undefined in C.
async fn shifted_too_far(_: &mut Request) -> Result<Response> {
    // SAFETY: none: an int has fewer bits.
    answer(unsafe { test_shift(40) } as u8)
}

/// Decides by what nobody has written.
async fn never_written(_: &mut Request) -> Result<Response> {
    let memory = Box::<[u8; 64]>::new_uninit();
    // SAFETY: none: nobody has written it.
    answer(unsafe { memory.as_ptr().cast::<u8>().read_volatile() })
}
