//! One request, one future: start, poll, finish, cancel.
//!
//! A task lies in its request's pool: header, what the handler sees of the request, and the
//! future. It is polled once inside nginx's call of the content handler. A future that is ready
//! then is answered there and leaves nothing behind. One that is not holds the request, and ends
//! in one of two ways: a later poll is ready, and the task sends the answer and finalizes the
//! request; or nginx ends the request, and its cleanup drops the future.

use crate::abi::{self, Kept, NgxRequest};
use crate::config::{Content, LocationConf};
use crate::log::Level;
use crate::observer::End;
use crate::panics::{contained, discard};
use crate::request::Request;
use crate::response::{Error, Response};
use crate::wake::{self, Key};
use crate::worker::{self, Worker};
use crate::{Handler, Result};
use nginx_sys::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::future::Future;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

const DONE: ngx_int_t = NGX_DONE as ngx_int_t;
const ERROR: ngx_int_t = NGX_ERROR as ngx_int_t;
const INTERNAL_SERVER_ERROR: ngx_int_t = NGX_HTTP_INTERNAL_SERVER_ERROR as ngx_int_t;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The future is being made, or polled for the first time.
    Starting,
    /// The future has waited and is being polled. It must not be dropped.
    Polling,
    /// Cancelled while it was being polled: whoever polls drops it.
    Cancelled,
    /// The future waits.
    Waiting,
    /// There is no future any more.
    Done,
}

/// What can be done with a task without knowing its future.
struct Header {
    cleanup: MaybeUninit<ngx_http_cleanup_t>,
    /// In the pool's list, where the variables find the task when it has ended.
    pool_cleanup: MaybeUninit<ngx_pool_cleanup_t>,
    buf: MaybeUninit<ngx_buf_t>,
    request: NgxRequest,
    conf: Kept<LocationConf>,
    key: Key,
    state: Cell<State>,
    /// Since when it waits, or how long it has waited, in milliseconds; for the variables.
    waited: Cell<u64>,
    /// Whom to wake when the client sends or takes something: part of the future, which reads a
    /// body or writes one, but not both at once.
    io_waker: Cell<Option<Waker>>,
    /// The future waits for the client's body: events of the connection are for it.
    reads_body: Cell<bool>,
    /// A client that goes away ends the request.
    watches_client: Cell<bool>,
    /// The answer's head has been sent: it is too late for another.
    head_sent: Cell<bool>,
    poll: unsafe fn(NonNull<Header>, &Worker) -> Step,
    drop: unsafe fn(NonNull<Header>, &Worker),
}

/// How far a poll brought the request.
enum Step {
    /// The future waits.
    Pending,
    /// It has been answered: what nginx is to finalize it with.
    Answered(ngx_int_t),
    /// nginx ended it meanwhile.
    Gone,
}

#[repr(C)]
struct Task<F> {
    header: Header,
    request: Request,
    future: ManuallyDrop<F>,
}

/// A task that has not been freed: the worker's table holds none that has (invariant 1).
#[derive(Clone, Copy)]
pub(crate) struct TaskRef(NonNull<Header>);

/// What stands in the worker's table for a background task, which is none of a request's: an odd
/// number in place of a header's address.
impl TaskRef {
    pub(crate) fn of_background(number: usize) -> TaskRef {
        TaskRef(NonNull::dangling().map_addr(|_| NonZeroUsize::MIN | (number << 1)))
    }

    /// The number of a background task. `None` where it is a request's.
    #[inline]
    pub(crate) fn background(self) -> Option<usize> {
        let address = self.0.addr().get();
        (address & 1 == 1).then_some(address >> 1)
    }
}

/// A handler of any type, started on a request.
pub(crate) trait Start {
    /// Runs the handler as nginx's content handler.
    fn start(&self, worker: &Worker, request: NgxRequest, conf: Kept<LocationConf>) -> ngx_int_t;
}

impl<H: Handler> Start for H {
    #[inline]
    fn start(&self, worker: &Worker, request: NgxRequest, conf: Kept<LocationConf>) -> ngx_int_t {
        // SAFETY: the handler is part of the configuration, which outlives its requests
        // (invariant 1). `handle` is generic over the lifetime and cannot tell it from a shorter.
        let handler = unsafe { &*std::ptr::from_ref(self) };
        start::<H, _, _>(worker, request, conf, |request| handler.handle(request))
    }
}

/// Starts a location's handler on a request.
///
/// # Safety
///
/// Called by nginx, as the request's content handler.
#[inline]
pub(crate) unsafe fn run(request: NgxRequest, conf: Kept<LocationConf>) -> ngx_int_t {
    let Some(content) = &conf.content else {
        return INTERNAL_SERVER_ERROR;
    };
    // SAFETY: nginx calls content handlers on its event thread (invariant 6).
    match unsafe { worker::started() } {
        Some(worker) if conf.admits(worker.waiting()) => {
            content.handler.start(worker, request, conf)
        }
        Some(worker) => refuse(worker, content, request),
        None => run_first(content, request, conf),
    }
}

/// Too many requests wait.
#[cold]
fn refuse(worker: &Worker, content: &Content, request: NgxRequest) -> ngx_int_t {
    worker.observer.refuse(content);
    worker.overload.refuse(request, worker.waiting())
}

/// The first request of a worker.
#[cold]
fn run_first(content: &Content, request: NgxRequest, conf: Kept<LocationConf>) -> ngx_int_t {
    match worker::start() {
        Ok(worker) => content.handler.start(worker, request, conf),
        Err(e) => {
            request.log(
                Level::Alert as usize,
                format_args!("content_by_rust cannot start in this worker: {e}"),
            );
            INTERNAL_SERVER_ERROR
        }
    }
}

#[inline]
fn start<H, F, M>(
    worker: &Worker,
    request: NgxRequest,
    conf: Kept<LocationConf>,
    make: M,
) -> ngx_int_t
where
    H: Handler,
    F: Future<Output = Result<Response>>,
    M: FnOnce(&'static mut Request) -> F,
{
    let Some(task) = request.alloc::<Task<F>>() else {
        return INTERNAL_SERVER_ERROR;
    };
    let header: NonNull<Header> = task.cast();
    let Some(key) = worker.insert(TaskRef(header)) else {
        return INTERNAL_SERVER_ERROR;
    };

    let task = task.as_ptr();
    // SAFETY: the memory is a task's in size and alignment; nobody else knows it (invariant 1).
    unsafe {
        header.write(Header {
            cleanup: MaybeUninit::uninit(),
            pool_cleanup: MaybeUninit::uninit(),
            buf: MaybeUninit::uninit(),
            request,
            conf,
            key,
            state: Cell::new(State::Starting),
            waited: Cell::new(0),
            io_waker: Cell::new(None),
            reads_body: Cell::new(false),
            watches_client: Cell::new(false),
            head_sent: Cell::new(false),
            poll: poll::<H, F>,
            drop: drop_future::<H, F>,
        });
        (&raw mut (*task).request).write(Request::new(request, TaskRef(header)));
    }

    if worker.observer.is_active() {
        observe_begin(header, request);
    }

    // Making the future runs the handler's code where `handle` is no async fn.
    let made = worker.on_behalf_of(request, || {
        catch_unwind(AssertUnwindSafe(|| {
            let _context = context::<H>(worker);
            // SAFETY: the handler's request is borrowed by the future alone, lies beside it, and
            // lives longer; the place is the future's, and it does not move from here on
            // (invariant 1).
            unsafe {
                let future = ManuallyDrop::new(make(&mut (*task).request));
                (&raw mut (*task).future).write(future);
            }
        }))
    });
    let step = match made {
        // SAFETY: just made (invariant 1).
        Ok(()) => unsafe { poll::<H, F>(header, worker) },
        Err(payload) => {
            worker.on_behalf_of(request, || discard(payload));
            respond_after_panic(header, worker, Err(Error::panicked()))
        }
    };
    match step {
        // SAFETY: the header lives as long as the request (invariant 1).
        Step::Pending => unsafe { wait(header, worker, !conf.ignores_client_abort()) },
        Step::Answered(rc) => rc,
        Step::Gone => DONE,
    }
}

/// Has the variables find a task for as long as its request has its pool.
#[cold]
fn observe_begin(header: NonNull<Header>, request: NgxRequest) {
    // SAFETY: the node is in the request's pool, and written and linked here alone (invariant 1).
    unsafe {
        let cleanup = (*header.as_ptr()).pool_cleanup.as_mut_ptr();
        (*cleanup).handler = Some(on_cleanup);
        (*cleanup).data = header.as_ptr().cast();
        request.link_pool_cleanup(cleanup);
    }
}

/// The first poll was not ready: from here on nginx's events and the worker's decide.
///
/// # Safety
///
/// The task's future has been made and not been dropped, and nobody polls it.
unsafe fn wait(header: NonNull<Header>, worker: &Worker, watches_client: bool) -> ngx_int_t {
    // SAFETY: the header lives as long as the request (invariant 1).
    let this = unsafe { header.as_ref() };
    this.watches_client.set(watches_client);
    let watches = watches_client && !this.reads_body.get();
    if this
        .request
        .wait(watches.then_some(on_client_event))
        .is_err()
    {
        this.leave(worker, End::Aborted);
        // SAFETY: by the caller's promise (invariant 1).
        unsafe { (this.drop)(header, worker) };
        return INTERNAL_SERVER_ERROR;
    }
    this.state.set(State::Waiting);
    worker.begin_wait();
    if worker.observer.is_active() {
        this.observe_wait(worker);
    }
    // SAFETY: the node is in the request's pool, and written and linked here alone
    // (invariant 1).
    unsafe {
        let cleanup = (*header.as_ptr()).cleanup.as_mut_ptr();
        (*cleanup).handler = Some(on_cleanup);
        (*cleanup).data = header.as_ptr().cast();
        this.request.link_cleanup(cleanup);
    }
    DONE
}

impl Header {
    /// Wakes what waits for the client.
    fn wake_io(&self, worker: &Worker) {
        if let Some(waker) = self.io_waker.take() {
            worker.wake_by(waker);
        }
    }

    /// Has the connection's events come here, where they come to this request and are wanted.
    #[inline]
    fn watch_client(&self) -> Result<(), ()> {
        if self.watches_client.get() && !self.reads_body.get() {
            return self.request.watch_client(on_client_event);
        }
        Ok(())
    }

    /// From here on nobody wakes the task. False where nginx has ended the request already.
    #[inline]
    fn leave(&self, worker: &Worker, end: End) -> bool {
        let state = self.state.replace(State::Done);
        worker.remove(self.key);
        if state != State::Starting {
            worker.end_wait();
            self.request.unwatch_client();
        }
        if worker.observer.is_active() {
            self.observe_end(worker, state, end);
        }
        state != State::Cancelled
    }

    /// How long it has waited so far, in milliseconds.
    fn waited(&self) -> u64 {
        match self.state.get() {
            State::Starting | State::Done => self.waited.get(),
            _ => abi::cached_now().saturating_sub(self.waited.get()),
        }
    }

    #[cold]
    fn observe_wait(&self, worker: &Worker) {
        self.waited.set(abi::cached_now());
        if let Some(content) = &self.conf.content {
            worker.observer.wait(content);
        }
    }

    #[cold]
    fn observe_end(&self, worker: &Worker, state: State, end: End) {
        let end = match state {
            State::Waiting | State::Cancelled => End::Aborted,
            _ => end,
        };
        let has_waited = state != State::Starting;
        if has_waited {
            let since = self.waited.get();
            self.waited.set(abi::cached_now().saturating_sub(since));
        }
        if let Some(content) = &self.conf.content {
            worker.observer.end(content, has_waited, end);
        }
    }

    /// Drops the future, unless that has been done (invariant 1).
    #[cold]
    fn cancel(&self, header: NonNull<Header>) {
        match self.state.get() {
            State::Waiting => {
                self.state.set(State::Done);
                // A task waits in the worker that it was started in.
                let Some(worker) = worker::here() else { return };
                worker.remove(self.key);
                worker.end_wait();
                if worker.observer.is_active() {
                    self.observe_end(worker, State::Waiting, End::Aborted);
                }
                // SAFETY: the future waits, so nobody polls it (invariant 1).
                unsafe { (self.drop)(header, worker) };
            }
            State::Polling => self.state.set(State::Cancelled),
            // A request that is being started is not ended.
            State::Starting | State::Cancelled | State::Done => {}
        }
    }
}

/// For the request's own future, which is part of the task.
impl TaskRef {
    /// Names the task while it lives.
    pub(crate) fn key(self) -> Key {
        self.header().key
    }

    /// Has `waker` called when the client sends something.
    pub(crate) fn read_body(self, waker: &Waker) {
        self.set_io_waker(waker);
        self.header().reads_body.set(true);
        self.header().request.watch_body(on_client_event);
    }

    /// Ends [`read_body`](TaskRef::read_body): events of the connection tell of aborts again.
    pub(crate) fn end_read_body(self) {
        let this = self.header();
        this.io_waker.set(None);
        if this.reads_body.replace(false) && this.state.get() != State::Done {
            this.request.unwatch_client();
            this.request.pause_body();
        }
    }

    /// Has `waker` called from [`on_writable`].
    pub(crate) fn set_io_waker(self, waker: &Waker) {
        self.header().io_waker.set(Some(waker.clone()));
    }

    /// Ends [`set_io_waker`](TaskRef::set_io_waker).
    pub(crate) fn clear_io_waker(self) {
        let this = self.header();
        if this.io_waker.take().is_some() {
            this.request.stop_send_timer();
        }
    }

    /// From here on the future's end is the answer's end.
    pub(crate) fn set_head_sent(self) {
        self.header().head_sent.set(true);
    }

    /// Whether an answer has been begun.
    pub(crate) fn head_sent(self) -> bool {
        self.header().head_sent.get()
    }

    /// The configuration of the location.
    pub(crate) fn conf(&self) -> &LocationConf {
        &self.header().conf
    }

    fn header(&self) -> &Header {
        // SAFETY: the task lives as long as its request, and its future no longer (invariant 1).
        unsafe { self.0.as_ref() }
    }
}

impl TaskRef {
    /// Polls a task that was woken, and finishes its request when it is ready.
    pub(crate) fn resume(self, worker: &Worker) {
        let header = self.0;
        // SAFETY: the task has not been freed (invariant 1), and is not while it is polled: its
        // request is held.
        let this = unsafe { header.as_ref() };
        if this.state.get() != State::Waiting {
            // A handler's code waited in a nested event loop. nginx has none.
            return;
        }
        let connection = this.request.set_log();
        this.state.set(State::Polling);
        // SAFETY: the future has been made and waits (invariant 1).
        match unsafe { (this.poll)(header, worker) } {
            // SAFETY: held since the task waits; not used any more (invariant 3).
            Step::Answered(rc) => unsafe { this.request.finalize(rc) },
            Step::Pending if this.state.get() == State::Cancelled => {
                this.leave(worker, End::Aborted);
                // SAFETY: the future waits, so nobody polls it (invariant 1).
                unsafe { (this.drop)(header, worker) };
            }
            Step::Pending => {
                this.state.set(State::Waiting);
                // A body has been read, or a subrequest has ended, and the connection's events
                // are ours again. Where they cannot be had, an abort is noticed when the answer
                // is sent.
                let _ = this.watch_client();
            }
            Step::Gone => {}
        }
        // The request has been finalized, or the future has started subrequests, or brought nginx
        // to end the request.
        // SAFETY: nginx keeps the connection until the event has been handled, but perhaps not the
        // task (invariant 3).
        unsafe { ngx_http_run_posted_requests(connection) };
    }
}

/// Sends what the handler returned.
#[inline(always)]
fn respond(header: NonNull<Header>, worker: &Worker, result: Result<Response>, end: End) -> Step {
    // SAFETY: the header lives as long as the request (invariant 1).
    let this = unsafe { header.as_ref() };
    if !this.leave(worker, end) {
        return Step::Gone;
    }
    Step::Answered(match result {
        Ok(response) if this.head_sent.get() => end_stream(this.request, response.is_streamed()),
        Ok(response) => {
            // SAFETY: the buffer is part of the task, in the request's pool (invariant 1).
            unsafe {
                let buf = &raw mut (*header.as_ptr()).buf;
                abi::send(this.request, this.key, buf, response)
            }
        }
        Err(error) => {
            let status = error.log_and_status(this.request);
            match this.head_sent.get() {
                // Cut off, so that the client sees that something is missing.
                true => ERROR,
                false => abi::fail(this.request, status),
            }
        }
    })
}

/// [`respond`] where it is not worth a copy of its code.
#[cold]
#[inline(never)]
fn respond_after_panic(header: NonNull<Header>, worker: &Worker, result: Result<Response>) -> Step {
    respond(header, worker, result, End::Panicked)
}

/// Ends an answer that has been begun. One that did not come to its end is cut off.
#[cold]
fn end_stream(request: NgxRequest, streamed: bool) -> ngx_int_t {
    if streamed {
        return abi::end_stream(request);
    }
    let message = "the handler returned a second answer, not Stream::finish()";
    request.log(Level::Error as usize, message);
    ERROR
}

/// Polls the future of a task. One that is ready is dropped and answered, and so is one that
/// panics, which is that request's 500 (invariant 5).
///
/// # Safety
///
/// The task's future is an `F`, has been made and not been dropped.
unsafe fn poll<H, F>(header: NonNull<Header>, worker: &Worker) -> Step
where
    H: Handler,
    F: Future<Output = Result<Response>>,
{
    // SAFETY: by the caller's promise; the future stays where it is until it is dropped
    // (invariant 1).
    let (key, request, future) = unsafe {
        let this = header.as_ref();
        let future = &raw mut (*header.cast::<Task<F>>().as_ptr()).future;
        (this.key, this.request, future)
    };
    let waker = wake::waker(key);
    let mut result = None;
    let polled = worker.on_behalf_of(request, || {
        catch_unwind(AssertUnwindSafe(|| {
            let _context = context::<H>(worker);
            // SAFETY: as above; one that is ready is not polled again (invariant 1).
            unsafe {
                let pinned = Pin::new_unchecked(&mut **future);
                if let Poll::Ready(ready) = pinned.poll(&mut Context::from_waker(&waker)) {
                    result = Some(ready);
                    ManuallyDrop::drop(&mut *future);
                }
            }
        }))
    });
    match (polled, result) {
        (Ok(()), None) => Step::Pending,
        (Ok(()), Some(result)) => respond(header, worker, result, End::Answered),
        (Err(payload), result) => {
            worker.on_behalf_of(request, || discard(payload));
            // The panic of a future's end does not take its answer away.
            let result = result.unwrap_or_else(|| {
                // SAFETY: by the caller's promise, and it is not polled again (invariant 1).
                unsafe { drop_future::<H, F>(header, worker) };
                Err(Error::panicked())
            });
            respond_after_panic(header, worker, result)
        }
    }
}

/// tokio's context, for a handler that may use it.
///
/// # Panics
///
/// Where tokio's threads cannot be started: that is the request's 500.
#[cfg(feature = "tokio")]
#[inline]
fn context<H: Handler>(worker: &Worker) -> Option<tokio::runtime::EnterGuard<'_>> {
    H::USES_TOKIO.then(|| match worker.runtime.enter() {
        Ok(context) => context,
        Err(e) => panic!("tokio's threads cannot be started: {e}"),
    })
}

#[cfg(not(feature = "tokio"))]
fn context<H: Handler>(_: &Worker) -> Option<()> {
    // There is nothing to enter.
    H::USES_TOKIO.then_some(())
}

/// Drops the future of a task. A panic in it ends there, with a line in the error log.
///
/// # Safety
///
/// As for [`poll`], and nobody polls it.
unsafe fn drop_future<H: Handler, F>(header: NonNull<Header>, worker: &Worker) {
    if !std::mem::needs_drop::<F>() {
        return;
    }
    // SAFETY: by the caller's promise (invariant 1).
    let request = unsafe { header.as_ref() }.request;
    worker.on_behalf_of(request, || {
        contained(|| {
            let _context = context::<H>(worker);
            // SAFETY: by the caller's promise (invariant 1).
            unsafe { ManuallyDrop::drop(&mut (*header.cast::<Task<F>>().as_ptr()).future) };
        });
    });
}

/// nginx ends the request: it is freed, or terminated. Called once more when its pool goes.
extern "C" fn on_cleanup(data: *mut c_void) {
    // SAFETY: the node that brought us here is part of the header, and says so (invariant 1).
    let (header, this) = unsafe {
        let header = NonNull::new_unchecked(data.cast::<Header>());
        (header, header.as_ref())
    };
    if this.state.get() != State::Done {
        this.cancel(header);
    }
}

/// What the handlers of a request have done, those that have ended among them.
pub(crate) struct History {
    /// The last of them.
    pub(crate) handler: &'static str,
    /// How long they have waited, in milliseconds.
    pub(crate) waited: u64,
}

/// `None` where no handler has run for the request. It can be asked as long as the request has its
/// pool: the access log is written when the request's own cleanups have run.
pub(crate) fn history(request: NgxRequest) -> Option<History> {
    let mut history = None;
    let mut node = request.pool_cleanups();
    // SAFETY: the list is that of the live request's pool, and each of our nodes is part of a
    // header in it (invariant 1). The last comes first.
    unsafe {
        while let Some(cleanup) = node.as_ref() {
            if let Some(header) = header_of(cleanup.handler, cleanup.data)
                && let this = header.as_ref()
                && this.request == request
                && let Some(content) = &this.conf.content
            {
                let history = history.get_or_insert(History {
                    handler: content.name,
                    waited: 0,
                });
                history.waited += this.waited();
            }
            node = cleanup.next;
        }
    }
    history
}

/// The task that a cleanup belongs to, if it is one of ours.
fn header_of(
    handler: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> Option<NonNull<Header>> {
    // Nothing else has this function's body, so nothing else has its address.
    let ours = on_cleanup as unsafe extern "C" fn(*mut c_void);
    let is_ours = handler.is_some_and(|handler| std::ptr::fn_addr_eq(handler, ours));
    NonNull::new(data.cast()).filter(|_| is_ours)
}

/// A request that streams its answer can go on.
pub(crate) extern "C" fn on_writable(r: *mut ngx_http_request_t) {
    // SAFETY: nginx calls this for a live request (invariant 1).
    let waiting = waiting_task(unsafe { NgxRequest::new(r) });
    if let (Some((_, header)), Some(worker)) = (waiting, worker::here()) {
        // SAFETY: just found waiting (invariant 1).
        let this = unsafe { header.as_ref() };
        this.request.stop_send_timer();
        this.wake_io(worker);
    }
}

/// Something happened on the connection of a client whose request waits.
extern "C" fn on_client_event(r: *mut ngx_http_request_t) {
    // SAFETY: nginx calls this for a live request (invariant 1).
    let request = unsafe { NgxRequest::new(r) };
    let waiting = waiting_task(request);

    if let (Some((_, header)), Some(worker)) = (waiting, worker::here()) {
        // SAFETY: just found waiting (invariant 1).
        let this = unsafe { header.as_ref() };
        if this.reads_body.get() {
            return this.wake_io(worker);
        }
    }

    // SAFETY: as above (invariant 1). It may finalize the request, whose memory stays until we
    // return, as a terminated request is freed by a posted one.
    unsafe { ngx_http_test_reading(r) };

    // post_action takes a request whose client has gone elsewhere, without a cleanup.
    if let (Some((key, header)), Some(worker)) = (waiting, worker::here())
        && worker.is_live(key)
        && request.client_gone()
    {
        // SAFETY: the key is live, so the task is (invariant 1).
        unsafe { header.as_ref() }.cancel(header);
    }
}

/// The task that a request waits for: not found through the module ctx, which an internal
/// redirect clears (invariant 1).
fn waiting_task(request: NgxRequest) -> Option<(Key, NonNull<Header>)> {
    let mut node = request.cleanups();
    // SAFETY: the list is the live request's, and each of our nodes is part of a header in the
    // request's pool (invariant 1).
    unsafe {
        while let Some(cleanup) = node.as_ref() {
            if let Some(header) = header_of(cleanup.handler, cleanup.data) {
                let this = header.as_ref();
                if this.request == request && this.state.get() == State::Waiting {
                    return Some((this.key, header));
                }
            }
            node = cleanup.next;
        }
    }
    None
}
