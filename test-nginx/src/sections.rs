//! The sections there are.

/// Sections that this runner acts upon.
#[rustfmt::skip]
pub(crate) const KNOWN: &[&str] = &[
    "LAST", "ONLY", "SKIP", "abort", "access_log", "charset", "config", "curl",
    "curl_error", "curl_options", "curl_protocol", "error_code", "error_code_like",
    "error_log", "error_log_file", "grep_error_log", "grep_error_log_out", "http09",
    "http2", "http_config", "ignore_response", "init", "log_level", "main_config",
    "more_headers", "must_die", "no_access_log", "no_error_log", "no_http2",
    "no_shutdown_error_log", "pipelined_requests", "post_main_config",
    "post_setup_server_root", "raw_request", "raw_request_middle_delay",
    "raw_response_headers_like", "raw_response_headers_unlike", "request", "response_body",
    "response_body_filters", "response_body_json_sort", "response_body_like",
    "response_body_unlike", "response_headers", "response_headers_like",
    "server_addr_for_client", "server_name", "shutdown", "shutdown_error_log", "skip_eval",
    "skip_nginx", "skip_nginx2", "skip_openssl", "skip_slave", "tcp_listen", "tcp_no_close",
    "tcp_query", "tcp_query_auto_timeout", "tcp_query_len", "tcp_reply", "tcp_reply_delay",
    "tcp_shutdown", "tcp_shutdown_delay", "timeout", "todo", "todo_nginx", "udp_listen",
    "udp_query", "udp_reply", "udp_reply_delay", "user_files", "wait",
    "write_resp_body_file",
];

/// Sections that ask for nothing here: they mark exceptions to modes of
/// Test::Nginx that this runner does not have.
pub(crate) const MOOT: &[&str] = &[
    "no_check_leak",
    "no_http3",
    "no_mockeagain",
    "quic_max_idle_timeout",
    "suppress_stderr",
];

/// Sections of Test::Nginx that this runner does not know how to act upon.
pub(crate) const FOREIGN: &[&str] = &[
    "http3",
    "reload_fails",
    "request_eval",
    "response_body_eval",
    "stap",
    "stap_out",
    "stap_out_like",
    "stap_out_unlike",
];
