//! A request as nginx has it.

use super::{ComplexValue, Kept, bytes, event, shim};
use crate::memory;
use nginx_sys::*;
use std::any::{Any, TypeId};
use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};

/// A live request.
///
/// Whoever makes one promises that the request lives as long as it is used. What the methods
/// return is in the request's pool or its connection's and lives as long as the request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct NgxRequest(NonNull<ngx_http_request_t>);

impl NgxRequest {
    /// # Safety
    ///
    /// `r` is a request that is not freed while this value or a copy of it is used.
    pub(crate) unsafe fn new(r: *mut ngx_http_request_t) -> NgxRequest {
        debug_assert!(!r.is_null());
        // SAFETY: nginx never hands out a null request (invariant 1).
        NgxRequest(unsafe { NonNull::new_unchecked(r) })
    }

    pub(crate) fn as_ptr(self) -> *mut ngx_http_request_t {
        self.0.as_ptr()
    }

    /// The request's own, or for a subrequest its main request's, pool.
    fn pool(self) -> *mut ngx_pool_t {
        // SAFETY: the request lives (invariant 1).
        unsafe { (*self.as_ptr()).pool }
    }

    pub(crate) fn connection(self) -> *mut ngx_connection_t {
        // SAFETY: the request lives (invariant 1).
        unsafe { (*self.as_ptr()).connection }
    }

    /// The method's name, as the client sent it.
    pub(crate) fn method(&self) -> &[u8] {
        // SAFETY: the request lives (invariant 1).
        unsafe { bytes((*self.as_ptr()).method_name) }
    }

    /// The decoded, normalized path.
    pub(crate) fn path(&self) -> &[u8] {
        // SAFETY: the request lives (invariant 1).
        unsafe { bytes((*self.as_ptr()).uri) }
    }

    /// What stands behind the first `?`.
    pub(crate) fn query(&self) -> &[u8] {
        // SAFETY: the request lives (invariant 1).
        unsafe { bytes((*self.as_ptr()).args) }
    }

    /// The client's address as text.
    pub(crate) fn client_address(&self) -> &[u8] {
        // SAFETY: the request and so its connection live (invariant 1).
        unsafe { bytes((*self.connection()).addr_text) }
    }

    /// The request's header lines in the order in which they came.
    pub(crate) fn headers(&self) -> Headers<'_> {
        // SAFETY: the request lives (invariant 1).
        Headers::new(unsafe { &raw const (*self.as_ptr()).headers_in.headers.part })
    }

    /// The answer's header lines as far as they have been set.
    pub(super) fn response_headers(&self) -> Headers<'_> {
        // SAFETY: the request lives (invariant 1).
        Headers::new(unsafe { &raw const (*self.as_ptr()).headers_out.headers.part })
    }

    /// A variable by its name without the `$`; `None` where it has no value or there is none, an
    /// error where it cannot be evaluated: memory is short.
    pub(crate) fn variable(&self, name: &[u8]) -> Result<Option<&[u8]>, ()> {
        let mut value = ngx_str_t::empty();
        // SAFETY: the request lives; the name is copied (invariant 1).
        match unsafe {
            shim::cbr_request_variable(self.as_ptr(), name.as_ptr(), name.len(), &mut value)
        } {
            // SAFETY: a value found is valid for the request's life (invariant 1).
            0 => Ok(Some(unsafe { bytes(value) })),
            rc if rc == NGX_DECLINED as ngx_int_t => Ok(None),
            _ => Err(()),
        }
    }

    /// Sets a variable that can be set.
    pub(crate) fn set_variable(&self, name: &[u8], value: &[u8]) -> Result<(), ()> {
        let value = self.copy(value).ok_or(())?;
        // SAFETY: the request lives; the name is copied, the value lives as long (invariant 1).
        match unsafe {
            shim::cbr_request_set_variable(
                self.as_ptr(),
                name.as_ptr(),
                name.len(),
                value.as_ptr(),
                value.len(),
            )
        } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// The request's value of this type.
    ///
    /// # Panics
    ///
    /// Where memory is short.
    pub(crate) fn data<T: Default + 'static>(&mut self) -> &mut T {
        let value = self.datum().or_else(|| self.new_datum());
        let mut value = value.expect("memory for the request's data");
        // SAFETY: borrowed from the request, so nobody else has it (invariant 1).
        unsafe { value.as_mut() }
    }

    fn datum<T: 'static>(self) -> Option<NonNull<T>> {
        let mut node = self.pool_cleanups();
        // SAFETY: the list is the pool's; a node with our handler has a datum (invariant 1).
        unsafe {
            while let Some(cleanup) = node.as_ref() {
                if cleanup.handler.is_some_and(|handler| {
                    // Nothing else has this function's body, so nothing else has its address.
                    ptr::fn_addr_eq(handler, drop_datum as unsafe extern "C" fn(*mut c_void))
                }) {
                    let datum = &*cleanup.data.cast::<Datum>();
                    if datum.request == self && datum.type_id == TypeId::of::<T>() {
                        return Some(datum.value.cast());
                    }
                }
                node = cleanup.next;
            }
        }
        None
    }

    fn new_datum<T: Default + 'static>(self) -> Option<NonNull<T>> {
        // SAFETY: the request lives, and so does its pool; the node is filled in at once
        // (invariant 1).
        unsafe {
            let node = ngx_pool_cleanup_add(self.pool(), size_of::<Datum>()).as_mut()?;
            let value = NonNull::from(Box::leak(memory::boxed(T::default())?));
            node.data.cast::<Datum>().write(Datum {
                request: self,
                type_id: TypeId::of::<T>(),
                value,
            });
            node.handler = Some(drop_datum);
            Some(value.cast())
        }
    }

    /// A configured value with its variables filled in; `None` where memory is short.
    #[inline]
    pub(crate) fn evaluate<'a>(&'a self, value: &'a ComplexValue) -> Option<&'a [u8]> {
        if let Some(constant) = value.constant() {
            return Some(constant);
        }
        let mut text = ngx_str_t::empty();
        let value = ptr::from_ref(&value.0).cast_mut();
        // SAFETY: the request lives; nginx does not change the value (invariant 1).
        match unsafe { ngx_http_complex_value(self.as_ptr(), value, &mut text) } {
            // SAFETY: the text is in the request's pool (invariant 1).
            0 => Some(unsafe { bytes(text) }),
            _ => None,
        }
    }

    /// Says in the answer when the client may try again, unless that has been said.
    #[cold]
    pub(crate) fn set_retry_after(self, value: &'static str) -> Result<(), ()> {
        let name = "Retry-After";
        let mut lines = self.response_headers();
        if lines.any(|(line, _)| line.eq_ignore_ascii_case(name.as_bytes())) {
            return Ok(());
        }
        // SAFETY: the request lives, and both texts are static (invariant 1).
        match unsafe {
            shim::cbr_response_header(
                self.as_ptr(),
                name.as_ptr(),
                name.len(),
                value.as_ptr(),
                value.len(),
            )
        } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Whether the location has an `error_page` for `status`.
    pub(crate) fn has_error_page(self, status: u16) -> bool {
        // SAFETY: the request lives (invariant 1).
        unsafe { shim::cbr_request_has_error_page(self.as_ptr(), status.into()) != 0 }
    }

    /// Whether the client is known to have gone.
    pub(crate) fn client_gone(self) -> bool {
        // SAFETY: the request and so its connection live (invariant 1).
        unsafe { shim::cbr_request_client_gone(self.as_ptr()) != 0 }
    }

    /// Has `handler` called when more of the body that nginx is reading may have come.
    pub(crate) fn watch_body(self, handler: unsafe extern "C" fn(*mut ngx_http_request_t)) {
        // SAFETY: the request lives (invariant 1).
        unsafe { (*self.as_ptr()).read_event_handler = Some(handler) };
    }

    /// Gives the client time for the rest of its body until it is read on.
    pub(crate) fn pause_body(self) {
        // SAFETY: the request lives (invariant 1).
        unsafe { shim::cbr_body_pause(self.as_ptr()) }
    }

    /// Takes away a body that a handler has begun to read: nobody can read it once more.
    pub(crate) fn forget_body(self) -> Result<(), ()> {
        // SAFETY: the request lives (invariant 1).
        match unsafe { shim::cbr_body_forget(self.as_ptr()) } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Whether a part of the client's body has still to be read.
    pub(crate) fn body_is_unread(self) -> bool {
        // SAFETY: the request lives (invariant 1).
        unsafe { shim::cbr_body_is_unread(self.as_ptr()) != 0 }
    }

    /// Leaves the header lines of these names out, which are in lower case.
    pub(crate) fn remove_headers(self, names: &[String]) -> Result<(), ()> {
        if names.is_empty() {
            return Ok(());
        }
        let strings = names.iter().map(|name| ngx_str_t {
            len: name.len(),
            data: name.as_ptr().cast_mut(),
        });
        let mut names: Vec<ngx_str_t> = Vec::new();
        names.try_reserve_exact(strings.len()).map_err(|_| ())?;
        names.extend(strings);
        // SAFETY: the request lives; the names are read and not kept (invariant 1).
        match unsafe { shim::cbr_headers_in_remove(self.as_ptr(), names.as_ptr(), names.len()) } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Gives the request a body, and a content type where there is one.
    pub(crate) fn set_body(self, body: Vec<u8>, content_type: Option<&str>) -> Result<(), ()> {
        let content_type = self.copy(content_type.unwrap_or_default().as_bytes());
        let content_type = content_type.ok_or(())?;
        // SAFETY: the request lives, and so does its pool, with body and type (invariant 1).
        match unsafe {
            let body = self.keep(body).ok_or(())?.as_ref();
            shim::cbr_body_set(
                self.as_ptr(),
                body.as_ptr(),
                body.len(),
                content_type.as_ptr(),
                content_type.len(),
            )
        } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Ends [`watch_client`](NgxRequest::watch_client).
    pub(crate) fn unwatch_client(self) {
        // SAFETY: the request lives (invariant 1).
        unsafe { (*self.as_ptr()).read_event_handler = Some(ngx_http_block_reading) };
    }

    /// Has `handler` called when something happens on the client's connection, whose events may
    /// come to another request of those that it has.
    pub(crate) fn watch_client(
        self,
        handler: unsafe extern "C" fn(*mut ngx_http_request_t),
    ) -> Result<(), ()> {
        // SAFETY: the request lives (invariant 1).
        match unsafe { shim::cbr_request_watch_client(self.as_ptr(), Some(handler)) } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Ends the time that the client has to take something.
    pub(crate) fn stop_send_timer(self) {
        // SAFETY: the request and so its connection live (invariant 1).
        unsafe { shim::cbr_stream_stop_timer(self.as_ptr()) }
    }

    /// Keeps the request alive until it is finalized once more, and has `handler` called as
    /// [`watch_client`](NgxRequest::watch_client) does.
    pub(crate) fn wait(
        self,
        handler: Option<unsafe extern "C" fn(*mut ngx_http_request_t)>,
    ) -> Result<(), ()> {
        // SAFETY: the request lives (invariant 3).
        match unsafe { shim::cbr_request_wait(self.as_ptr(), handler) } {
            0 => Ok(()),
            _ => Err(()),
        }
    }

    /// Ends one use of the request, which may free it.
    ///
    /// # Safety
    ///
    /// The request is held for this, and not used any more where it is held for nothing else.
    pub(crate) unsafe fn finalize(self, rc: ngx_int_t) {
        // SAFETY: by the caller's promise (invariant 3).
        unsafe {
            if rc == NGX_ERROR as ngx_int_t {
                shim::cbr_request_post_frames(self.as_ptr());
            }
            ngx_http_finalize_request(self.as_ptr(), rc);
        }
    }

    /// Has the error log name this request from now on; its connection.
    pub(crate) fn set_log(self) -> *mut ngx_connection_t {
        // SAFETY: the request lives, and so does its connection's log context (invariant 1).
        unsafe { shim::cbr_request_set_log(self.as_ptr()) }
    }

    /// A line in the error log with the connection's number and the request.
    pub(crate) fn log(self, level: usize, message: impl fmt::Display) {
        // SAFETY: the connection's log lives as long as the request (invariant 1).
        unsafe { event::log((*self.connection()).log, level, message) }
    }

    /// Memory in the request's pool, aligned for any `T` up to nginx's alignment.
    pub(crate) fn alloc<T>(self) -> Option<NonNull<T>> {
        // SAFETY: the request lives, and so does its pool (invariant 1).
        unsafe { alloc_in_pool(self.pool()) }
    }

    /// Copies bytes into the request's pool.
    pub(crate) fn copy(&self, text: &[u8]) -> Option<&[u8]> {
        if text.is_empty() {
            return Some(&[]);
        }
        // SAFETY: the request lives, and so does its pool; the memory is as large as the text
        // (invariant 1).
        unsafe {
            let data = NonNull::new(ngx_pnalloc(self.pool(), text.len()).cast::<u8>())?;
            data.copy_from_nonoverlapping(NonNull::from(text).cast(), text.len());
            Some(std::slice::from_raw_parts(data.as_ptr(), text.len()))
        }
    }

    /// Moves a value into the request's pool; it is dropped with the pool.
    pub(crate) fn keep<T>(self, value: T) -> Option<NonNull<T>> {
        // SAFETY: the request lives, and so does its pool (invariant 1).
        unsafe { keep_in_pool(self.pool(), value) }
    }

    /// Has `node` run when the request is freed or terminated.
    ///
    /// # Safety
    ///
    /// `node` lives in the request's pool, and is linked once.
    pub(crate) unsafe fn link_cleanup(self, node: *mut ngx_http_cleanup_t) {
        // SAFETY: the request and its main request live (invariant 1).
        unsafe {
            let main = (*self.as_ptr()).main;
            (*node).next = (*main).cleanup;
            (*main).cleanup = node;
        }
    }

    /// As [`link_cleanup`](NgxRequest::link_cleanup), for a node that stays until the request's pool
    /// goes.
    ///
    /// # Safety
    ///
    /// `node` lives in the request's pool, and is linked once.
    #[inline]
    pub(crate) unsafe fn link_pool_cleanup(self, node: *mut ngx_pool_cleanup_t) {
        // SAFETY: the request lives, and so does its pool (invariant 1).
        unsafe {
            let pool = self.pool();
            (*node).next = (*pool).cleanup;
            (*pool).cleanup = node;
        }
    }

    /// The first cleanup node of the request's pool, which is its main request's.
    pub(crate) fn pool_cleanups(self) -> *mut ngx_pool_cleanup_t {
        // SAFETY: the request lives, and so does its pool (invariant 1).
        unsafe { (*self.pool()).cleanup }
    }

    /// The first cleanup node of the main request.
    pub(crate) fn cleanups(self) -> *mut ngx_http_cleanup_t {
        // SAFETY: the request and its main request live (invariant 1).
        unsafe { (*(*self.as_ptr()).main).cleanup }
    }

    /// The module's location configuration in force.
    ///
    /// # Safety
    ///
    /// `T` is what the module's `create_loc_conf` made.
    #[inline]
    pub(crate) unsafe fn location_conf<T>(self, ctx_index: usize) -> Kept<T> {
        // SAFETY: nginx made one for each location before the first request (invariant 1).
        unsafe {
            let conf = *(*self.as_ptr()).loc_conf.add(ctx_index);
            Kept::from_raw(NonNull::new_unchecked(conf.cast()))
        }
    }
}

/// Something that a handler keeps with its request.
struct Datum {
    request: NgxRequest,
    type_id: TypeId,
    /// From a `Box`, of an array of one.
    value: NonNull<dyn Any>,
}

unsafe extern "C" fn drop_datum(datum: *mut c_void) {
    crate::panics::contained(|| {
        // SAFETY: the pool runs this once, on what new_datum() put there (invariant 1).
        unsafe { drop(Box::from_raw((*datum.cast::<Datum>()).value.as_ptr())) }
    });
}

/// # Safety
///
/// `pool` is valid.
unsafe fn alloc_in_pool<T>(pool: *mut ngx_pool_t) -> Option<NonNull<T>> {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    // SAFETY: the pool is valid, by the caller's promise (invariant 1).
    unsafe {
        if align <= NGX_ALIGNMENT {
            return NonNull::new(ngx_palloc(pool, size).cast());
        }
        // A pool aligns to NGX_ALIGNMENT alone: make room to move up in.
        let memory = ngx_palloc(pool, size + align - NGX_ALIGNMENT).cast::<u8>();
        if memory.is_null() {
            return None;
        }
        NonNull::new(memory.add(memory.align_offset(align)).cast())
    }
}

/// # Safety
///
/// `pool` is valid.
pub(super) unsafe fn keep_in_pool<T>(pool: *mut ngx_pool_t, value: T) -> Option<NonNull<T>> {
    unsafe extern "C" fn drop_value<T>(value: *mut c_void) {
        // nginx's frames cannot be unwound through: a panic ends here.
        crate::panics::contained(|| {
            // SAFETY: the pool runs this once, on the value moved into it (invariant 1).
            unsafe { ptr::drop_in_place(value.cast::<T>()) }
        });
    }

    // SAFETY: the pool is valid, by the caller's promise (invariant 1).
    unsafe {
        let place = alloc_in_pool::<T>(pool)?;
        if std::mem::needs_drop::<T>() {
            let node = NonNull::new(ngx_pool_cleanup_add(pool, 0))?.as_ptr();
            (*node).handler = Some(drop_value::<T>);
            (*node).data = place.as_ptr().cast();
        }
        place.write(value);
        Some(place)
    }
}

/// Header lines of a request or its answer: names and values.
pub(crate) struct Headers<'a> {
    part: *const ngx_list_part_t,
    index: usize,
    _request: std::marker::PhantomData<&'a NgxRequest>,
}

impl Headers<'_> {
    fn new(part: *const ngx_list_part_t) -> Self {
        Headers {
            part,
            index: 0,
            _request: std::marker::PhantomData,
        }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        // SAFETY: the list lives as long as the request, and nginx only appends (invariant 1).
        unsafe {
            loop {
                let part = self.part.as_ref()?;
                if self.index >= part.nelts {
                    self.part = part.next;
                    self.index = 0;
                    continue;
                }
                let header = &*part.elts.cast::<ngx_table_elt_t>().add(self.index);
                self.index += 1;
                // A module that takes a header away sets its hash to 0.
                if header.hash != 0 {
                    return Some((bytes(header.key), bytes(header.value)));
                }
            }
        }
    }
}
