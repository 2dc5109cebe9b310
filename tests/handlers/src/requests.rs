//! What a handler sees of its request, told to the client.

use content_by_rust::{ArgError, Args, Handler, Level, Request, Response, Result, Value};
use std::time::Duration;

/// The request line and the client.
pub async fn tell(request: &mut Request) -> Result<Response> {
    Ok(Response::text(format!(
        "method {}\npath {}\npath bytes {}\nquery {}\nclient {}\n",
        request.method(),
        request.path(),
        request.path_bytes().escape_ascii(),
        request.query().escape_ascii(),
        request.client_address(),
    )))
}

/// Each argument, decoded and raw; then the first one called `a`, both ways.
pub async fn arguments(request: &mut Request) -> Result<Response> {
    let mut told = String::new();
    for (name, value) in request.args() {
        told += &format!("decoded {name:?} {value:?}\n");
    }
    for (name, value) in request.raw_args() {
        let (name, value) = (name.escape_ascii(), value.escape_ascii());
        told += &format!("raw {name} {value}\n");
    }
    told += &format!("a is {:?}\n", request.arg("a"));
    let raw = request
        .raw_arg("a")
        .map(|raw| raw.escape_ascii().to_string());
    told += &format!("raw a is {raw:?}\n");
    Ok(Response::text(told))
}

/// Header lines but for those that every client sends; and the first `X-One`, asked for in
/// another case.
pub async fn headers(request: &mut Request) -> Result<Response> {
    let mut told = String::new();
    for (name, value) in request.headers() {
        if name.starts_with(b"X-") {
            let (name, value) = (name.escape_ascii(), value.escape_ascii());
            told += &format!("{name}: {value}\n");
        }
    }
    let one = request
        .header_bytes("x-ONE")
        .map(|one| one.escape_ascii().to_string());
    told += &format!("one is {:?}, in bytes {one:?}\n", request.header("x-ONE"));
    told += &format!("none is {:?}\n", request.header("X-None"));
    Ok(Response::text(told))
}

/// How many arguments and header lines there are, with `?limit=` and without; and the last
/// argument by its name.
pub async fn counts(request: &mut Request) -> Result<Response> {
    let limit = request.arg("limit").and_then(|limit| limit.parse().ok());
    let (args, raw, headers) = match limit {
        Some(usize::MAX) => (
            request.args().unlimited().count(),
            request.raw_args().unlimited().count(),
            request.headers().unlimited().count(),
        ),
        Some(limit) => (
            request.args().limit(limit).count(),
            request.raw_args().limit(limit).count(),
            request.headers().limit(limit).count(),
        ),
        None => (
            request.args().count(),
            request.raw_args().count(),
            request.headers().count(),
        ),
    };
    let (last, header) = (request.arg("last"), request.header("X-Last"));
    Ok(Response::text(format!(
        "{args} {raw} {headers}, {last:?} {:?} {header:?}\n",
        request.raw_arg("last").map(<[u8]>::len)
    )))
}

/// The arguments of a form, `?limit=` of them, and the first `a`.
pub async fn form(request: &mut Request) -> Result<Response> {
    let limit = request.arg("limit").and_then(|limit| limit.parse().ok());
    let form = match limit {
        Some(usize::MAX) => request.post_args().unlimited().await?,
        Some(limit) => request.post_args().limit(limit).await?,
        None => request.post_args().await?,
    };
    let first = form.get("a").map(str::to_owned);
    let count = form.iter().count();
    let text = format!("{count} {first:?} {form:?}\n");
    assert!(
        form.clone()
            .iter()
            .map(|(name, _)| name.to_owned())
            .eq(form.into_iter().map(|(name, _)| name))
    );
    Ok(Response::text(text))
}

/// The variable that `?name=` names.
pub async fn variable(request: &mut Request) -> Result<Response> {
    let name = request.arg("name").unwrap_or_default();
    let bytes = request
        .variable_bytes(name)
        .map(|value| value.escape_ascii().to_string());
    let told = format!("{:?}, in bytes {bytes:?}\n", request.variable(name));
    Ok(Response::text(told))
}

/// A line at each level.
pub async fn log_levels(request: &mut Request) -> Result<Response> {
    for level in [
        Level::Emerg,
        Level::Alert,
        Level::Crit,
        Level::Error,
        Level::Warn,
        Level::Notice,
        Level::Info,
        Level::Debug,
    ] {
        request.log(
            level,
            format_args!("a line at {level:?} with 100 %s and {}", "text"),
        );
    }
    Ok(Response::text("logged\n"))
}

/// Answers `value=`, a text with variables, as the location's configuration gives it. What it is
/// as a text is in a header line, where `?text` asks for that.
pub struct Evaluate {
    value: Value,
}

impl Handler for Evaluate {
    fn configure(args: &mut Args<'_>) -> Result<Self, ArgError> {
        let value = args.value("value")?.ok_or_else(|| args.missing("value"))?;
        Ok(Evaluate { value })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let answer = Response::body(request.evaluate(self.value)?);
        Ok(match request.arg("text") {
            Some(_) => answer.header("X-Text", request.evaluate_str(self.value)?.to_owned()),
            None => answer,
        })
    }
}

/// Answers what the location's configuration says, which has no variables.
pub struct Constants {
    number: Option<u64>,
    delay: Option<Duration>,
}

impl Handler for Constants {
    fn configure(args: &mut Args<'_>) -> Result<Self, ArgError> {
        Ok(Constants {
            number: args.constant("number")?,
            delay: args.constant("delay")?,
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let (number, delay, most) = (self.number, self.delay, request.max_delay());
        Ok(Response::text(format!(
            "{number:?} {delay:?} of {most:?}\n"
        )))
    }
}
