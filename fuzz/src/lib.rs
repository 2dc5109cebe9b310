//! Whatever reads bytes of others' is given any bytes, and must keep what it promises.
//!
//! A target is a function that takes bytes and panics where a promise is broken. `cargo xtask fuzz` lets libFuzzer
//! search for such bytes; `cargo test -p fuzz` runs each target over its seeds, `seeds/TARGET/`, and over some random
//! changes of them. Bytes that broke a promise once are seeds.

mod configuration;
mod request;

/// The module's own files, included as they are: those that have no FFI.
#[path = "../../src/one_line.rs"]
mod one_line;
#[path = "../../src/parse.rs"]
mod parse;
#[path = "../../src/quotes.rs"]
mod quotes;
#[path = "../../src/uri.rs"]
mod uri;

/// What is given any bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// That of its folder in `seeds/`, too.
    pub name: &'static str,
    /// Another folder of this repository whose files are its seeds.
    pub more: Option<&'static str>,
    /// Panics where a promise is broken.
    pub run: fn(&[u8]),
}

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target {
        name,
        more: None,
        run,
    }
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    target("configuration", configuration::run),
    target("request", request::run),
    target("test-request", test_nginx::fuzz::request),
    target("test-response", test_nginx::fuzz::response),
    target("answer", rerun::fuzz::answer),
    Target {
        more: Some("rerun/tests/audit"),
        ..target("output", rerun::fuzz::output)
    },
    target("manifest", rerun::fuzz::manifest),
    target("result", rerun::fuzz::result),
];
