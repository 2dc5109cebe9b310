//! Variables of the module's own.

use super::{Conf, NgxRequest, shim};
use nginx_sys::*;

/// A variable that may have another value each time it is asked for.
pub(crate) trait Variable {
    /// Its name without the `$`.
    const NAME: &'static str;

    /// Its value for a request, if it has one.
    fn value(request: NgxRequest) -> Option<String>;
}

impl Conf<'_> {
    /// Adds a variable. What is wrong has been logged.
    pub(crate) fn add_variable<V: Variable>(&self) -> Result<(), ()> {
        let (name, len) = (V::NAME.as_ptr(), V::NAME.len());
        // SAFETY: nginx is about to read the http block, and copies the name (invariant 6).
        match unsafe { shim::cbr_variable_add(self.as_ptr(), name, len, Some(get::<V>)) } {
            0 => Ok(()),
            _ => Err(()),
        }
    }
}

/// Whether a configuration names a variable.
///
/// # Safety
///
/// `cycle` is a valid cycle whose configuration has been read.
pub(crate) unsafe fn uses_variable<V: Variable>(cycle: *mut ngx_cycle_t) -> bool {
    // SAFETY: by the caller's promise; the name is read and not kept (invariant 6).
    unsafe { shim::cbr_variable_is_used(cycle, V::NAME.as_ptr(), V::NAME.len()) != 0 }
}

/// Whether there is a module that asks for variables by their names while nginx runs.
///
/// # Safety
///
/// `cycle` is a valid cycle.
pub(crate) unsafe fn asks_by_name(cycle: *mut ngx_cycle_t) -> bool {
    // SAFETY: by the caller's promise (invariant 6).
    unsafe { shim::cbr_modules_ask_by_name(cycle) != 0 }
}

/// nginx asks for the value.
extern "C" fn get<V: Variable>(
    r: *mut ngx_http_request_t,
    value: *mut ngx_variable_value_t,
    _: usize,
) -> ngx_int_t {
    // SAFETY: nginx asks on behalf of a live request, whose pool has the text; the value is for
    // us to fill in (invariant 1).
    unsafe {
        let request = NgxRequest::new(r);
        let Some(text) = V::value(request) else {
            shim::cbr_variable_set_not_found(value);
            return NGX_OK as ngx_int_t;
        };
        let Some(text) = request.copy(text.as_bytes()) else {
            return NGX_ERROR as ngx_int_t;
        };
        shim::cbr_variable_set(value, text.as_ptr(), text.len());
    }
    NGX_OK as ngx_int_t
}
