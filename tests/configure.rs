//! `./configure --add-module` and `--add-dynamic-module`, as nginx's users type it. `make test` also
//! links the module into an nginx, and runs `t/` there.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::http::text;
use support::source::{command, configured, copy_tree};
use support::{nginx_with, quits_in_peace, root};
use test_nginx::Server;

/// A directory of the test's own, and in it a copy of nginx's source.
fn room(test: &str) -> (PathBuf, PathBuf) {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("configure-{test}"));
    let source = room.join("source");
    copy_tree(&configured().0, &source);
    (room, source)
}

/// What nginx's configure says as it refuses the module.
#[track_caller]
fn refusal(test: &str, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> String {
    let (_, source) = room(test);
    let mut configure = command("sh");
    configure
        .arg("./configure")
        .args(arguments)
        .arg(format!("--add-module={}", root().display()))
        .current_dir(source);
    prepare(&mut configure);
    let Output {
        status,
        stdout,
        stderr,
    } = configure.output().expect("sh runs");
    assert!(!status.success(), "{}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stderr).expect("a message in UTF-8")
}

#[test]
fn without_http_it_is_refused() {
    let said = refusal("without-http", &["--without-http"], |_| ());
    let reason = "error: ngx_http_rust_module answers HTTP requests, and this nginx is configured --without-http\n";
    assert!(said.ends_with(reason), "{said}");
}

#[test]
fn an_old_cargo_is_refused() {
    let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).join("configure-bin");
    fs::create_dir_all(&bin).expect("a directory");
    let cargo = bin.join("cargo");
    fs::write(&cargo, "#!/bin/sh\necho cargo 1.63.0\n").expect("a script");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("a script");
    let said = refusal("old-cargo", &[], |configure| {
        let path = std::env::var("PATH").expect("a PATH");
        configure.env("PATH", format!("{}:{path}", bin.display()));
        configure.env("HOME", &bin);
    });
    let reason = "content-by-rust needs Rust 1.88 or newer, and this machine has cargo 1.63.0.\n";
    assert!(said.starts_with(reason), "{said}");
}

#[test]
fn a_crate_that_is_not_there_is_refused() {
    let said = refusal("no-crate", &[], |configure| {
        configure.env("CONTENT_BY_RUST_CRATE", "/nowhere");
    });
    let reason = "error: CONTENT_BY_RUST_CRATE=/nowhere: no Cargo.toml there\n";
    assert!(said.ends_with(reason), "{said}");
}

#[test]
fn a_users_crate_is_built_loaded_and_answers() {
    let (room, source) = room("greeter");
    let objs = room.join("objs");
    let told = fs::read_to_string(configured().1.join("configured"));
    let told = told.expect("how make build has configured this nginx");
    let configure = format!(
        "{told} --builddir={} --add-dynamic-module={}",
        objs.display(),
        root().display()
    );
    let crate_dir = root().join("examples/greeter");
    succeeds(
        command("sh")
            .args(["-c", &configure])
            .current_dir(&source)
            .env("CONTENT_BY_RUST_CRATE", crate_dir),
    );
    let module = objs.join("ngx_http_rust_module.so");
    succeeds(
        command("make")
            .arg("-f")
            .arg(objs.join("Makefile"))
            .arg(&module)
            .current_dir(&source)
            .env("CARGO_TARGET_DIR", room.join("cargo"))
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    );

    let nginx = nginx_with([module.display().to_string()]);
    let builder = Server::builder().nginx(nginx).master(true);
    let server = support::start(builder.config("location = /greet { content_by_rust greet; }"));
    assert_eq!(text(&server, "/greet?name=bob"), "hi bob\n");
    quits_in_peace(server);
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let Output { status, stderr, .. } = command.output().expect("the program runs");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
}
