//! The core that loads the module must be the core that it was built for (invariant 7).
//!
//! OpenResty's patches change the layout of nginx's structures and neither its version nor the
//! module signature, so nginx itself loads the wrong module without a word.

use super::shim;

/// A symbol that only OpenResty's core defines.
const OPENRESTY_SYMBOLS: [&::core::ffi::CStr; 2] =
    [c"ngx_is_privileged_agent", c"ngx_posted_delayed_events"];

/// Says why the module must not run in this process, if so.
pub(crate) fn check_core() -> Result<(), &'static str> {
    let built_for_openresty = shim::cbr_built_for_openresty != 0;
    let runs_in_openresty = OPENRESTY_SYMBOLS.iter().any(|symbol| {
        // SAFETY: dlsym() only looks the name up; nothing is done with the address (invariant 7).
        !unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }.is_null()
    });
    match (built_for_openresty, runs_in_openresty) {
        (false, true) => Err(
            "this ngx_http_rust_module.so was built for stock nginx, and this is OpenResty: \
             build it with \"make build NGINX=<this binary> NGINX_SOURCE_DIR=<its source>\"",
        ),
        (true, false) => Err(
            "this ngx_http_rust_module.so was built for OpenResty, and this is stock nginx: \
             build it with \"make build NGINX=<this binary> NGINX_SOURCE_DIR=<its source>\"",
        ),
        _ => Ok(()),
    }
}
