//! The module as nginx sees it: `ngx_module_t`, the directive table, the hooks.
//!
//! Nothing of nginx's module ABI shows anywhere else.

use crate::abi::{self, Conf, CycleLog, Event, Kept, NgxRequest, Zone};
use crate::args::{ArgError, Args};
use crate::background;
use crate::config::{self, LocationConf, MainConf};
use crate::handlers;
use crate::log::Level;
use crate::response::{Response, Result};
use crate::task::{self, Start};
use crate::variables::{self, HandlerName, Wait};
use crate::worker;
use crate::{Handler, Request};
use nginx_sys::*;
use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Makes a shared object an nginx module whose `content_by_rust` knows these handlers, besides
/// the built-in ones.
///
/// A name alone is an `async fn(&mut Request) -> Result<Response>` in scope; `name: Type` is a
/// [`Handler`]. `background name` is an `async fn()` in scope, a [task](crate::spawn) that each
/// worker starts when it has been started itself. The crate is a `cdylib`; the statics that nginx looks up by name are all that is
/// unsafe in it, which `deny(unsafe_code)` lets pass and `forbid(unsafe_code)` does not.
/// `load_module` loads the object in place of
/// `ngx_http_rust_module.so`: nginx loads one of them, and says so where there are two.
///
/// ```
/// use content_by_rust::{ArgError, Args, Handler, Request, Response, Result, Value};
///
/// async fn hi(request: &mut Request) -> Result<Response> {
///     Ok(Response::text(format!("hi {}\n", request.arg("name").unwrap_or("you"))))
/// }
///
/// struct Greeter {
///     greeting: Value,
/// }
///
/// impl Handler for Greeter {
///     fn configure(args: &mut Args<'_>) -> Result<Greeter, ArgError> {
///         let greeting = args.value("greeting")?.ok_or_else(|| args.missing("greeting"))?;
///         Ok(Greeter { greeting })
///     }
///
///     async fn handle(&self, request: &mut Request) -> Result<Response> {
///         Ok(Response::body(request.evaluate(self.greeting)?))
///     }
/// }
///
/// content_by_rust::module! { hi, greet: Greeter }
/// # fn main() {}
/// ```
///
/// # Background tasks
///
/// A task runs in every worker, in nginx without a master as well, and in no other process of
/// nginx's. Lua's `init_worker_by_lua` with `ngx.timer.at` is its like. [`worker_id`] lets one
/// worker do what is to be done once:
///
/// ```
/// use content_by_rust::{Level, log, sleep, worker_exiting, worker_id};
/// use std::time::Duration;
///
/// async fn beat() {
///     while worker_id() == 0 && !worker_exiting() {
///         log(Level::Notice, "alive");
///         sleep(Duration::from_secs(10)).await;
///     }
/// }
///
/// content_by_rust::module! { background beat }
/// # fn main() {}
/// ```
///
/// A reload starts new workers while the old ones answer what they have begun with: until its
/// last answer, an old worker 0 and its tasks are there beside the new one, which is why `beat`
/// looks whether it [is exiting](crate::worker_exiting). While a new binary takes an old one's place
/// there are the workers of both. A worker that dies is replaced by one with
/// its number, and the tasks begin anew. With `master_process off`, where a reload changes neither
/// the process nor the code, they go on.
///
/// What holds for every task is said at [`spawn`](crate::spawn).
///
/// [`worker_id`]: crate::worker_id
#[macro_export]
macro_rules! module {
    ($($handlers:tt)*) => {
        #[doc(hidden)]
        #[allow(unsafe_code, non_upper_case_globals)]
        mod __content_by_rust {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__private as cbr;

            static TABLE: cbr::Table = cbr::Table::new(
                $crate::__handlers!([] $($handlers)* ,),
                $crate::__background!([] $($handlers)* ,),
                &raw const ngx_http_rust_module,
            );

            extern "C" fn init_process(_: *mut cbr::ngx_cycle_t) -> cbr::ngx_int_t {
                cbr::init_process(&TABLE)
            }

            static mut COMMANDS: [cbr::ngx_command_t; cbr::COMMANDS] = cbr::commands(&TABLE);

            static mut CONTEXT: cbr::ngx_http_module_t = cbr::context();

            // SAFETY: nginx finds it by its name; nothing else has it (invariant 6).
            #[unsafe(no_mangle)]
            pub static mut ngx_http_rust_module: cbr::ngx_module_t =
                cbr::module(&raw mut CONTEXT, &raw mut COMMANDS, init_process);

            $crate::__tables! {}
        }
    };
}

/// What nginx looks up in a shared object to find its modules.
#[cfg(not(feature = "staticlib"))]
#[macro_export]
#[doc(hidden)]
macro_rules! __tables {
    () => {
        // SAFETY: nginx looks these up by their names when it loads the module (invariant 6).
        #[unsafe(no_mangle)]
        pub static mut ngx_modules: [*const cbr::ngx_module_t; 2] =
            [&raw const ngx_http_rust_module, ::core::ptr::null()];

        // SAFETY: as above (invariant 6).
        #[unsafe(no_mangle)]
        pub static mut ngx_module_names: [*const ::core::ffi::c_char; 2] =
            [c"ngx_http_rust_module".as_ptr(), ::core::ptr::null()];

        // SAFETY: as above (invariant 6).
        #[unsafe(no_mangle)]
        pub static mut ngx_module_order: [*const ::core::ffi::c_char; 1] = [::core::ptr::null()];
    };
}

/// Nothing: nginx's `configure` writes these tables, of all the modules that it links.
#[cfg(feature = "staticlib")]
#[macro_export]
#[doc(hidden)]
macro_rules! __tables {
    () => {};
}

/// The entries of [`module!`], one by one.
#[macro_export]
#[doc(hidden)]
macro_rules! __handlers {
    ([$($entries:expr,)*] $(,)*) => {
        &[$($entries,)*]
    };
    ([$($entries:expr,)*] background $name:ident , $($rest:tt)*) => {
        $crate::__handlers!([$($entries,)*] $($rest)*)
    };
    ([$($entries:expr,)*] $name:ident : $type:ty , $($rest:tt)*) => {
        $crate::__handlers!([
            $($entries,)*
            cbr::Entry { name: stringify!($name), configure: cbr::handler::<$type> },
        ] $($rest)*)
    };
    ([$($entries:expr,)*] $name:ident , $($rest:tt)*) => {
        $crate::__handlers!([
            $($entries,)*
            cbr::Entry { name: stringify!($name), configure: |_| Ok(cbr::function($name)) },
        ] $($rest)*)
    };
}

/// The background tasks of [`module!`], one by one.
#[macro_export]
#[doc(hidden)]
macro_rules! __background {
    ([$($tasks:expr,)*] $(,)*) => {
        &[$($tasks,)*]
    };
    ([$($tasks:expr,)*] background $name:ident , $($rest:tt)*) => {
        $crate::__background!([
            $($tasks,)*
            cbr::BackgroundEntry {
                name: stringify!($name),
                start: |name| cbr::start(name, $name),
            },
        ] $($rest)*)
    };
    ([$($tasks:expr,)*] $name:ident $(: $type:ty)? , $($rest:tt)*) => {
        $crate::__background!([$($tasks,)*] $($rest)*)
    };
}

/// A handler that a configuration can name.
pub struct Entry {
    /// What stands in `content_by_rust NAME`.
    pub name: &'static str,
    /// Reads the arguments behind the name.
    pub configure: fn(&mut Args<'_>) -> Result<Configured, ArgError>,
}

/// The handlers that every module has.
pub(crate) const BUILT_IN: &[Entry] = &[
    Entry {
        name: "hello",
        configure: |_| Ok(built_in(handlers::hello)),
    },
    Entry {
        name: "ok",
        configure: |args| {
            args.will_wait(handlers::OK_DELAY);
            Ok(built_in(handlers::ok))
        },
    },
    Entry {
        name: "reply",
        configure: handler::<handlers::Reply>,
    },
    Entry {
        name: "status",
        configure: handler::<handlers::StatusPage>,
    },
    #[cfg(feature = "tokio")]
    Entry {
        name: "tokio_ok",
        configure: |_| Ok(function(handlers::tokio_ok)),
    },
];

/// A handler with its arguments.
pub struct Configured(Box<dyn Start>);

/// Makes an entry of a [`Handler`].
pub fn handler<H: Handler>(args: &mut Args<'_>) -> Result<Configured, ArgError> {
    Ok(Configured(Box::new(H::configure(args)?)))
}

/// Makes an entry of an `async fn`.
pub fn function<F>(function: F) -> Configured
where
    F: for<'a> AsyncFn(&'a mut Request) -> Result<Response> + 'static,
{
    Configured(Box::new(Function::<F, true>(function)))
}

/// Makes an entry of one of our own that does not use tokio.
fn built_in<F>(function: F) -> Configured
where
    F: for<'a> AsyncFn(&'a mut Request) -> Result<Response> + 'static,
{
    Configured(Box::new(Function::<F, false>(function)))
}

struct Function<F, const USES_TOKIO: bool>(F);

impl<F, const USES_TOKIO: bool> Handler for Function<F, USES_TOKIO>
where
    F: for<'a> AsyncFn(&'a mut Request) -> Result<Response> + 'static,
{
    const USES_TOKIO: bool = USES_TOKIO;

    fn configure(_: &mut Args<'_>) -> Result<Self, ArgError> {
        unreachable!("a function is configured by name")
    }

    fn handle(&self, request: &mut Request) -> impl Future<Output = Result<Response>> {
        (self.0)(request)
    }
}

/// What one shared object has.
pub struct Table {
    handlers: &'static [Entry],
    background: &'static [background::Entry],
    module: *const ngx_module_t,
}

// SAFETY: nginx configures on one thread (invariant 6).
unsafe impl Sync for Table {}

impl Table {
    /// The handlers and background tasks there are, and the module's own static.
    pub const fn new(
        handlers: &'static [Entry],
        background: &'static [background::Entry],
        module: *const ngx_module_t,
    ) -> Table {
        Table {
            handlers,
            background,
            module,
        }
    }

    /// The module's own handlers, and after them the built-in ones: each name once, as its first.
    pub(crate) fn all_handlers(&self) -> impl Iterator<Item = &'static Entry> {
        let own = self.handlers;
        let all = move || own.iter().chain(BUILT_IN);
        all().enumerate().filter_map(move |(number, entry)| {
            let mut before = all().take(number);
            (!before.any(|other| other.name == entry.name)).then_some(entry)
        })
    }

    /// nginx's name for the module.
    pub(crate) fn module(&self) -> *const ngx_module_t {
        self.module
    }
}

/// Where the module's configuration lies among those of a block, once a `content_by_rust` has
/// been read or a worker with background tasks been started. nginx gives a module one number for the life of the process.
static CTX_INDEX: AtomicUsize = AtomicUsize::new(NO_CTX_INDEX);

const NO_CTX_INDEX: usize = usize::MAX;

/// How many directives there are, and the end of their table.
pub const COMMANDS: usize = if cfg!(feature = "tokio") { 7 } else { 6 };

/// The directives.
pub const fn commands(table: &'static Table) -> [ngx_command_t; COMMANDS] {
    const EVERYWHERE: u32 = NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF;
    [
        ngx_command_t {
            name: string(c"content_by_rust"),
            type_: (NGX_HTTP_LOC_CONF | NGX_HTTP_LIF_CONF | NGX_CONF_1MORE) as ngx_uint_t,
            set: Some(set_content_by_rust),
            conf: NGX_HTTP_LOC_CONF_OFFSET,
            offset: 0,
            post: ptr::from_ref(table).cast_mut().cast(),
        },
        ngx_command_t {
            name: string(c"rust_ignore_client_abort"),
            type_: (EVERYWHERE | NGX_CONF_FLAG) as ngx_uint_t,
            set: Some(ngx_conf_set_flag_slot),
            conf: NGX_HTTP_LOC_CONF_OFFSET,
            offset: offset_of!(LocationConf, ignore_client_abort),
            post: ptr::null_mut(),
        },
        ngx_command_t {
            name: string(c"rust_max_delay"),
            type_: (EVERYWHERE | NGX_CONF_TAKE1) as ngx_uint_t,
            set: Some(ngx_conf_set_msec_slot),
            conf: NGX_HTTP_LOC_CONF_OFFSET,
            offset: offset_of!(LocationConf, max_delay),
            post: ptr::null_mut(),
        },
        ngx_command_t {
            name: string(c"rust_max_pending"),
            type_: (EVERYWHERE | NGX_CONF_TAKE1) as ngx_uint_t,
            set: Some(ngx_conf_set_num_slot),
            conf: NGX_HTTP_LOC_CONF_OFFSET,
            offset: offset_of!(LocationConf, max_pending),
            post: ptr::null_mut(),
        },
        ngx_command_t {
            name: string(c"rust_shared_zone"),
            type_: (NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE2) as ngx_uint_t,
            set: Some(set_shared_zone),
            conf: NGX_HTTP_MAIN_CONF_OFFSET,
            offset: 0,
            post: ptr::from_ref(table).cast_mut().cast(),
        },
        #[cfg(feature = "tokio")]
        ngx_command_t {
            name: string(c"rust_tokio_threads"),
            type_: (NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1) as ngx_uint_t,
            set: Some(ngx_conf_set_num_slot),
            conf: NGX_HTTP_MAIN_CONF_OFFSET,
            offset: offset_of!(MainConf, tokio_threads),
            post: (&raw const TOKIO_THREADS_BOUNDS.0).cast_mut().cast(),
        },
        ngx_command_t::empty(),
    ]
}

/// nginx's own check of a number.
#[cfg(feature = "tokio")]
struct Bounds(ngx_conf_num_bounds_t);

// SAFETY: nginx reads it on one thread, and never writes (invariant 6).
#[cfg(feature = "tokio")]
unsafe impl Sync for Bounds {}

#[cfg(feature = "tokio")]
static TOKIO_THREADS_BOUNDS: Bounds = Bounds(ngx_conf_num_bounds_t {
    post_handler: Some(ngx_conf_check_num_bounds),
    low: 1,
    high: 1024,
});

/// `rust_tokio_threads` of the configuration in force.
#[cfg(feature = "tokio")]
pub(crate) fn tokio_threads() -> usize {
    main_conf().map_or(1, |main| main.tokio_threads())
}

/// The configuration in force, if it has to do with the module.
pub(crate) fn main_conf() -> Option<Kept<MainConf>> {
    // SAFETY: the current cycle's configuration has been read (invariant 6).
    unsafe { main_conf_of(ngx_cycle) }
}

/// # Safety
///
/// The cycle's configuration has been read.
unsafe fn main_conf_of(cycle: *mut ngx_cycle_t) -> Option<Kept<MainConf>> {
    let ctx_index = CTX_INDEX.load(Ordering::Relaxed);
    if ctx_index == NO_CTX_INDEX {
        return None;
    }
    // SAFETY: by the caller's promise; ours was made by create_main_conf where there is an http
    // block (invariant 6).
    unsafe { abi::http_main_conf::<MainConf>(cycle, ctx_index) }
}

/// A shared zone of the configuration in force.
pub(crate) fn shared_zone(name: &[u8]) -> Option<Zone> {
    main_conf()?.shared_zone(name)
}

/// Whether somebody may ask for what the variables tell of a request. The master decides it for its
/// workers.
static TELLS: AtomicBool = AtomicBool::new(false);

/// See [`TELLS`].
pub(crate) fn tells() -> bool {
    TELLS.load(Ordering::Relaxed)
}

const fn string(text: &'static CStr) -> ngx_str_t {
    ngx_str_t {
        len: text.count_bytes(),
        data: text.as_ptr().cast_mut().cast(),
    }
}

/// The module's hooks into the reading of a configuration.
pub const fn context() -> ngx_http_module_t {
    ngx_http_module_t {
        preconfiguration: Some(preconfiguration),
        postconfiguration: None,
        create_main_conf: Some(create_main_conf),
        init_main_conf: None,
        create_srv_conf: None,
        merge_srv_conf: None,
        create_loc_conf: Some(create_loc_conf),
        merge_loc_conf: Some(merge_loc_conf),
    }
}

/// The module itself.
pub const fn module(
    context: *mut ngx_http_module_t,
    commands: *mut [ngx_command_t; COMMANDS],
    init_process: extern "C" fn(*mut ngx_cycle_t) -> ngx_int_t,
) -> ngx_module_t {
    ngx_module_t {
        ctx: context.cast(),
        commands: commands.cast(),
        type_: NGX_HTTP_MODULE as ngx_uint_t,
        init_module: Some(init_module),
        init_process: Some(init_process),
        exit_process: Some(exit_process),
        ..ngx_module_t::default()
    }
}

/// The first that nginx asks of the module, and so the place to refuse a core that the module
/// was not built for (invariant 7).
extern "C" fn create_main_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: nginx calls this while it reads a configuration (invariant 6).
    let conf = unsafe { Conf::new(cf) };
    if let Err(message) = abi::check_core() {
        conf.log(NGX_LOG_EMERG as usize, message);
        return ptr::null_mut();
    }
    kept(conf.keep(MainConf::new()))
}

extern "C" fn preconfiguration(cf: *mut ngx_conf_t) -> ngx_int_t {
    // SAFETY: as in create_main_conf (invariant 6).
    match variables::add(unsafe { Conf::new(cf) }) {
        Ok(()) => NGX_OK as ngx_int_t,
        Err(()) => NGX_ERROR as ngx_int_t,
    }
}

extern "C" fn create_loc_conf(cf: *mut ngx_conf_t) -> *mut c_void {
    // SAFETY: as in create_main_conf (invariant 6).
    let conf = unsafe { Conf::new(cf) };
    kept(conf.keep(LocationConf::new()))
}

fn kept<T>(value: Option<Kept<T>>) -> *mut c_void {
    value.map_or(ptr::null_mut(), |value| value.as_ptr().cast())
}

extern "C" fn merge_loc_conf(
    cf: *mut ngx_conf_t,
    outer: *mut c_void,
    inner: *mut c_void,
) -> *mut c_char {
    // SAFETY: both were made by create_loc_conf, and are two (invariant 6).
    unsafe {
        let outer = &*outer.cast::<LocationConf>();
        (*inner.cast::<LocationConf>()).merge(Conf::new(cf), outer);
    }
    abi::CONF_OK
}

extern "C" fn set_content_by_rust(
    cf: *mut ngx_conf_t,
    command: *mut ngx_command_t,
    location: *mut c_void,
) -> *mut c_char {
    // SAFETY: nginx gives the command it read from `commands`, whose `post` is the table, and
    // the location's configuration from create_loc_conf (invariant 6).
    let (conf, table, location) = unsafe {
        (
            Conf::new(cf),
            &*(*command).post.cast::<Table>(),
            &mut *location.cast::<LocationConf>(),
        )
    };
    if location.content.is_some() {
        return c"is duplicate".as_ptr().cast_mut();
    }
    // SAFETY: nginx has numbered the module before it reads the block (invariant 6).
    let ctx_index = unsafe { (*table.module).ctx_index };
    CTX_INDEX.store(ctx_index, Ordering::Relaxed);
    // SAFETY: made by create_main_conf, and nobody else's while a directive is read
    // (invariant 6).
    let main = unsafe { conf.http_main_conf::<MainConf>(ctx_index).as_mut() };
    match config::content_by_rust(conf, location, main, table) {
        Ok(()) => abi::CONF_OK,
        Err(error) => {
            config::log_refusal(conf, &error);
            abi::conf_error()
        }
    }
}

extern "C" fn set_shared_zone(
    cf: *mut ngx_conf_t,
    command: *mut ngx_command_t,
    main: *mut c_void,
) -> *mut c_char {
    // SAFETY: as in set_content_by_rust; this is a directive of the http block's (invariant 6).
    let (conf, module, main) = unsafe {
        let table = &*(*command).post.cast::<Table>();
        (Conf::new(cf), table.module, &mut *main.cast::<MainConf>())
    };
    // SAFETY: nginx has numbered the module before it reads the block (invariant 6).
    CTX_INDEX.store(unsafe { (*module).ctx_index }, Ordering::Relaxed);
    match config::rust_shared_zone(conf, main, module) {
        Ok(()) => abi::CONF_OK,
        Err(error) => {
            config::log_refusal(conf, &error);
            abi::conf_error()
        }
    }
}

/// Called for each configuration that has been read, also by `nginx -t`.
extern "C" fn init_module(cycle: *mut ngx_cycle_t) -> ngx_int_t {
    // SAFETY: the cycle takes the current one's place at once, and calls this again when it is
    // replaced itself (invariant 6).
    let log = unsafe { CycleLog::of(cycle) };
    // Where there is no http block, nothing has asked yet (invariant 7).
    if let Err(message) = abi::check_core() {
        log.write(Level::Emerg as usize, message);
        return NGX_ERROR as ngx_int_t;
    }
    // SAFETY: the cycle's configuration has been read (invariant 6).
    let (main, resolution, tells) = unsafe {
        (
            main_conf_of(cycle),
            abi::timer_resolution(cycle),
            abi::uses_variable::<HandlerName>(cycle)
                || abi::uses_variable::<Wait>(cycle)
                || abi::asks_by_name(cycle),
        )
    };
    TELLS.store(tells, Ordering::Relaxed);
    if let Some(delay) = main.as_ref().and_then(|main| main.shortest_delay)
        && let Some(resolution) = resolution
        && u128::from(resolution) > delay.as_millis()
    {
        log.write(
            Level::Warn as usize,
            format_args!(
                "with \"timer_resolution\" of {resolution}ms a delay of {}ms takes up to \
                 {resolution}ms longer",
                delay.as_millis()
            ),
        );
    }
    worker::take_up(log, main.as_deref());
    NGX_OK as ngx_int_t
}

/// Called in each process that the master forks, and in the only one where there is no master.
pub fn init_process(table: &'static Table) -> ngx_int_t {
    let counts = || main_conf().is_some_and(|main| main.counting.is_some());
    if abi::is_worker() && (!table.background.is_empty() || counts()) {
        // In the first turn of the loop: by then nginx has the connection to its master, without
        // which a worker ends, and this one takes one of what is left.
        let Some([first_turn]) = Event::leak([on_first_turn]) else {
            return NGX_ERROR as ngx_int_t;
        };
        first_turn.set_context(NonNull::from(table).cast());
        first_turn.post_next();
    }
    NGX_OK as ngx_int_t
}

extern "C" fn on_first_turn(event: *mut ngx_event_t) {
    // SAFETY: nginx calls this for the event of init_process alone, whose context is a static
    // (invariant 6).
    let table = unsafe { Event::context(event).cast::<Table>().as_ref() };
    // SAFETY: nginx has taken it out of its queue, and nobody posts it again (invariant 6).
    unsafe { Event::free(event) };
    // SAFETY: nginx has numbered the module if there is an http block (invariant 6).
    let ctx_index = unsafe { (*table.module).ctx_index };
    CTX_INDEX.store(ctx_index, Ordering::Relaxed);
    background::start_all(table.background);
}

extern "C" fn exit_process(_: *mut ngx_cycle_t) {
    worker::stop();
}

/// nginx's way in for each request.
pub(crate) extern "C" fn content_handler(r: *mut ngx_http_request_t) -> ngx_int_t {
    // SAFETY: nginx calls this for a live request of a location that create_loc_conf made a
    // configuration for (invariant 1).
    unsafe {
        let request = NgxRequest::new(r);
        let ctx_index = CTX_INDEX.load(Ordering::Relaxed);
        task::run(request, request.location_conf::<LocationConf>(ctx_index))
    }
}

impl From<Configured> for Box<dyn Start> {
    fn from(configured: Configured) -> Box<dyn Start> {
        configured.0
    }
}
