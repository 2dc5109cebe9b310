#include "shim.h"


ngx_uint_t
cbr_request_header_only(const ngx_http_request_t *r)
{
    return r->header_only;
}


/* error log lines name the request that current_request points to */

ngx_connection_t *
cbr_request_set_log(ngx_http_request_t *r)
{
    ngx_http_set_log_request(r->connection->log, r);

    return r->connection;
}


/*
 * From here on a client that goes away is noticed, as limit_req does it while
 * it delays a request: a FIN that came with the request has set read->ready
 * already, and no further event would tell of it.  Events of a connection go
 * to one request of those that it has.
 */

ngx_int_t
cbr_request_watch_client(ngx_http_request_t *r,
    ngx_http_event_handler_pt handler)
{
    ngx_event_t  *rev;

    if (r->read_event_handler == handler || r->connection->data != r) {
        return NGX_OK;
    }

    rev = r->connection->read;

    if (rev->ready) {
        ngx_post_event(rev, &ngx_posted_events);

    } else if (!rev->active && ngx_handle_read_event(rev, 0) != NGX_OK) {
        /* one that is active and not ready needs nothing, whatever the method */
        return NGX_ERROR;
    }

    r->read_event_handler = handler;

    return NGX_OK;
}


/* the request waits: it is held until it is finalized once more */

ngx_int_t
cbr_request_wait(ngx_http_request_t *r, ngx_http_event_handler_pt handler)
{
    ngx_event_t  *rev;

    r->main->count++;

    if (handler == NULL) {
        return NGX_OK;
    }

    rev = r->connection->read;

    if (rev->active && !rev->ready) {

        /* as a rule: without a call there is no register to save */

        if (r->connection->data == r) {
            r->read_event_handler = handler;
        }

        return NGX_OK;
    }

    if (cbr_request_watch_client(r, handler) != NGX_OK) {
        r->main->count--;
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * An HTTP/2 stream that is terminated stays until nginx's frames for it have
 * been sent, and in a turn of our own nobody sends them.
 */

void
cbr_request_post_frames(ngx_http_request_t *r)
{
#if (NGX_HTTP_V2)
    if (r->stream) {
        ngx_post_event(r->stream->connection->connection->write,
                       &ngx_posted_events);
    }
#endif
}


ngx_uint_t
cbr_request_client_gone(const ngx_http_request_t *r)
{
    return r->connection->error;
}


ngx_uint_t
cbr_request_has_error_page(ngx_http_request_t *r, ngx_uint_t status)
{
    ngx_uint_t                 i;
    ngx_http_err_page_t       *page;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (clcf->error_pages == NULL) {
        return 0;
    }

    page = clcf->error_pages->elts;

    for (i = 0; i < clcf->error_pages->nelts; i++) {
        if (page[i].status == (ngx_int_t) status) {
            return 1;
        }
    }

    return 0;
}


/* NGX_OK: found; NGX_DECLINED: no such variable, or it has no value */

ngx_int_t
cbr_request_variable(ngx_http_request_t *r, const u_char *name, size_t len,
    ngx_str_t *value)
{
    ngx_str_t                   lowcase;
    ngx_uint_t                  key;
    ngx_http_variable_value_t  *vv;

    /* prefix variables keep a pointer to the name: it must live as long as r */

    lowcase.len = len;
    lowcase.data = ngx_pnalloc(r->pool, len);
    if (lowcase.data == NULL) {
        return NGX_ERROR;
    }

    key = ngx_hash_strlow(lowcase.data, (u_char *) name, len);

    vv = ngx_http_get_variable(r, &lowcase, key);
    if (vv == NULL) {
        return NGX_ERROR;
    }

    if (vv->not_found || !vv->valid) {
        return NGX_DECLINED;
    }

    value->len = vv->len;
    value->data = vv->data;

    return NGX_OK;
}


/* NGX_DECLINED: no such variable, or it cannot be set */

ngx_int_t
cbr_request_set_variable(ngx_http_request_t *r, const u_char *name, size_t len,
    const u_char *value, size_t value_len)
{
    u_char                      lowcase[256];
    ngx_uint_t                  key;
    ngx_http_variable_t        *v;
    ngx_http_variable_value_t  *vv, set;
    ngx_http_core_main_conf_t  *cmcf;

    if (len > sizeof(lowcase)) {
        return NGX_DECLINED;
    }

    key = ngx_hash_strlow(lowcase, (u_char *) name, len);

    cmcf = ngx_http_get_module_main_conf(r, ngx_http_core_module);
    v = ngx_hash_find(&cmcf->variables_hash, key, lowcase, len);

    if (v == NULL || !(v->flags & NGX_HTTP_VAR_CHANGEABLE)) {
        return NGX_DECLINED;
    }

    if (v->set_handler) {
        vv = &set;

    } else if (v->flags & NGX_HTTP_VAR_INDEXED) {
        vv = &r->variables[v->index];

    } else {
        return NGX_DECLINED;
    }

    ngx_memzero(vv, sizeof(ngx_http_variable_value_t));

    vv->valid = 1;
    vv->len = value_len;
    vv->data = (u_char *) value;

    if (v->set_handler) {
        v->set_handler(r, vv, v->data);
    }

    return NGX_OK;
}


static ngx_uint_t
cbr_method(const ngx_str_t *name)
{
    ngx_uint_t  i;

    static const struct {
        ngx_str_t   name;
        ngx_uint_t  method;
    } methods[] = {
        { ngx_string("GET"), NGX_HTTP_GET },
        { ngx_string("HEAD"), NGX_HTTP_HEAD },
        { ngx_string("POST"), NGX_HTTP_POST },
        { ngx_string("PUT"), NGX_HTTP_PUT },
        { ngx_string("DELETE"), NGX_HTTP_DELETE },
        { ngx_string("MKCOL"), NGX_HTTP_MKCOL },
        { ngx_string("COPY"), NGX_HTTP_COPY },
        { ngx_string("MOVE"), NGX_HTTP_MOVE },
        { ngx_string("OPTIONS"), NGX_HTTP_OPTIONS },
        { ngx_string("PROPFIND"), NGX_HTTP_PROPFIND },
        { ngx_string("PROPPATCH"), NGX_HTTP_PROPPATCH },
        { ngx_string("LOCK"), NGX_HTTP_LOCK },
        { ngx_string("UNLOCK"), NGX_HTTP_UNLOCK },
        { ngx_string("PATCH"), NGX_HTTP_PATCH },
        { ngx_string("TRACE"), NGX_HTTP_TRACE }
    };

    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (methods[i].name.len == name->len
            && ngx_strncmp(methods[i].name.data, name->data, name->len) == 0)
        {
            return methods[i].method;
        }
    }

    return NGX_HTTP_UNKNOWN;
}


static void
cbr_subrequest_unlink(ngx_http_request_t *sr)
{
    ngx_http_postponed_request_t  **ppr;

    for (ppr = &sr->parent->postponed; *ppr; ppr = &(*ppr)->next) {

        if ((*ppr)->request == sr) {
            *ppr = (*ppr)->next;
            break;
        }
    }
}


static void
cbr_subrequest_failed(ngx_http_request_t *sr)
{
    ngx_http_finalize_request(sr, NGX_ERROR);
}


/* one that has been started, and will not do anything, is to end with an error */

void
cbr_subrequest_fail(ngx_http_request_t *sr)
{
    sr->write_event_handler = cbr_subrequest_failed;
}


/*
 * Starts a subrequest without a body whose answer is kept in memory; "handler"
 * is called when it ends.  NGX_DECLINED: an unsafe or malformed URI.
 */

ngx_int_t
cbr_subrequest(ngx_http_request_t *r, const u_char *uri, size_t len,
    const u_char *method, size_t method_len,
    ngx_http_post_subrequest_pt handler, void *data, ngx_http_request_t **sr)
{
    void                        *active;
    ngx_int_t                    rc;
    ngx_str_t                    path, args, name;
    ngx_http_post_subrequest_t  *ps;

    name.len = method_len;
    name.data = ngx_pnalloc(r->pool, method_len);
    path.len = len;
    path.data = ngx_pnalloc(r->pool, len);
    ps = ngx_palloc(r->pool, sizeof(ngx_http_post_subrequest_t));

    if (name.data == NULL || path.data == NULL || ps == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(name.data, method, method_len);
    ngx_memcpy(path.data, uri, len);

    ps->handler = handler;
    ps->data = data;

    rc = cbr_uri_parse(r, &path, &args);

    if (rc != NGX_OK) {
        return rc;
    }

    *sr = NULL;
    active = r->connection->data;

    rc = ngx_http_subrequest(r, &path, &args, sr, ps,
                             NGX_HTTP_SUBREQUEST_IN_MEMORY
                             |NGX_HTTP_SUBREQUEST_WAITED);

    if (rc != NGX_OK) {

        /*
         * nginx means to terminate the request: where it runs out of memory it
         * may leave a subrequest behind that never runs, for all to wait for
         */

        r->connection->data = active;

        if (*sr) {
            cbr_subrequest_unlink(*sr);
            r->main->count--;
        }

        return rc;
    }

    (*sr)->method = cbr_method(&name);
    (*sr)->method_name = name;

    if (cbr_body_unset(*sr) != NGX_OK) {
        cbr_subrequest_fail(*sr);
    }

    return NGX_OK;
}


/*
 * Whether a subrequest that is finalized with "rc" has its answer: an error
 * code makes nginx send an error page first, and what is read from a file by
 * other threads comes later; nginx finalizes once more then.
 */

ngx_uint_t
cbr_subrequest_ends(const ngx_http_request_t *sr, ngx_int_t rc)
{
    if (rc == NGX_ERROR) {
        return 1;
    }

    if (sr->buffered || sr->postponed) {
        return 0;
    }

    return rc < NGX_HTTP_SPECIAL_RESPONSE || sr->header_sent;
}


/*
 * Subrequests end in the order in which they began: one that would be too early
 * waits until its parent has something to send, which an answer without a body
 * never has.  What is kept in memory has no place among the parts of a page, so
 * one of ours leaves the order, and the next of them takes its place there.
 */

void
cbr_subrequest_leave(ngx_http_request_t *sr)
{
    ngx_connection_t              *c;
    ngx_http_request_t            *pr;
    ngx_http_postponed_request_t  *next;

    c = sr->connection;
    pr = sr->parent;

    cbr_subrequest_unlink(sr);

    if (c->data == sr || c->data == pr) {
        next = pr->postponed;

        if (next == NULL
            || next->request == NULL
            || !next->request->subrequest_in_memory)
        {
            /* nginx goes on with the parent */

            c->data = sr;
            return;
        }

        c->data = next->request;
    }

    /* it ends, and nothing else comes of it */

    sr->background = 1;
    sr->write_event_handler = ngx_http_request_empty_handler;
}


ngx_uint_t
cbr_subrequest_status(const ngx_http_request_t *sr)
{
    return sr->headers_out.status;
}


void
cbr_subrequest_body(const ngx_http_request_t *sr, ngx_str_t *body)
{
    ngx_buf_t  *b;

    ngx_str_null(body);

    if (sr->out) {
        b = sr->out->buf;
        body->len = b->last - b->pos;
        body->data = b->pos;
    }
}


static void
cbr_body_opened(ngx_http_request_t *r)
{
    /* cbr_body_open() goes on */

    (void) r;
}


/*
 * Begins to read the body, as it comes where nobody has read it, or goes on
 * where a reading was given up.  One that has
 * been read already, or came whole with the header, is left as it is for
 * whoever may want it after us: "saved" walks it.  Returns NGX_OK, or the
 * status that the request ends with.
 */

ngx_int_t
cbr_body_open(ngx_http_request_t *r, ngx_chain_t **saved)
{
    ngx_int_t  rc;

    *saved = NULL;

    if (r->reading_body && r->request_body_no_buffering) {
        return NGX_OK;
    }

    if (r == r->main && r->request_body == NULL && !r->discard_body) {
        r->request_body_no_buffering = 1;
    }

    rc = ngx_http_read_client_request_body(r, cbr_body_opened);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {

        /* what is left of the body is no request, whatever the answer is */

        r->keepalive = 0;

        return rc;
    }

    if (rc == NGX_AGAIN && !r->reading_body) {

        /*
         * HTTP/2, and all of the body has come: nginx leaves it to an event to
         * pass it through the filters, but cbr_body_next() can do so as well
         */

        r->request_body_no_buffering = 1;
        r->reading_body = 1;
        r->read_event_handler = ngx_http_block_reading;
    }

    /* the reference was for a handler that finalizes the request */

    r->main->count--;

    if (r->request_body && !r->reading_body) {
        *saved = r->request_body->bufs;
    }

    return NGX_OK;
}


/*
 * NGX_OK: a piece, or NULL at the body's end; NGX_AGAIN: the rest has not
 * arrived yet; otherwise the status that the request ends with.
 */

ngx_int_t
cbr_body_next(ngx_http_request_t *r, ngx_chain_t **saved, ngx_buf_t **piece)
{
    ngx_int_t                 rc;
    ngx_chain_t              *cl;
    ngx_http_request_body_t  *rb;

    *piece = NULL;

    while (*saved) {
        cl = *saved;
        *saved = cl->next;

        if (!ngx_buf_special(cl->buf)) {
            *piece = cl->buf;
            return NGX_OK;
        }
    }

    if (!r->request_body_no_buffering) {
        return NGX_OK;
    }

    rb = r->request_body;

    for ( ;; ) {

        while (rb->bufs) {
            cl = rb->bufs;
            *piece = cl->buf;

            rb->bufs = cl->next;
            ngx_free_chain(r->pool, cl);

            if (!ngx_buf_special(*piece)) {
                cbr_body_pause(r);
                return NGX_OK;
            }

            *piece = NULL;
        }

        if (!r->reading_body) {
            return NGX_OK;
        }

        rc = ngx_http_read_unbuffered_request_body(r);

        if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
            return rc;
        }

        if (rc == NGX_AGAIN && rb->bufs == NULL) {
            return NGX_AGAIN;
        }
    }
}


size_t
cbr_body_piece_size(const ngx_buf_t *b)
{
    return ngx_buf_size(b);
}


ngx_int_t
cbr_body_piece_copy(ngx_buf_t *b, u_char *to, size_t size)
{
    if (ngx_buf_in_memory(b)) {
        ngx_memcpy(to, b->pos, size);
        return NGX_OK;
    }

    if (ngx_read_file(b->file, to, size, b->file_pos)
        != (ssize_t) size)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * nginx arms client_body_timeout whenever it has read all that there was: it is
 * for a client that is waited for, not for a handler that is busy.
 */

void
cbr_body_pause(ngx_http_request_t *r)
{
    ngx_event_t  *rev;

    rev = r->connection->read;

    if (r->reading_body && rev->timer_set) {
        ngx_del_timer(rev);
    }
}


/* lets nginx use the buffer again; a saved body's is left alone */

void
cbr_body_piece_done(ngx_http_request_t *r, ngx_buf_t *b)
{
    if (r->request_body_no_buffering) {
        b->pos = b->last;
    }
}


/*
 * Adds a response header whose name and value stay where they are until the
 * request ends.  A header that nginx keeps a pointer to replaces nginx's own.
 */

ngx_int_t
cbr_response_header(ngx_http_request_t *r, const u_char *name, size_t name_len,
    const u_char *value, size_t value_len)
{
    ngx_uint_t         i;
    ngx_table_elt_t   *h, **known;

    struct {
        ngx_str_t          name;
        ngx_table_elt_t  **header;
    } headers[] = {
        { ngx_string("Server"), &r->headers_out.server },
        { ngx_string("Date"), &r->headers_out.date },
        { ngx_string("Location"), &r->headers_out.location },
        { ngx_string("Refresh"), &r->headers_out.refresh },
        { ngx_string("Last-Modified"), &r->headers_out.last_modified },
        { ngx_string("Content-Range"), &r->headers_out.content_range },
        { ngx_string("Accept-Ranges"), &r->headers_out.accept_ranges },
        { ngx_string("WWW-Authenticate"), &r->headers_out.www_authenticate },
        { ngx_string("Expires"), &r->headers_out.expires },
        { ngx_string("ETag"), &r->headers_out.etag },
        { ngx_string("Content-Encoding"), &r->headers_out.content_encoding }
    };

    known = NULL;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (headers[i].name.len == name_len
            && ngx_strncasecmp(headers[i].name.data, (u_char *) name, name_len)
               == 0)
        {
            known = headers[i].header;
            break;
        }
    }

    if (known == &r->headers_out.last_modified) {
        r->headers_out.last_modified_time =
                              ngx_parse_http_time((u_char *) value, value_len);
    }

    if (known && *known) {
        (*known)->hash = 0;
    }

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->hash = 1;
    h->key.len = name_len;
    h->key.data = (u_char *) name;
    h->value.len = value_len;
    h->value.data = (u_char *) value;

    if (known) {
        *known = h;
    }

    return NGX_OK;
}


/*
 * As ngx_http_discard_request_body(), without its way where it has nothing to
 * do: most requests have no body.
 */

ngx_int_t
cbr_body_discard(ngx_http_request_t *r)
{
    if (r->headers_in.content_length_n <= 0
        && !r->headers_in.chunked
        && r->headers_in.expect == NULL
#if (NGX_HTTP_V2)
        && r->stream == NULL
#endif
        && !r->connection->read->timer_set)
    {
        return NGX_OK;
    }

    return ngx_http_discard_request_body(r);
}


/*
 * As ngx_http_set_content_type(), without its way where there is no extension
 * to look for.
 */

ngx_int_t
cbr_response_set_type(ngx_http_request_t *r)
{
    ngx_http_core_loc_conf_t  *clcf;

    if (r->exten.len || r->headers_out.content_type.len) {
        return ngx_http_set_content_type(r);
    }

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    r->headers_out.content_type_len = clcf->default_type.len;
    r->headers_out.content_type = clcf->default_type;

    return NGX_OK;
}


/* a connection with a body on it that nobody reads to its end is not kept */

static ngx_inline ngx_int_t
cbr_send_head(ngx_http_request_t *r)
{
    if (r->reading_body) {
        r->keepalive = 0;
    }

    return ngx_http_send_header(r);
}


/* the last of an answer: the end of a main request, without a body or with it */

static ngx_inline ngx_int_t
cbr_send_last(ngx_http_request_t *r, ngx_buf_t *b, const u_char *body,
    size_t len, ngx_uint_t memory, ngx_uint_t last_buf)
{
    ngx_chain_t  out;

    ngx_memzero(b, sizeof(ngx_buf_t));

    b->pos = (u_char *) body;
    b->last = b->pos + len;
    b->start = b->pos;
    b->end = b->last;
    b->memory = memory;
    b->last_buf = last_buf;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/*
 * Sends an answer whose body is whole and stays where it is until the request
 * ends.  The buffer does so too.
 */

ngx_int_t
cbr_response_send(ngx_http_request_t *r, ngx_buf_t *b, const u_char *body,
    size_t len)
{
    ngx_int_t  rc;

    rc = cbr_send_head(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    /* constants in each call: put together they would cost each answer more */

    if (r != r->main) {

        /* a subrequest's end needs no buffer of its own */

        return len ? cbr_send_last(r, b, body, len, 1, 0) : rc;
    }

    if (len == 0) {
        return cbr_send_last(r, b, body, 0, 0, 1);
    }

    return cbr_send_last(r, b, body, len, 1, 1);
}


/*
 * What ngx_current_msec would be if nginx took the time now.  It does so once
 * in each turn of the event loop, and with timer_resolution more rarely still:
 * a wait that started from there could end too early by the age of that time.
 */

ngx_msec_t
cbr_now(void)
{
#if (NGX_HAVE_CLOCK_MONOTONIC)
    struct timespec  ts;

#if defined(CLOCK_MONOTONIC_FAST)
    clock_gettime(CLOCK_MONOTONIC_FAST, &ts);
#else
    clock_gettime(CLOCK_MONOTONIC, &ts);
#endif

    return (ngx_msec_t) ts.tv_sec * 1000 + (ngx_msec_t) ts.tv_nsec / 1000000;

#else

    ngx_time_update();

    return ngx_current_msec;

#endif
}


void
cbr_event_arm(ngx_event_t *ev, ngx_msec_t delay)
{
    /* ngx_add_timer() keeps an old time that differs by less than 300 ms */

    if (ev->timer_set) {
        ngx_del_timer(ev);
    }

    ngx_add_timer(ev, delay);
}


void
cbr_event_disarm(ngx_event_t *ev)
{
    if (ev->timer_set) {
        ngx_del_timer(ev);
    }
}


void
cbr_event_post_next(ngx_event_t *ev)
{
    ngx_post_event(ev, &ngx_posted_next_events);
}


void
cbr_event_unpost(ngx_event_t *ev)
{
    if (ev->posted) {
        ngx_delete_posted_event(ev);
    }
}


void
cbr_event_set_cancelable(ngx_event_t *ev, ngx_uint_t cancelable)
{
    ev->cancelable = cancelable ? 1 : 0;
}


ngx_connection_t *
cbr_connection_watch(int fd, ngx_log_t *log, ngx_event_handler_pt handler)
{
    ngx_connection_t  *c;

    c = ngx_get_connection(fd, log);
    if (c == NULL) {
        return NULL;
    }

    c->read->handler = handler;
    c->read->log = log;
    c->write->log = log;

    /* not a client: neither the shutdown timer nor the exit may complain */
    c->read->channel = 1;

    /* a worker that begins to shut down calls the handlers of what is idle */
    c->idle = 1;

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT) != NGX_OK) {
        ngx_free_connection(c);
        return NULL;
    }

    return c;
}


ngx_uint_t
cbr_connection_closes(ngx_connection_t *c)
{
    ngx_uint_t  closes;

    closes = c->close;
    c->close = 0;

    return closes;
}


/*
 * The body is discarded when the answer ends.  A client that has waited for
 * "100 Continue" until then must not find it within the answer.
 */

ngx_int_t
cbr_stream_send_head(ngx_http_request_t *r)
{
    r->expect_tested = 1;

    return cbr_send_head(r);
}


/*
 * Sends the first "len" bytes of a buffer whose earlier content has been sent.
 */

ngx_int_t
cbr_stream_write(ngx_http_request_t *r, ngx_buf_t *b, size_t len)
{
    ngx_chain_t  out;

    b->pos = b->start;
    b->last = b->start + len;
    b->temporary = 1;
    b->flush = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}


/*
 * NGX_OK: all that was written has been sent.  NGX_AGAIN: "handler" will be
 * called when it is time to try again.  NGX_ERROR: the client is gone, or takes
 * nothing for send_timeout.
 */

ngx_int_t
cbr_stream_flush(ngx_http_request_t *r, ngx_buf_t *b, ngx_uint_t first,
    ngx_http_event_handler_pt handler)
{
    ngx_event_t               *wev;
    ngx_connection_t          *c;
    ngx_http_core_loc_conf_t  *clcf;

    c = r->connection;
    wev = c->write;

    if (first && r == c->data) {

        /* that of another wait on this connection */

        wev->timedout = 0;
    }

    if (wev->timedout && r == c->data) {
        ngx_log_error(NGX_LOG_INFO, c->log, NGX_ETIMEDOUT, "client timed out");
        c->timedout = 1;
        return NGX_ERROR;
    }

    if (c->error) {
        return NGX_ERROR;
    }

    if (!wev->delayed && !r->aio) {

        if ((r->buffered || r->postponed || (r == r->main && c->buffered))
            && ngx_http_output_filter(r, NULL) == NGX_ERROR)
        {
            return NGX_ERROR;
        }

        if (b->pos == b->last
            && !r->buffered
            && !r->postponed
            && !(r == r->main && c->buffered))
        {
            if (wev->timer_set && !wev->delayed) {
                ngx_del_timer(wev);
            }

            r->write_event_handler = ngx_http_request_empty_handler;

            if (r->read_event_handler == handler) {
                r->read_event_handler = ngx_http_block_reading;
            }

            return NGX_OK;
        }
    }

    clcf = ngx_http_get_module_loc_conf(r->main, ngx_http_core_module);

    /* asking once more does not give the client more time */

    if (!wev->delayed && r == c->data && (first || !wev->timer_set)) {
        ngx_add_timer(wev, clcf->send_timeout);
    }

    if (ngx_handle_write_event(wev, clcf->send_lowat) != NGX_OK) {
        return NGX_ERROR;
    }

    r->write_event_handler = handler;

    /* of an HTTP/2 stream that is gone only the read handler is told */

    if (r->stream && r->read_event_handler == ngx_http_block_reading) {
        r->read_event_handler = handler;
    }

    return NGX_AGAIN;
}


/* nobody waits for the client any more, or the client has taken something */

void
cbr_stream_stop_timer(ngx_http_request_t *r)
{
    ngx_event_t  *wev;

    wev = r->connection->write;

    if (wev->timer_set && !wev->delayed && r == r->connection->data) {
        ngx_del_timer(wev);
    }
}


void
cbr_connection_set_log(ngx_connection_t *c, ngx_log_t *log)
{
    c->log = log;
    c->read->log = log;
    c->write->log = log;
}


void
cbr_location_set_handler(ngx_conf_t *cf, ngx_http_handler_pt handler)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = handler;
}


/* the block of an "if" or a limit_except, not a location of its own */

ngx_uint_t
cbr_location_is_nameless(ngx_conf_t *cf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    return clcf->noname;
}


/*
 * The block of a limit_except has a configuration of its own, which nginx asks
 * for a handler; that of an "if" keeps the handler that the location set.
 */

void
cbr_location_inherit_handler(ngx_conf_t *cf, ngx_http_handler_pt handler)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->lmt_excpt && clcf->handler == NULL) {
        clcf->handler = handler;
    }
}


ngx_int_t
cbr_compile_value(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value)
{
    ngx_http_compile_complex_value_t  ccv;

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = text;
    ccv.complex_value = value;

    return ngx_http_compile_complex_value(&ccv);
}


/*
 * The last "most" bytes of the file's text, or all of the "-g" option's, up to
 * the end of the directive that is being read.
 */

ngx_int_t
cbr_conf_source(ngx_conf_t *cf, size_t most, ngx_str_t *source)
{
    off_t       end, start;
    ssize_t     n;
    ngx_buf_t  *b;

    b = cf->conf_file->buffer;

    if (cf->conf_file->file.fd == NGX_INVALID_FILE) {
        source->data = b->start;
        source->len = b->pos - b->start;
        return NGX_OK;
    }

    end = cf->conf_file->file.offset - (b->last - b->pos);
    start = end > (off_t) most ? end - (off_t) most : 0;

    source->len = end - start;
    source->data = ngx_pnalloc(cf->temp_pool, source->len);
    if (source->data == NULL) {
        return NGX_ERROR;
    }

    n = pread(cf->conf_file->file.fd, source->data, source->len, start);

    return n == (ssize_t) source->len ? NGX_OK : NGX_ERROR;
}


/* a copy with a NUL behind it, part of the configuration */

u_char *
cbr_conf_copy(ngx_conf_t *cf, const u_char *text, size_t len)
{
    u_char  *copy;

    copy = ngx_pnalloc(cf->pool, len + 1);
    if (copy == NULL) {
        return NULL;
    }

    *ngx_cpymem(copy, text, len) = '\0';

    return copy;
}


/* 0: not set */

ngx_msec_t
cbr_timer_resolution(ngx_cycle_t *cycle)
{
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    return ccf->timer_resolution == NGX_CONF_UNSET_MSEC ? 0
                                                       : ccf->timer_resolution;
}


/*
 * Splits "uri" into the decoded path, and what follows a '?'.  NGX_DECLINED: it
 * is malformed, or leads out of the root.
 */

ngx_int_t
cbr_uri_parse(ngx_http_request_t *r, ngx_str_t *uri, ngx_str_t *args)
{
    ngx_uint_t  flags;

    ngx_str_null(args);
    flags = NGX_HTTP_LOG_UNSAFE;

    if (uri->len == 0 || uri->data[0] != '/') {
        return NGX_DECLINED;
    }

    if (ngx_http_parse_unsafe_uri(r, uri, args, &flags) != NGX_OK) {
        return NGX_DECLINED;
    }

    /* which it misses in front of a '?' */

    if (uri->len > 2
        && ngx_strncmp(&uri->data[uri->len - 3], "/..", 3) == 0)
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_int_t
cbr_header_in_push(ngx_http_request_t *r, ngx_table_elt_t **header, char *name,
    char *lowcase, ngx_str_t *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_in.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->key.len = ngx_strlen(name);
    h->key.data = (u_char *) name;
    h->lowcase_key = (u_char *) lowcase;
    h->hash = ngx_hash_key(h->lowcase_key, h->key.len);
    h->value = *value;

    *header = h;

    return NGX_OK;
}


/* whatever nginx has kept of header lines that are gone; "name" in lower case */

static void
cbr_header_in_forget(ngx_http_request_t *r, const ngx_str_t *name)
{
    char                       *field;
    ngx_uint_t                  hash;
    ngx_http_header_t          *hh;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_get_module_main_conf(r, ngx_http_core_module);

    hash = ngx_hash_key(name->data, name->len);

    hh = ngx_hash_find(&cmcf->headers_in_hash, hash, name->data, name->len);
    if (hh == NULL) {
        return;
    }

    field = (char *) &r->headers_in + hh->offset;

#if (nginx_version < 1023000)

    if (hh->offset == offsetof(ngx_http_headers_in_t, cookies)
#if (NGX_HTTP_X_FORWARDED_FOR)
        || hh->offset == offsetof(ngx_http_headers_in_t, x_forwarded_for)
#endif
        )
    {
        ((ngx_array_t *) field)->nelts = 0;
        return;
    }

#endif

    *(ngx_table_elt_t **) field = NULL;
}


/*
 * Leaves the lines of "n" names, which are in lower case, out of a request's
 * header.  The others move to a list of its own: a subrequest shares its
 * parent's, down to the pointer where to append.
 */

ngx_int_t
cbr_headers_in_remove(ngx_http_request_t *r, const ngx_str_t *names,
    ngx_uint_t n)
{
    ngx_list_t        old;
    ngx_uint_t        i, k;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *header, *h;

    old = r->headers_in.headers;

    if (ngx_list_init(&r->headers_in.headers, r->pool, 20,
                      sizeof(ngx_table_elt_t))
        != NGX_OK)
    {
        goto failed;
    }

    for (part = &old.part; part; part = part->next) {
        header = part->elts;

        for (i = 0; i < part->nelts; i++) {

            for (k = 0; k < n; k++) {
                if (header[i].key.len == names[k].len
                    && ngx_strncasecmp(header[i].key.data, names[k].data,
                                       names[k].len)
                       == 0)
                {
                    break;
                }
            }

            if (k < n) {
                continue;
            }

            h = ngx_list_push(&r->headers_in.headers);
            if (h == NULL) {
                goto failed;
            }

            *h = header[i];
        }
    }

    for (k = 0; k < n; k++) {
        cbr_header_in_forget(r, &names[k]);
    }

    return NGX_OK;

failed:

    /* a list that ngx_list_init() has no memory for cannot be walked */

    r->headers_in.headers = old;

    return NGX_ERROR;
}


/*
 * Gives a request header lines that fit its body, or leaves them as they are.
 * Without a body "length" is -1; without a type of its own the body has the old
 * one.
 */

static ngx_int_t
cbr_headers_in_set_body(ngx_http_request_t *r, off_t length, ngx_str_t *type)
{
    ngx_str_t              value;
    ngx_http_headers_in_t  old;

    static const ngx_str_t  names[] = {
        ngx_string("content-length"),
        ngx_string("transfer-encoding"),
        ngx_string("content-type")
    };

    old = r->headers_in;

    if (cbr_headers_in_remove(r, names, type->len ? 3 : 2) != NGX_OK) {
        return NGX_ERROR;
    }

    r->headers_in.content_length_n = length;
    r->headers_in.chunked = 0;

    if (length >= 0) {
        value.data = ngx_pnalloc(r->pool, NGX_OFF_T_LEN);
        if (value.data == NULL) {
            goto failed;
        }

        value.len = ngx_sprintf(value.data, "%O", length) - value.data;

        if (cbr_header_in_push(r, &r->headers_in.content_length,
                               "Content-Length", "content-length", &value)
            != NGX_OK)
        {
            goto failed;
        }
    }

    if (type->len
        && cbr_header_in_push(r, &r->headers_in.content_type, "Content-Type",
                              "content-type", type)
           != NGX_OK)
    {
        goto failed;
    }

    return NGX_OK;

failed:

    r->headers_in = old;

    return NGX_ERROR;
}


/*
 * Gives a request a body that stays where it is until the request ends, and of
 * another type where "type" is not empty.
 */

ngx_int_t
cbr_body_set(ngx_http_request_t *r, const u_char *body, size_t len,
    const u_char *type, size_t type_len)
{
    ngx_buf_t                *b;
    ngx_str_t                 content_type;
    ngx_http_request_body_t  *rb;

    rb = ngx_pcalloc(r->pool, sizeof(ngx_http_request_body_t));
    if (rb == NULL) {
        return NGX_ERROR;
    }

    if (len) {
        b = ngx_calloc_buf(r->pool);
        rb->bufs = ngx_alloc_chain_link(r->pool);

        if (b == NULL || rb->bufs == NULL) {
            return NGX_ERROR;
        }

        b->pos = (u_char *) body;
        b->last = b->pos + len;
        b->start = b->pos;
        b->end = b->last;
        b->memory = 1;

        rb->buf = b;
        rb->bufs->buf = b;
        rb->bufs->next = NULL;
    }

    content_type.len = type_len;
    content_type.data = (u_char *) type;

    if (cbr_headers_in_set_body(r, len, &content_type) != NGX_OK) {
        return NGX_ERROR;
    }

    r->request_body = rb;
    r->request_body_no_buffering = 0;

    return NGX_OK;
}


/* for a subrequest: its parent's body, or what is left of it, is not its own */

ngx_int_t
cbr_body_unset(ngx_http_request_t *r)
{
    ngx_str_t                 type;
    ngx_http_request_body_t  *rb;

    ngx_str_null(&type);

    if (cbr_headers_in_set_body(r, -1, &type) != NGX_OK) {
        return NGX_ERROR;
    }

    rb = ngx_pcalloc(r->pool, sizeof(ngx_http_request_body_t));
    if (rb == NULL) {
        return NGX_ERROR;
    }

    r->request_body = rb;

    return NGX_OK;
}


/* whether a part of the body has not come yet, or has not been asked for */

ngx_uint_t
cbr_body_is_unread(const ngx_http_request_t *r)
{
    if (r->reading_body) {
        return 1;
    }

    return r == r->main && r->request_body == NULL && !r->discard_body
           && (r->headers_in.content_length_n > 0 || r->headers_in.chunked);
}


/*
 * A body that cbr_body_open() began to read is gone, or what is left of it by
 * chance: whoever gets the request next must see none.  The header lines go
 * with it, lest a proxy announce it to its upstream.
 */

ngx_int_t
cbr_body_forget(ngx_http_request_t *r)
{
    ngx_str_t  type;

    if (r != r->main
        || r->request_body == NULL
        || r->request_body->post_handler != cbr_body_opened)
    {
        return NGX_OK;
    }

    ngx_str_null(&type);

    if (cbr_headers_in_set_body(r, -1, &type) != NGX_OK) {
        return NGX_ERROR;
    }

    r->request_body->bufs = NULL;
    r->request_body_no_buffering = 0;

    if (r->reading_body) {

        /* the rest is still on the connection, and nginx will linger for it */

        r->keepalive = 0;
    }

    return NGX_OK;
}


/* a variable that may have another value each time */

ngx_int_t
cbr_variable_add(ngx_conf_t *cf, const u_char *name, size_t len,
    ngx_http_get_variable_pt get)
{
    ngx_str_t             var_name;
    ngx_http_variable_t  *v;

    var_name.len = len;
    var_name.data = (u_char *) name;

    v = ngx_http_add_variable(cf, &var_name, NGX_HTTP_VAR_NOCACHEABLE);
    if (v == NULL) {
        return NGX_ERROR;
    }

    v->get_handler = get;

    return NGX_OK;
}


/* whether the configuration has the variable somewhere */

ngx_uint_t
cbr_variable_is_used(ngx_cycle_t *cycle, const u_char *name, size_t len)
{
    ngx_uint_t                  i;
    ngx_http_variable_t        *v;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_core_module);
    if (cmcf == NULL) {
        return 0;
    }

    v = cmcf->variables.elts;

    for (i = 0; i < cmcf->variables.nelts; i++) {
        if (v[i].name.len == len
            && ngx_strncmp(v[i].name.data, name, len) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* whether there is a module that asks for variables while nginx runs */

ngx_uint_t
cbr_modules_ask_by_name(const ngx_cycle_t *cycle)
{
    ngx_uint_t  i, k;

    static const char  *modules[] = {
        "ngx_http_lua_module",
        "ngx_http_js_module",
        "ngx_http_perl_module"
    };

    for (i = 0; cycle->modules[i]; i++) {

        for (k = 0; k < sizeof(modules) / sizeof(modules[0]); k++) {

            if (ngx_strcmp(cycle->modules[i]->name, modules[k]) == 0) {
                return 1;
            }
        }
    }

    return 0;
}


void
cbr_variable_set(ngx_http_variable_value_t *v, const u_char *data, size_t len)
{
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->len = len;
    v->data = (u_char *) data;
}


void
cbr_variable_set_not_found(ngx_http_variable_value_t *v)
{
    v->not_found = 1;
}


/* NULL: what is wrong has been logged */

ngx_shm_zone_t *
cbr_zone_add(ngx_conf_t *cf, const u_char *name, size_t len, size_t size,
    void *tag, ngx_shm_zone_init_pt init)
{
    ngx_str_t        zone_name;
    ngx_shm_zone_t  *zone;

    zone_name.len = len;
    zone_name.data = (u_char *) name;

    zone = ngx_shared_memory_add(cf, &zone_name, size, tag);
    if (zone == NULL) {
        return NULL;
    }

    if (zone->data) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "duplicate zone \"%V\"",
                           &zone_name);
        return NULL;
    }

    zone->init = init;

    /* nginx gives it to the "init" of the next configuration's zone */

    zone->data = zone;

    return zone;
}


ngx_str_t
cbr_zone_name(const ngx_shm_zone_t *zone)
{
    return zone->shm.name;
}


ngx_uint_t
cbr_zone_exists(const ngx_shm_zone_t *zone)
{
    return zone->shm.exists;
}


ngx_slab_pool_t *
cbr_zone_pool(const ngx_shm_zone_t *zone)
{
    return (ngx_slab_pool_t *) zone->shm.addr;
}


size_t
cbr_slab_size(const ngx_slab_pool_t *pool)
{
    return pool->end - (u_char *) pool;
}


/* the pages of a pool in which nothing has been allocated */

ngx_str_t
cbr_slab_room(const ngx_slab_pool_t *pool)
{
    ngx_str_t  room;

    room.data = pool->start;
    room.len = pool->end - pool->start;

    return room;
}


void *
cbr_slab_data(const ngx_slab_pool_t *pool)
{
    return pool->data;
}


void
cbr_slab_set_data(ngx_slab_pool_t *pool, void *data)
{
    pool->data = data;

    /* a full zone is the handler's to tell */

    pool->log_nomem = 0;
}


/* nginx's master unlocks this mutex for a worker that was killed */

void
cbr_slab_lock(ngx_slab_pool_t *pool)
{
    ngx_shmtx_lock(&pool->mutex);
}


void
cbr_slab_unlock(ngx_slab_pool_t *pool)
{
    ngx_shmtx_unlock(&pool->mutex);
}


/* 0: the process exits, and has given its configuration up */

ngx_int_t
cbr_worker_processes(volatile ngx_cycle_t *cycle)
{
    ngx_core_conf_t  *ccf;

    if (cycle->conf_ctx == NULL) {
        return 0;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    return ccf->worker_processes;
}
