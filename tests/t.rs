//! The Test::Nginx files in `t/`.

mod support;

fn main() -> std::process::ExitCode {
    support::prepare();
    test_nginx::run(["t"])
}
