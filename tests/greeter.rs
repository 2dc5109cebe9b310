//! A user's own module: `examples/greeter` is a crate of one handler and one line.

mod support;

use support::http::text;
use support::{module, nginx_with, quits_in_peace};
use test_nginx::Server;

fn greeter() -> test_nginx::ServerBuilder {
    Server::builder().nginx(nginx_with([module("greeter")]))
}

#[test]
fn its_handler_answers_beside_the_built_in_ones() {
    let server = support::start(greeter().master(true).log_level("info").config(
        "location = /greet { content_by_rust greet; }
         location = /ok { content_by_rust ok; }
         location = /reply { content_by_rust reply body=mine delay=1ms; }",
    ));
    assert_eq!(text(&server, "/greet?name=bob"), "hi bob\n");
    assert_eq!(text(&server, "/greet"), "hi you\n");
    assert_eq!(text(&server, "/greet?name="), "hi \n");
    assert_eq!(text(&server, "/greet?name=b%C3%B6b+b"), "hi böb b\n");
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(text(&server, "/reply"), "mine");
    quits_in_peace(server);
}

#[test]
fn the_list_of_handlers_has_it() {
    let error = greeter()
        .config("location / { content_by_rust great; }")
        .start()
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("unknown handler \"great\", there are: greet, hello, ok, reply, status in "),
        "{error}"
    );
}

#[test]
fn its_handler_takes_no_arguments() {
    let config = "location / { content_by_rust greet name=bob; }";
    let error = greeter().config(config).start().unwrap_err().to_string();
    assert!(error.contains("invalid parameter \"name=bob\""), "{error}");
}

#[test]
fn the_shipped_module_beside_it_is_refused_with_a_reason() {
    for modules in [
        [module(""), module("greeter")],
        [module("greeter"), module("")],
    ] {
        let both = Server::builder().nginx(nginx_with(modules));
        let error = both.start().unwrap_err().to_string();
        let reason = "[emerg]";
        assert_eq!(error.matches(reason).count(), 1, "{error}");
        assert!(
            error.contains("module \"ngx_http_rust_module\" is already loaded"),
            "{error}"
        );
    }
}
