//! The files in `tests/t` pass.

fn main() -> std::process::ExitCode {
    test_nginx::Harness::new()
        .path("tests/t")
        .env(
            "TEST_NGINX_LOAD_MODULES",
            "/usr/lib/nginx/modules/ngx_http_echo_module.so",
        )
        .run()
}
