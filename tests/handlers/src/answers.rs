//! What a handler can answer.

use content_by_rust::{
    ArgError, Args, Bytes, Error, Handler, Request, Response, Result, Value, sleep,
};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// A body of each kind there is: `?of=`.
pub async fn body(request: &mut Request) -> Result<Response> {
    Ok(match request.arg("of") {
        Some("str") => Response::body("a static text\n"),
        Some("bytes") => Response::body(b"\xff\x00static bytes"),
        Some("string") => Response::body(String::from("a string\n")),
        Some("vec") => Response::body(vec![0xfe, 0, b'v']),
        Some("empty") => Response::body(""),
        Some("text") => Response::text("text"),
        Some("html") => Response::html("<p>"),
        Some("json") => Response::json("{}"),
        Some("type") => Response::body("typed").content_type("text/x-own; charset=utf-8"),
        Some("bad type") => Response::body("typed").content_type(String::from("a/b\r\nX-Evil: 1")),
        _ => Response::new(200),
    })
}

/// Headers out of the query: `?NAME=VALUE&...`, decoded.
pub async fn header(request: &mut Request) -> Result<Response> {
    let mut response = Response::text("with headers\n");
    for (name, value) in request.args() {
        response = response.header(name.into_owned(), value.into_owned());
    }
    Ok(response)
}

/// `?status=`, with `?body=` if there is one, and `?location=`.
pub async fn with_status(request: &mut Request) -> Result<Response> {
    let status = request.arg("status").unwrap_or("200").parse()?;
    let mut response = Response::new(status);
    if let Some(body) = request.arg("body") {
        response = response.with_body(body.to_owned());
    }
    if let Some(location) = request.arg("location") {
        response = response.header("Location", location.to_owned());
    }
    if request.arg("wait").is_some() {
        sleep(Duration::from_millis(5)).await;
    }
    Ok(response)
}

/// `?size=` bytes that count.
pub async fn big(request: &mut Request) -> Result<Response> {
    let size: usize = request.arg("size").unwrap_or("0").parse()?;
    sleep(Duration::from_millis(5)).await;
    let body: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
    Ok(Response::body(body))
}

/// What a client may have in its cache.
pub async fn conditional(request: &mut Request) -> Result<Response> {
    let mut response = Response::text("the page\n").header("ETag", "\"v1\"");
    if request.arg("date").is_some() {
        response = response.header("Last-Modified", "Tue, 15 Nov 1994 12:45:26 GMT");
    }
    Ok(response)
}

/// A body that has its encoding already, and an own Server and Date.
pub async fn encoded(_: &mut Request) -> Result<Response> {
    Ok(
        Response::text("not really gzip, and long enough that gzip would be tempted by it")
            .header("Content-Encoding", "x-own")
            .header("Server", "own")
            .header("Date", "today"),
    )
}

/// An error with a reason: `?status=`.
pub async fn fail(request: &mut Request) -> Result<Response> {
    let status = request.arg("status").unwrap_or("500").parse()?;
    Err(Error::new(status).because("because of a test"))
}

/// An error of somebody else's, by `?`.
pub async fn fail_with(_: &mut Request) -> Result<Response> {
    let number: u32 = "not a number".parse()?;
    Ok(Response::text(number.to_string()))
}

thread_local! {
    static STASHED: RefCell<Option<Bytes>> = const { RefCell::new(None) };
    static VALUE: Cell<Option<Value>> = const { Cell::new(None) };
}

/// Keeps what belongs to this request, or to its location, for another one.
pub struct Stash {
    value: Value,
}

impl Handler for Stash {
    fn configure(args: &mut Args<'_>) -> Result<Self, ArgError> {
        let value = args.value("value")?.ok_or_else(|| args.missing("value"))?;
        Ok(Stash { value })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        STASHED.set(Some(request.evaluate(self.value)?));
        VALUE.set(Some(self.value));
        Ok(Response::text("stashed\n"))
    }
}

/// Uses what `stash` left: `?what=bytes` in the body, `?what=header`, or `?what=value` evaluated.
pub struct Unstash;

impl Handler for Unstash {
    fn configure(_: &mut Args<'_>) -> Result<Self, ArgError> {
        Ok(Unstash)
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        if request.arg("what") == Some("value") {
            let value = VALUE.get().expect("a stashed value");
            return Ok(Response::body(request.evaluate(value)?));
        }
        let stashed = STASHED.take().expect("stashed bytes");
        Ok(match request.arg("what") {
            Some("header") => Response::text("").header("X-Stashed", stashed),
            Some("name") => Response::text("").header(stashed, "x"),
            Some("type") => Response::text("").content_type(stashed),
            _ => Response::body(stashed),
        })
    }
}
