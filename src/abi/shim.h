/*
 * What Rust must not read or write by itself: bitfields, whose place bindgen
 * gets wrong in some versions of nginx, nginx's macros and inline functions,
 * and fields whose type changed between versions.  And the layout of every
 * field that Rust does touch, for layout.rs to compare.
 */

#ifndef CBR_SHIM_H
#define CBR_SHIM_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_http.h>

/*
 * OpenResty's core patches change the layout of nginx's structures without a
 * change of nginx's version or of the module signature.
 */
#if defined(HAVE_SOCKET_CLOEXEC_PATCH) || defined(HAVE_PRIVILEGED_PROCESS_PATCH) \
    || defined(HAVE_NGX_UPSTREAM_TIMEOUT_FIELDS)                               \
    || defined(NGX_HTTP_OPENRESTY_LUA_SUBREQUEST)
enum { cbr_built_for_openresty = 1 };
#else
enum { cbr_built_for_openresty = 0 };
#endif

/* requests */
ngx_uint_t cbr_request_header_only(const ngx_http_request_t *r);
ngx_connection_t *cbr_request_set_log(ngx_http_request_t *r);
ngx_int_t cbr_request_watch_client(ngx_http_request_t *r,
    ngx_http_event_handler_pt handler);
ngx_int_t cbr_request_wait(ngx_http_request_t *r,
    ngx_http_event_handler_pt handler);
void cbr_request_post_frames(ngx_http_request_t *r);
ngx_uint_t cbr_request_client_gone(const ngx_http_request_t *r);
ngx_uint_t cbr_request_has_error_page(ngx_http_request_t *r, ngx_uint_t status);
ngx_int_t cbr_request_variable(ngx_http_request_t *r, const u_char *name,
    size_t len, ngx_str_t *value);

ngx_int_t cbr_request_set_variable(ngx_http_request_t *r, const u_char *name,
    size_t len, const u_char *value, size_t value_len);

/* header lines of requests */
ngx_int_t cbr_headers_in_remove(ngx_http_request_t *r, const ngx_str_t *names,
    ngx_uint_t n);

/* request bodies */
ngx_int_t cbr_body_open(ngx_http_request_t *r, ngx_chain_t **saved);
ngx_int_t cbr_body_next(ngx_http_request_t *r, ngx_chain_t **saved,
    ngx_buf_t **piece);
size_t cbr_body_piece_size(const ngx_buf_t *b);
ngx_int_t cbr_body_piece_copy(ngx_buf_t *b, u_char *to,
    size_t size);
void cbr_body_piece_done(ngx_http_request_t *r, ngx_buf_t *b);
void cbr_body_pause(ngx_http_request_t *r);
ngx_int_t cbr_body_set(ngx_http_request_t *r, const u_char *body, size_t len,
    const u_char *type, size_t type_len);
ngx_int_t cbr_body_unset(ngx_http_request_t *r);
ngx_uint_t cbr_body_is_unread(const ngx_http_request_t *r);
ngx_int_t cbr_body_forget(ngx_http_request_t *r);

/* other locations */
ngx_int_t cbr_uri_parse(ngx_http_request_t *r, ngx_str_t *uri, ngx_str_t *args);

/* subrequests */
ngx_int_t cbr_subrequest(ngx_http_request_t *r, const u_char *uri, size_t len,
    const u_char *method, size_t method_len,
    ngx_http_post_subrequest_pt handler, void *data, ngx_http_request_t **sr);
void cbr_subrequest_fail(ngx_http_request_t *sr);
ngx_uint_t cbr_subrequest_ends(const ngx_http_request_t *sr, ngx_int_t rc);
void cbr_subrequest_leave(ngx_http_request_t *sr);
ngx_uint_t cbr_subrequest_status(const ngx_http_request_t *sr);
void cbr_subrequest_body(const ngx_http_request_t *sr, ngx_str_t *body);

/* responses */
ngx_int_t cbr_response_header(ngx_http_request_t *r, const u_char *name,
    size_t name_len, const u_char *value, size_t value_len);
ngx_int_t cbr_body_discard(ngx_http_request_t *r);
ngx_int_t cbr_response_set_type(ngx_http_request_t *r);
ngx_int_t cbr_response_send(ngx_http_request_t *r, ngx_buf_t *b,
    const u_char *body, size_t len);

ngx_int_t cbr_stream_send_head(ngx_http_request_t *r);
ngx_int_t cbr_stream_write(ngx_http_request_t *r, ngx_buf_t *b, size_t len);
ngx_int_t cbr_stream_flush(ngx_http_request_t *r, ngx_buf_t *b,
    ngx_uint_t first, ngx_http_event_handler_pt handler);
void cbr_stream_stop_timer(ngx_http_request_t *r);

/* events */
ngx_msec_t cbr_now(void);
void cbr_event_arm(ngx_event_t *ev, ngx_msec_t delay);
void cbr_event_disarm(ngx_event_t *ev);
void cbr_event_post_next(ngx_event_t *ev);
void cbr_event_unpost(ngx_event_t *ev);
void cbr_event_set_cancelable(ngx_event_t *ev, ngx_uint_t cancelable);
ngx_uint_t cbr_connection_closes(ngx_connection_t *c);
ngx_connection_t *cbr_connection_watch(int fd, ngx_log_t *log,
    ngx_event_handler_pt handler);
void cbr_connection_set_log(ngx_connection_t *c, ngx_log_t *log);

/* configuration */
void cbr_location_set_handler(ngx_conf_t *cf, ngx_http_handler_pt handler);
ngx_uint_t cbr_location_is_nameless(ngx_conf_t *cf);
void cbr_location_inherit_handler(ngx_conf_t *cf, ngx_http_handler_pt handler);
ngx_int_t cbr_compile_value(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value);
ngx_int_t cbr_conf_source(ngx_conf_t *cf, size_t most, ngx_str_t *source);
u_char *cbr_conf_copy(ngx_conf_t *cf, const u_char *text, size_t len);
ngx_msec_t cbr_timer_resolution(ngx_cycle_t *cycle);
ngx_int_t cbr_worker_processes(volatile ngx_cycle_t *cycle);

/* variables */
ngx_int_t cbr_variable_add(ngx_conf_t *cf, const u_char *name, size_t len,
    ngx_http_get_variable_pt get);
ngx_uint_t cbr_variable_is_used(ngx_cycle_t *cycle, const u_char *name,
    size_t len);
ngx_uint_t cbr_modules_ask_by_name(const ngx_cycle_t *cycle);
void cbr_variable_set(ngx_http_variable_value_t *v, const u_char *data,
    size_t len);
void cbr_variable_set_not_found(ngx_http_variable_value_t *v);

/* shared memory */
ngx_shm_zone_t *cbr_zone_add(ngx_conf_t *cf, const u_char *name, size_t len,
    size_t size, void *tag, ngx_shm_zone_init_pt init);
ngx_str_t cbr_zone_name(const ngx_shm_zone_t *zone);
ngx_uint_t cbr_zone_exists(const ngx_shm_zone_t *zone);
ngx_slab_pool_t *cbr_zone_pool(const ngx_shm_zone_t *zone);
size_t cbr_slab_size(const ngx_slab_pool_t *pool);
ngx_str_t cbr_slab_room(const ngx_slab_pool_t *pool);
void *cbr_slab_data(const ngx_slab_pool_t *pool);
void cbr_slab_set_data(ngx_slab_pool_t *pool, void *data);
void cbr_slab_lock(ngx_slab_pool_t *pool);
void cbr_slab_unlock(ngx_slab_pool_t *pool);

/* the layout, as the C compiler sees it, of what Rust touches: see layout.rs */
#define CBR_LAYOUT(id, type, field)                                            \
    enum {                                                                     \
        cbr_offset_##id = offsetof(type, field),                               \
        cbr_size_##id = sizeof(((type *) 0)->field)                            \
    }

CBR_LAYOUT(request_connection, ngx_http_request_t, connection);
CBR_LAYOUT(request_read_event_handler, ngx_http_request_t, read_event_handler);
CBR_LAYOUT(request_loc_conf, ngx_http_request_t, loc_conf);
CBR_LAYOUT(request_pool, ngx_http_request_t, pool);
CBR_LAYOUT(request_main, ngx_http_request_t, main);
CBR_LAYOUT(request_cleanup, ngx_http_request_t, cleanup);
CBR_LAYOUT(request_uri, ngx_http_request_t, uri);
CBR_LAYOUT(request_args, ngx_http_request_t, args);
CBR_LAYOUT(request_method_name, ngx_http_request_t, method_name);
CBR_LAYOUT(request_headers, ngx_http_request_t, headers_in.headers);
CBR_LAYOUT(response_headers, ngx_http_request_t, headers_out.headers);
CBR_LAYOUT(response_status, ngx_http_request_t, headers_out.status);
CBR_LAYOUT(response_content_length, ngx_http_request_t,
           headers_out.content_length_n);
CBR_LAYOUT(response_content_type, ngx_http_request_t, headers_out.content_type);
CBR_LAYOUT(response_content_type_len, ngx_http_request_t,
           headers_out.content_type_len);
CBR_LAYOUT(response_content_type_lowcase, ngx_http_request_t,
           headers_out.content_type_lowcase);
CBR_LAYOUT(connection_fd, ngx_connection_t, fd);
CBR_LAYOUT(connection_log, ngx_connection_t, log);
CBR_LAYOUT(connection_addr_text, ngx_connection_t, addr_text);
CBR_LAYOUT(event_data, ngx_event_t, data);
CBR_LAYOUT(event_handler, ngx_event_t, handler);
CBR_LAYOUT(event_log, ngx_event_t, log);
CBR_LAYOUT(log_level, ngx_log_t, log_level);
CBR_LAYOUT(cleanup_handler, ngx_http_cleanup_t, handler);
CBR_LAYOUT(cleanup_data, ngx_http_cleanup_t, data);
CBR_LAYOUT(cleanup_next, ngx_http_cleanup_t, next);
CBR_LAYOUT(pool_cleanup_handler, ngx_pool_cleanup_t, handler);
CBR_LAYOUT(pool_cleanup_next, ngx_pool_cleanup_t, next);
CBR_LAYOUT(pool_cleanup, ngx_pool_t, cleanup);
CBR_LAYOUT(pool_cleanup_data, ngx_pool_cleanup_t, data);
CBR_LAYOUT(buf_start, ngx_buf_t, start);
CBR_LAYOUT(list_part, ngx_list_t, part);
CBR_LAYOUT(list_part_elts, ngx_list_part_t, elts);
CBR_LAYOUT(list_part_nelts, ngx_list_part_t, nelts);
CBR_LAYOUT(list_part_next, ngx_list_part_t, next);
CBR_LAYOUT(header_hash, ngx_table_elt_t, hash);
CBR_LAYOUT(header_key, ngx_table_elt_t, key);
CBR_LAYOUT(header_value, ngx_table_elt_t, value);
CBR_LAYOUT(conf_args, ngx_conf_t, args);
CBR_LAYOUT(conf_pool, ngx_conf_t, pool);
CBR_LAYOUT(conf_log, ngx_conf_t, log);
CBR_LAYOUT(array_elts, ngx_array_t, elts);
CBR_LAYOUT(array_nelts, ngx_array_t, nelts);
CBR_LAYOUT(cycle_log, ngx_cycle_t, log);
CBR_LAYOUT(module_ctx_index, ngx_module_t, ctx_index);
CBR_LAYOUT(complex_value_value, ngx_http_complex_value_t, value);
CBR_LAYOUT(complex_value_lengths, ngx_http_complex_value_t, lengths);

/* and of the whole structures that Rust itself allocates */
#define CBR_SIZE(id, type)  enum { cbr_sizeof_##id = sizeof(type) }

CBR_SIZE(event, ngx_event_t);
CBR_SIZE(connection, ngx_connection_t);
CBR_SIZE(buf, ngx_buf_t);
CBR_SIZE(cleanup, ngx_http_cleanup_t);
CBR_SIZE(header, ngx_table_elt_t);
CBR_SIZE(complex_value, ngx_http_complex_value_t);
CBR_SIZE(command, ngx_command_t);
CBR_SIZE(module, ngx_module_t);
CBR_SIZE(http_module, ngx_http_module_t);

#endif /* CBR_SHIM_H */
