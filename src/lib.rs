//! Content handlers for nginx as async Rust functions.
