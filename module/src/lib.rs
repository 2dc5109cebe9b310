//! The shipped module: the built-in handlers and nothing else.
