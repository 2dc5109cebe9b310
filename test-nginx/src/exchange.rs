//! The requests of a block, one after the other, and the checks after each.

use std::thread::sleep;
use std::time::Duration;

use crate::block::Block;
use crate::check::Nth;
use crate::client::{self, Options};
use crate::curl;
use crate::expand::find;
use crate::log::Log;
use crate::mock::{Mock, shutdown_of};
use crate::request::{self, Request};
use crate::response::{self, Response};
use crate::run::{Stop, Test};
use crate::user_files;
use crate::value::Value;

impl Test<'_> {
    /// All requests of one repetition, with their checks.
    pub fn requests(
        &self,
        repeat: usize,
        log: &mut Log,
        failures: &mut Vec<String>,
    ) -> Result<(), Stop> {
        let mocks = Mock::start_all(self.block, self.perl, |text| self.checks.vars.expand(text))?;
        if repeat > 0 {
            // The requests may have changed them.
            let files = self.block.section("user_files");
            user_files::write(files, &self.room.html(), self.checks.vars)?;
        }
        let pipelined = self.pipelined()?;
        let name = self.block.setting_text("server_name");
        let requests = request::build(&request::Sections {
            request: self.block.section("request"),
            raw_request: self.block.section("raw_request"),
            pipelined: &pipelined,
            more_headers: self.block.section("more_headers"),
            server_name: &name,
        })?;
        let responses = match &pipelined {
            Value::List(list) if !self.block.has("raw_request") => list.len(),
            _ => 1,
        };
        let several = pipelined != Value::Undef || requests.len() > 1;
        let count = requests.len().max(responses);
        let wait = self.block.time("wait")?.unwrap_or_default();
        let mut nth = Nth {
            request: 0,
            repeat,
            several,
        };
        for request in &requests {
            let mut left = self.send(request, failures)?;
            for _ in 0..responses {
                let before = failures.len();
                if !self.block.has("ignore_response") {
                    left = self.respond(left, nth, failures)?;
                }
                sleep(wait);
                failures.extend(self.checks.error_log(log, nth, None)?);
                let access = Log::new(self.room.access_log());
                failures.extend(self.checks.access_log(&access)?);
                if count > 1 {
                    for failure in &mut failures[before..] {
                        *failure = format!("[request {}] {failure}", nth.request + 1);
                    }
                }
                nth.request += 1;
            }
        }
        for mock in mocks {
            failures.extend(mock.finish(self.perl));
        }
        Ok(())
    }

    fn pipelined(&self) -> Result<Value, Stop> {
        let Value::List(requests) = self.block.section("pipelined_requests") else {
            return Ok(self.block.section("pipelined_requests").clone());
        };
        let expand = |request: &Value| match request {
            Value::Bytes(text) => self.checks.vars.expand(text).map(Value::Bytes),
            other => Ok(other.clone()),
        };
        Ok(Value::List(
            requests.iter().map(expand).collect::<Result<_, _>>()?,
        ))
    }

    /// Checks the first response in `text`; what follows it is the answer.
    fn respond(
        &self,
        text: Vec<u8>,
        nth: Nth,
        failures: &mut Vec<String>,
    ) -> Result<Vec<u8>, Stop> {
        let (mut response, left) = if self.block.has("http09") {
            let code = Some("200".to_owned());
            (
                Response {
                    code,
                    body: text,
                    ..Response::default()
                },
                Vec::new(),
            )
        } else {
            let parsed = response::parse(&text);
            failures.extend(
                parsed
                    .error
                    .map(|error| format!("the response has {error}")),
            );
            match parsed.response {
                Some(response) => (response, parsed.left),
                None => return Ok(parsed.left),
            }
        };
        failures.extend(self.checks.response(&mut response, nth)?);
        Ok(left)
    }

    /// Sends one request, and returns all that came back.
    fn send(&self, request: &Request, failures: &mut Vec<String>) -> Result<Vec<u8>, Stop> {
        let timeout = self.block.time("timeout")?;
        let timeout = timeout.unwrap_or_else(|| self.block.setting_time("timeout"));
        let address = self.block.text("server_addr_for_client");
        let address = address.unwrap_or_else(|| self.block.setting_text("server_addr"));
        let address = address.trim();
        if uses_http2(self.block) || self.block.has("curl") {
            let server = format!("{address}:{}", self.checks.port);
            let protocol = self
                .block
                .text("curl_protocol")
                .unwrap_or_else(|| "http".to_owned());
            let mut arguments =
                curl::arguments(request, &server, timeout, protocol.trim(), self.room.dir())?;
            if let Some(options) = self.block.text("curl_options") {
                let url = arguments.len() - 1;
                arguments.insert(url, options.trim_end().to_owned());
            }
            if uses_http2(self.block) {
                return Ok(self.curl(&arguments, failures)?);
            }
            arguments.retain(|argument| argument != "--http2-prior-knowledge");
            eprintln!("# curl {arguments:?}");
        }
        let shutdown = self
            .block
            .text("shutdown")
            .map(|how| shutdown_of(&how))
            .transpose()?;
        let options = Options {
            address,
            port: self.checks.port,
            timeout,
            delay: self.block.time("raw_request_middle_delay")?,
            shutdown,
        };
        let outcome = client::send(request, &options)
            .map_err(|e| format!("{address}:{}: {e}", self.checks.port))?;
        if outcome.timed_out {
            if self.block.has("abort") {
                sleep(Duration::from_millis(5));
            } else {
                failures.push(format!(
                    "the client timed out: nothing came for {timeout:?}"
                ));
            }
        }
        if let (Some(error), true) = (outcome.error, outcome.response.is_empty()) {
            // As a text without a status line, it fails the check of the status.
            return Ok(error.into_bytes());
        }
        Ok(outcome.response)
    }

    fn curl(&self, arguments: &[String], failures: &mut Vec<String>) -> Result<Vec<u8>, String> {
        let (response, complaint) = curl::run(arguments).map_err(|e| e.to_string())?;
        if response.is_empty() {
            let expected = match self.block.section("curl_error") {
                Value::Undef => false,
                pattern @ Value::Regex { .. } => {
                    self.perl.matches(pattern, "", complaint.as_bytes())?
                }
                text => find(complaint.as_bytes(), text.bytes().unwrap_or_default()).is_some(),
            };
            if !expected {
                failures.push(format!("curl got no response: {complaint}"));
            }
        }
        Ok(response)
    }
}

/// Whether requests go over HTTP/2: the block says so, or
/// `TEST_NGINX_USE_HTTP2` does and nothing in the block is against it.
pub(crate) fn uses_http2(block: &Block) -> bool {
    if block.has("no_http2") || block.has("http2") {
        return block.has("http2") && !block.has("no_http2");
    }
    let against = [
        "$server_port",
        "$TEST_NGINX_SERVER_PORT",
        "ngx.req.raw_header",
        "lua_check_client_abort",
        "ngx.req.socket",
        "ngx.req.read_body",
    ];
    let speaks_against = |section: &str| {
        let text = block.text(section).unwrap_or_default();
        against.iter().any(|word| text.contains(word))
    };
    block.setting("use_http2").is_true()
        && block.has("request")
        && !block.has("raw_request")
        && !block.has("pipelined_requests")
        && !block
            .text("request")
            .unwrap_or_default()
            .contains("HTTP/1.0")
        && !["config", "http_config", "user_files"]
            .into_iter()
            .any(speaks_against)
}
