//! So it does where the size of a field differs.

use content_by_rust::__private::ngx_http_request_t;

content_by_rust::layout_of!(ngx_http_request_t, headers_out.status, std::mem::offset_of!(ngx_http_request_t, headers_out.status), 2);

fn main() {}
