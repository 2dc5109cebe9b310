//! The module refuses a core that it was not built for.
//!
//! OpenResty's core has symbols that nginx has not, and headers that define what nginx's do not.
//! The system's nginx with such a symbol preloaded, and a module compiled against its headers
//! with such a definition added, stand in for it here.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::http::text;
use support::source::{command, configured, copy_tree};
use support::{binary, module, nginx_with, quits_in_peace, wrapped_with};
use test_nginx::{Nginx, Server};

/// Where this test program keeps what it builds.
fn room() -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("abi");
    fs::create_dir_all(&room).expect("a directory");
    room
}

/// An nginx that exports a symbol of OpenResty's core.
fn exporting(symbol: &str, modules: &[&str]) -> Nginx {
    let (source, library) = (
        room().join(format!("{symbol}.c")),
        room().join(format!("{symbol}.so")),
    );
    fs::write(&source, format!("int {symbol};\n")).expect("a source");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    assert!(cc.status().expect("cc runs").success());
    let script = format!(
        "LD_PRELOAD=\"{}\" exec \"{}\" \"$@\"",
        library.display(),
        binary().display()
    );
    wrapped_with(&script, modules.iter().map(|module| module.to_string()))
}

/// The one line with which nginx refuses to start.
#[track_caller]
fn refusal(nginx: Nginx) -> String {
    let error = Server::builder()
        .nginx(nginx)
        .start()
        .unwrap_err()
        .to_string();
    let mut emergencies = error.lines().filter(|line| line.contains("[emerg]"));
    let line = emergencies.next().expect(&error).to_owned();
    assert_eq!(emergencies.next(), None, "{error}");
    let cure = "build it with \"make build NGINX=<this binary> NGINX_SOURCE_DIR=<its source>\"";
    assert!(line.contains(cure), "{error}");
    line
}

#[track_caller]
fn answers(nginx: Nginx) {
    let builder = Server::builder()
        .nginx(nginx)
        .master(true)
        .log_level("info");
    let server = support::start(builder.config("location = /ok { content_by_rust ok; }"));
    assert_eq!(text(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

#[test]
fn a_module_for_nginx_is_refused_by_openresty_whichever_symbol_tells() {
    let shipped = module("");
    for symbol in ["ngx_is_privileged_agent", "ngx_posted_delayed_events"] {
        let line = refusal(exporting(symbol, &[&shipped]));
        let reason = "was built for stock nginx, and this is OpenResty: ";
        assert!(line.contains(reason), "{line}");
    }
}

#[test]
fn a_symbol_of_another_name_changes_nothing() {
    answers(exporting("ngx_is_privileged_agency", &[&module("")]));
}

#[test]
fn without_the_module_openresty_is_left_alone() {
    let nginx = exporting("ngx_is_privileged_agent", &[]);
    let server = support::start(
        Server::builder()
            .nginx(nginx)
            .config("location = /r { return 200 r; }"),
    );
    assert_eq!(text(&server, "/r"), "r");
}

/// The shipped module, compiled against headers with one of OpenResty's signs.
fn built_for_openresty() -> String {
    let (source, objs) = configured();
    let copy = room().join("source");
    copy_tree(&source, &copy);
    let header = copy.join("src/core/nginx.h");
    let text = fs::read_to_string(&header).expect("nginx.h");
    let sign = "#define HAVE_PRIVILEGED_PROCESS_PATCH 1\n";
    if !text.starts_with(sign) {
        fs::write(&header, format!("{sign}{text}")).expect("to be written");
    }

    let target = room().join("cargo");
    let mut cargo = command(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--lib", "--no-default-features"])
        .args(["--package", "ngx-http-rust-module"])
        .current_dir(support::root())
        .env("NGINX_SOURCE_DIR", &copy)
        .env("NGINX_BUILD_DIR", &objs)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_DEBUG", "false");
    assert!(cargo.status().expect("cargo runs").success());
    let built = target.join("debug/libngx_http_rust_module.so");
    built.display().to_string()
}

#[test]
fn a_module_for_openresty_is_refused_by_nginx_and_answers_in_openresty() {
    let built = built_for_openresty();
    let line = refusal(nginx_with([built.clone()]));
    let reason = "was built for OpenResty, and this is stock nginx: ";
    assert!(line.contains(reason), "{line}");
    answers(exporting("ngx_is_privileged_agent", &[&built]));
}
