//! The blocks of the files in `t` pass, here and under the original's `prove`.

use std::process::ExitCode;

fn main() -> ExitCode {
    test_nginx::run(["tests/t", "tests/http2.t"])
}
