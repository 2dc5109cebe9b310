//! The layout guard: every field that Rust touches lies where the C compiler put it.
//!
//! `ngx`'s bindings come from bindgen with its layout tests turned off. The offsets and sizes
//! here are evaluated by the C front end from the same headers (`CBR_LAYOUT` in `shim.h`) and
//! compared with Rust's at compile time. A field that differs stops the build and is named.
//! Bitfields are not compared because Rust touches none: they go through the shim.

/// Stops the build if a field's offset or size in Rust is not the one given.
///
/// `layout_of!(Type, field.path, offset, size)`
#[macro_export]
#[doc(hidden)]
macro_rules! layout_of {
    ($type:ty, $($field:ident).+, $offset:expr, $size:expr) => {
        const _: () = {
            // Only the type of what the function returns matters; it is never called.
            const fn size<T, F>(_: fn(*const T) -> *const F) -> usize {
                ::core::mem::size_of::<F>()
            }
            assert!(
                ::core::mem::offset_of!($type, $($field).+) == $offset as usize,
                concat!(
                    stringify!($type), ".", stringify!($($field).+),
                    ": its offset in the Rust bindings is not the C compiler's"
                )
            );
            assert!(
                size::<$type, _>(|p| {
                    // SAFETY: never called (invariant 7: this check is how it is kept).
                    unsafe { &raw const (*p).$($field).+ }
                }) == $size as usize,
                concat!(
                    stringify!($type), ".", stringify!($($field).+),
                    ": its size in the Rust bindings is not the C compiler's"
                )
            );
        };
    };
}

use super::shim::*;
use nginx_sys::*;

layout_of!(
    ngx_http_request_t,
    connection,
    cbr_offset_request_connection,
    cbr_size_request_connection
);
layout_of!(
    ngx_http_request_t,
    read_event_handler,
    cbr_offset_request_read_event_handler,
    cbr_size_request_read_event_handler
);
layout_of!(
    ngx_http_request_t,
    loc_conf,
    cbr_offset_request_loc_conf,
    cbr_size_request_loc_conf
);
layout_of!(
    ngx_http_request_t,
    pool,
    cbr_offset_request_pool,
    cbr_size_request_pool
);
layout_of!(
    ngx_http_request_t,
    main,
    cbr_offset_request_main,
    cbr_size_request_main
);
layout_of!(
    ngx_http_request_t,
    cleanup,
    cbr_offset_request_cleanup,
    cbr_size_request_cleanup
);
layout_of!(
    ngx_http_request_t,
    uri,
    cbr_offset_request_uri,
    cbr_size_request_uri
);
layout_of!(
    ngx_http_request_t,
    args,
    cbr_offset_request_args,
    cbr_size_request_args
);
layout_of!(
    ngx_http_request_t,
    method_name,
    cbr_offset_request_method_name,
    cbr_size_request_method_name
);
layout_of!(
    ngx_http_request_t,
    headers_in.headers,
    cbr_offset_request_headers,
    cbr_size_request_headers
);
layout_of!(
    ngx_http_request_t,
    headers_out.headers,
    cbr_offset_response_headers,
    cbr_size_response_headers
);
layout_of!(
    ngx_http_request_t,
    headers_out.status,
    cbr_offset_response_status,
    cbr_size_response_status
);
layout_of!(
    ngx_http_request_t,
    headers_out.content_length_n,
    cbr_offset_response_content_length,
    cbr_size_response_content_length
);
layout_of!(
    ngx_http_request_t,
    headers_out.content_type,
    cbr_offset_response_content_type,
    cbr_size_response_content_type
);
layout_of!(
    ngx_http_request_t,
    headers_out.content_type_len,
    cbr_offset_response_content_type_len,
    cbr_size_response_content_type_len
);
layout_of!(
    ngx_http_request_t,
    headers_out.content_type_lowcase,
    cbr_offset_response_content_type_lowcase,
    cbr_size_response_content_type_lowcase
);
layout_of!(
    ngx_connection_t,
    fd,
    cbr_offset_connection_fd,
    cbr_size_connection_fd
);
layout_of!(
    ngx_connection_t,
    log,
    cbr_offset_connection_log,
    cbr_size_connection_log
);
layout_of!(
    ngx_connection_t,
    addr_text,
    cbr_offset_connection_addr_text,
    cbr_size_connection_addr_text
);
layout_of!(
    ngx_event_t,
    data,
    cbr_offset_event_data,
    cbr_size_event_data
);
layout_of!(
    ngx_event_t,
    handler,
    cbr_offset_event_handler,
    cbr_size_event_handler
);
layout_of!(ngx_event_t, log, cbr_offset_event_log, cbr_size_event_log);
layout_of!(
    ngx_log_t,
    log_level,
    cbr_offset_log_level,
    cbr_size_log_level
);
layout_of!(
    ngx_http_cleanup_t,
    handler,
    cbr_offset_cleanup_handler,
    cbr_size_cleanup_handler
);
layout_of!(
    ngx_http_cleanup_t,
    data,
    cbr_offset_cleanup_data,
    cbr_size_cleanup_data
);
layout_of!(
    ngx_http_cleanup_t,
    next,
    cbr_offset_cleanup_next,
    cbr_size_cleanup_next
);
layout_of!(
    ngx_pool_cleanup_t,
    handler,
    cbr_offset_pool_cleanup_handler,
    cbr_size_pool_cleanup_handler
);
layout_of!(
    ngx_pool_cleanup_t,
    data,
    cbr_offset_pool_cleanup_data,
    cbr_size_pool_cleanup_data
);
layout_of!(
    ngx_pool_cleanup_t,
    next,
    cbr_offset_pool_cleanup_next,
    cbr_size_pool_cleanup_next
);
layout_of!(
    ngx_pool_t,
    cleanup,
    cbr_offset_pool_cleanup,
    cbr_size_pool_cleanup
);
layout_of!(ngx_buf_t, start, cbr_offset_buf_start, cbr_size_buf_start);
layout_of!(ngx_list_t, part, cbr_offset_list_part, cbr_size_list_part);
layout_of!(
    ngx_list_part_t,
    elts,
    cbr_offset_list_part_elts,
    cbr_size_list_part_elts
);
layout_of!(
    ngx_list_part_t,
    nelts,
    cbr_offset_list_part_nelts,
    cbr_size_list_part_nelts
);
layout_of!(
    ngx_list_part_t,
    next,
    cbr_offset_list_part_next,
    cbr_size_list_part_next
);
layout_of!(
    ngx_table_elt_t,
    hash,
    cbr_offset_header_hash,
    cbr_size_header_hash
);
layout_of!(
    ngx_table_elt_t,
    key,
    cbr_offset_header_key,
    cbr_size_header_key
);
layout_of!(
    ngx_table_elt_t,
    value,
    cbr_offset_header_value,
    cbr_size_header_value
);
layout_of!(ngx_conf_t, args, cbr_offset_conf_args, cbr_size_conf_args);
layout_of!(ngx_conf_t, pool, cbr_offset_conf_pool, cbr_size_conf_pool);
layout_of!(ngx_conf_t, log, cbr_offset_conf_log, cbr_size_conf_log);
layout_of!(
    ngx_array_t,
    elts,
    cbr_offset_array_elts,
    cbr_size_array_elts
);
layout_of!(
    ngx_array_t,
    nelts,
    cbr_offset_array_nelts,
    cbr_size_array_nelts
);
layout_of!(ngx_cycle_t, log, cbr_offset_cycle_log, cbr_size_cycle_log);
layout_of!(
    ngx_module_t,
    ctx_index,
    cbr_offset_module_ctx_index,
    cbr_size_module_ctx_index
);
layout_of!(
    ngx_http_complex_value_t,
    value,
    cbr_offset_complex_value_value,
    cbr_size_complex_value_value
);
layout_of!(
    ngx_http_complex_value_t,
    lengths,
    cbr_offset_complex_value_lengths,
    cbr_size_complex_value_lengths
);

/// Stops the build if a structure that Rust allocates is not as large as in C.
macro_rules! size_of {
    ($type:ty, $size:expr) => {
        const _: () = assert!(
            ::core::mem::size_of::<$type>() == $size as usize,
            concat!(
                stringify!($type),
                ": its size in the Rust bindings is not the C compiler's"
            )
        );
    };
}

size_of!(ngx_event_t, cbr_sizeof_event);
size_of!(ngx_connection_t, cbr_sizeof_connection);
size_of!(ngx_buf_t, cbr_sizeof_buf);
size_of!(ngx_http_cleanup_t, cbr_sizeof_cleanup);
size_of!(ngx_table_elt_t, cbr_sizeof_header);
size_of!(ngx_http_complex_value_t, cbr_sizeof_complex_value);
size_of!(ngx_command_t, cbr_sizeof_command);
size_of!(ngx_module_t, cbr_sizeof_module);
size_of!(ngx_http_module_t, cbr_sizeof_http_module);
