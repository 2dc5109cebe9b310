//! What must not compile, and what the compiler says.

use content_by_rust::{Counter, Request, SharedZone, Sleep};

/// The messages are those of this compiler: others word them otherwise, so that only what must
/// not compile could be told there, not why.
const MESSAGES_OF: &str = "1.95";

#[test]
fn what_must_not_compile() {
    let compiler = std::process::Command::new("rustc")
        .arg("--version")
        .output()
        .expect("rustc runs");
    let compiler = String::from_utf8_lossy(&compiler.stdout).into_owned();
    if !compiler.starts_with(&format!("rustc {MESSAGES_OF}.")) {
        eprintln!("not compared: the messages are those of Rust {MESSAGES_OF}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}

/// Has one impl for every type, and another one for those that can be sent: which of them is
/// meant can be inferred only where there is just one.
trait NotSend<Which> {
    fn holds() {}
}

impl<T> NotSend<()> for T {}

impl<T: Send> NotSend<u8> for T {}

/// That this compiles is the test: the compiler's words for it would list the private fields.
#[test]
fn requests_sleeps_and_zones_cannot_be_sent_to_another_thread() {
    <Request as NotSend<_>>::holds();
    <&Request as NotSend<_>>::holds();
    <&mut Request as NotSend<_>>::holds();
    <Sleep as NotSend<_>>::holds();
    <SharedZone as NotSend<_>>::holds();
    <Counter as NotSend<_>>::holds();
}
