//! `test-nginx`: runs the `.t` files it is given, as `prove` would.

use std::env;
use std::process::ExitCode;

use test_nginx::Harness;

const USAGE: &str = "\
usage: test-nginx PATH... [-- OPTION...]

Runs the Test::Nginx::Socket files, and those in the directories, of PATH...
The OPTIONs are those of any cargo test binary; -- --help lists them.";

fn main() -> ExitCode {
    let mut arguments = env::args();
    let program = arguments.next().unwrap_or_default();
    let paths: Vec<String> = arguments
        .by_ref()
        .take_while(|argument| argument != "--")
        .collect();
    if paths.is_empty() && arguments.len() == 0 || paths.iter().any(|path| path.starts_with('-')) {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let harness = paths.iter().fold(Harness::new(), Harness::path);
    harness.run_with([program].into_iter().chain(arguments))
}
