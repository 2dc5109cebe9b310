//! Each sanitizer finds the fault that was put there for it. `cargo xtask test address memcheck`
//! begins with these, so that their silence later says something.

mod support;

use support::http::{Client, request};
use support::{eventually, module, nginx_with, start};
use test_nginx::{Server, Signal};

const CONFIG: &str = "
    location = /after_free { content_by_rust after_free; }
    location = /beyond_a_pools_piece { content_by_rust beyond_a_pools_piece; }
    location = /forgotten { content_by_rust forgotten; }
    location = /shifted_too_far { content_by_rust shifted_too_far; }
    location = /never_written { content_by_rust never_written; }
";

/// Whether one process reported this, and named the handler.
fn is_reported(kind: &str, handler: &str) -> bool {
    let dir = support::sanitizer_reports().expect("where reports are written");
    let reports = std::fs::read_dir(dir).expect("a directory of reports");
    let mut texts = reports.flatten().map(|file| std::fs::read(file.path()));
    texts.any(|text| {
        let text = text.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.contains(kind) && text.contains(handler)
    })
}

/// Asks the handler, and then has the server quit.
#[track_caller]
fn finds(handler: &str, kind: &str) {
    let nginx = nginx_with([module("test-sanitizers")]);
    let mut server = start(Server::builder().nginx(nginx).master(true).config(CONFIG));
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &format!("/{handler}")));
    // An answer, or the connection's end with the worker's.
    let _ = client.stream.peek(&mut [0]);
    server.signal(Signal::QUIT).expect("it runs");
    server
        .wait(support::PATIENCE)
        .expect("nobody waits, so it ends");
    eventually(&format!("{kind} in {handler}"), || {
        is_reported(kind, handler)
    });
}

#[test]
#[ignore = "wants AddressSanitizer: cargo xtask test address"]
fn address_of_memory_that_was_given_back() {
    finds("after_free", "heap-use-after-free");
}

#[test]
#[ignore = "wants AddressSanitizer: cargo xtask test address"]
fn address_beyond_a_piece_of_a_pool() {
    finds("beyond_a_pools_piece", "heap-buffer-overflow");
}

#[test]
#[ignore = "wants LeakSanitizer: cargo xtask test address"]
fn address_that_nobody_knows_any_more() {
    finds("forgotten", "detected memory leaks");
}

#[test]
#[ignore = "wants UndefinedBehaviorSanitizer: cargo xtask test address"]
fn address_steps_find_undefined_behaviour_of_c() {
    finds("shifted_too_far", "shift exponent 40 is too large");
}

#[test]
#[ignore = "wants valgrind: cargo xtask test memcheck"]
fn memcheck_of_memory_that_nobody_has_written() {
    finds("never_written", "depends on uninitialised value");
}

#[test]
#[ignore = "wants valgrind: cargo xtask test memcheck"]
fn memcheck_of_memory_that_was_given_back() {
    finds("after_free", "Invalid read of size 1");
}

#[test]
#[ignore = "wants valgrind: cargo xtask test memcheck"]
fn memcheck_beyond_a_piece_of_a_pool() {
    finds("beyond_a_pools_piece", "Invalid read of size 1");
}
