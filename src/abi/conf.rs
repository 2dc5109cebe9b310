//! The configuration that nginx is reading.

use super::{bytes, shim};
use crate::one_line::OneLine;
use nginx_sys::*;
use std::ffi::c_char;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

/// The directive that nginx is reading, or the block that it is merging.
#[derive(Clone, Copy)]
pub(crate) struct Conf<'a> {
    cf: *mut ngx_conf_t,
    _cf: PhantomData<&'a ngx_conf_t>,
}

impl<'a> Conf<'a> {
    /// # Safety
    ///
    /// `cf` is what nginx gave to a configuration callback, and `'a` ends with the callback.
    pub(crate) unsafe fn new(cf: *mut ngx_conf_t) -> Conf<'a> {
        Conf {
            cf,
            _cf: PhantomData,
        }
    }

    pub(super) fn as_ptr(&self) -> *mut ngx_conf_t {
        self.cf
    }

    /// The directive's name and its arguments. They are part of the configuration, and each is
    /// followed by a NUL.
    pub(crate) fn args(&self) -> Vec<&'a [u8]> {
        // SAFETY: the array of the directive being read holds ngx_str_t, and their texts are
        // part of the configuration (invariant 6).
        unsafe {
            let args = (*self.cf).args;
            let args = std::slice::from_raw_parts((*args).elts.cast(), (*args).nelts);
            args.iter().map(|arg: &ngx_str_t| bytes(*arg)).collect()
        }
    }

    /// The last `most` bytes of the configuration's text up to the end of the directive that is
    /// being read.
    pub(crate) fn source(&self, most: usize) -> Option<&'a [u8]> {
        let mut source = ngx_str_t::empty();
        // SAFETY: nginx reads a directive (invariant 6).
        match unsafe { shim::cbr_conf_source(self.cf, most, &mut source) } {
            // SAFETY: it lives until the whole configuration has been read (invariant 6).
            0 => Some(unsafe { bytes(source) }),
            _ => None,
        }
    }

    /// Makes a text part of the configuration, as an argument is: with a NUL behind it.
    pub(crate) fn copy(&self, text: &[u8]) -> Option<&'a [u8]> {
        // SAFETY: nginx reads a directive (invariant 6).
        let data = unsafe { shim::cbr_conf_copy(self.cf, text.as_ptr(), text.len()) };
        let data = ptr::NonNull::new(data)?;
        // SAFETY: just copied, into the cycle's pool (invariant 6).
        Some(unsafe { std::slice::from_raw_parts(data.as_ptr(), text.len()) })
    }

    /// Moves a value into the configuration; it is dropped with the cycle's pool.
    pub(crate) fn keep<T>(&self, value: T) -> Option<Kept<T>> {
        // SAFETY: the pool is the cycle's and outlives every request of it (invariant 6).
        unsafe { super::request::keep_in_pool((*self.cf).pool, value).map(Kept) }
    }

    /// Compiles a value that may hold variables. `text` is part of an argument of the directive,
    /// up to its end.
    pub(crate) fn compile(&self, text: &'a [u8]) -> Result<ComplexValue, ()> {
        // The compiler looks one byte ahead of a '$', at the NUL behind the argument.
        let mut text = ngx_str_t {
            len: text.len(),
            data: text.as_ptr().cast_mut(),
        };
        // SAFETY: zeroes are a valid ngx_http_complex_value_t (invariant 6).
        let mut value = unsafe { std::mem::zeroed() };
        // SAFETY: the compiled value keeps pointers into the configuration only (invariant 6).
        match unsafe { shim::cbr_compile_value(self.cf, &mut text, &mut value) } {
            0 => Ok(ComplexValue(value)),
            _ => Err(()),
        }
    }

    /// A line at `level` that ends with the file and the line of the configuration.
    pub(crate) fn log(&self, level: ngx_uint_t, message: impl fmt::Display) {
        let message = OneLine(message).to_string();
        // SAFETY: `%*s` reads no more than the length given (invariant 6).
        unsafe {
            ngx_conf_log_error(
                level,
                self.cf,
                0,
                c"%*s".as_ptr(),
                message.len(),
                message.as_ptr(),
            );
        }
    }

    /// A module's configuration of the `http` block being read.
    ///
    /// # Safety
    ///
    /// `T` is what the module's `create_main_conf` made, and `ctx_index` the module's.
    pub(crate) unsafe fn http_main_conf<T>(&self, ctx_index: usize) -> ptr::NonNull<T> {
        // SAFETY: by the caller's promise; an http directive is read in an http block
        // (invariant 6).
        unsafe {
            let context = (*self.cf).ctx.cast::<ngx_http_conf_ctx_t>();
            ptr::NonNull::new_unchecked((*(*context).main_conf.add(ctx_index)).cast())
        }
    }

    /// Whether the block being merged is that of an `if` or a `limit_except`, and no location.
    pub(crate) fn is_nameless(&self) -> bool {
        // SAFETY: `cf` is the block being merged (invariant 6).
        unsafe { shim::cbr_location_is_nameless(self.cf) != 0 }
    }

    /// Where `limit_except` needs a handler of its own, gives it the location's.
    pub(crate) fn inherit_location_handler(
        &self,
        handler: unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t,
    ) {
        // SAFETY: `cf` is the block being merged (invariant 6).
        unsafe { shim::cbr_location_inherit_handler(self.cf, Some(handler)) }
    }
}

/// Something that is part of a configuration.
///
/// nginx keeps a configuration until the last request that came in under it has ended, and
/// neither the configuration's nor the request's code uses one for longer.
pub(crate) struct Kept<T>(ptr::NonNull<T>);

impl<T> Kept<T> {
    /// # Safety
    ///
    /// `value` came from [`Conf::keep`], or lives as long.
    pub(crate) unsafe fn from_raw(value: ptr::NonNull<T>) -> Kept<T> {
        Kept(value)
    }

    pub(crate) fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Kept<T> {
        *self
    }
}

impl<T> Copy for Kept<T> {}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: see the type (invariant 1).
        unsafe { self.0.as_ref() }
    }
}

/// A size in bytes as nginx writes it: `512`, `64k`, `1m`.
pub(crate) fn parse_size(text: &[u8]) -> Option<usize> {
    let mut text = ngx_str_t {
        len: text.len(),
        data: text.as_ptr().cast_mut(),
    };
    // SAFETY: reads the text alone, and an error is negative (invariant 6).
    usize::try_from(unsafe { ngx_parse_size(&mut text) }).ok()
}

/// Makes `handler` the content handler of the location being read.
pub(crate) fn set_location_handler(
    conf: Conf<'_>,
    handler: unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t,
) {
    // SAFETY: `cf` is the location being read (invariant 6).
    unsafe { shim::cbr_location_set_handler(conf.cf, Some(handler)) }
}

/// What a configuration callback returns when the error has been logged already.
pub(crate) fn conf_error() -> *mut c_char {
    ptr::without_provenance_mut(usize::MAX)
}

/// A value of the configuration with its variables, as nginx compiled it.
pub(crate) struct ComplexValue(pub(super) ngx_http_complex_value_t);

impl ComplexValue {
    /// The text itself, where it has no variables.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        // SAFETY: the text is part of the configuration that the value is part of (invariant 6).
        self.0
            .lengths
            .is_null()
            .then(|| unsafe { bytes(self.0.value) })
    }
}

/// A module's configuration of a cycle's `http` block, where there is one. A process that exits has
/// given its configuration up when the last destructors run.
///
/// # Safety
///
/// As for [`Conf::http_main_conf`], and the cycle's configuration has been read.
pub(crate) unsafe fn http_main_conf<T>(
    cycle: *mut ngx_cycle_t,
    ctx_index: usize,
) -> Option<Kept<T>> {
    // SAFETY: by the caller's promise (invariant 6).
    unsafe {
        let modules = ptr::NonNull::new((*cycle).conf_ctx)?;
        let http = modules.add((&raw const ngx_http_module).read().index);
        let context = http.read().cast::<ngx_http_conf_ctx_t>().as_ref()?;
        ptr::NonNull::new((*context.main_conf.add(ctx_index)).cast()).map(Kept)
    }
}

/// What a configuration callback returns when all is well.
pub(crate) const CONF_OK: *mut c_char = ptr::null_mut();
