//! What libFuzzer drives: `FUZZ_TARGET` names the target. `cargo xtask fuzz` builds and runs it.

#![no_main]

use std::sync::OnceLock;

use fuzz::{TARGETS, Target};

static TARGET: OnceLock<Target> = OnceLock::new();

fn chosen() -> Target {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET is set");
    let mut targets = TARGETS.into_iter();
    let target = targets.find(|target| target.name == name);
    target.expect("FUZZ_TARGET names a target")
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.get_or_init(chosen).run)(data));
