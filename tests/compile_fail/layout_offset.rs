//! The layout guard stops a build whose bindings put a field elsewhere than the C compiler does,
//! and names the field.

use content_by_rust::__private::ngx_http_request_t;

content_by_rust::layout_of!(ngx_http_request_t, connection, 9, 8);

fn main() {}
