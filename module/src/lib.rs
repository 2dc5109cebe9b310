//! The shipped module: the built-in handlers and nothing else.
content_by_rust::module! {}
