//! Answers that come from elsewhere.

use super::bodies::Alive;
use content_by_rust::{
    ArgError, Args, Handler, Level, Request, Response, Result, encode_path, sleep,
};
use futures::FutureExt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

#[derive(Default)]
struct Trail(Vec<String>);

/// Goes on to `?to=`, a URI, or a name that begins with `@`: at once, after `?ms=`, when the body
/// has been read (`?read=chunk`, `whole` or `passed on`), a subrequest answered (`?ask=`) or begun (`?begin=`).
pub async fn go(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let arg = |name| request.arg(name).map(str::to_owned);
    let (to, read) = (arg("to").unwrap_or_default(), arg("read"));
    let (ask, begin) = (arg("ask"), arg("begin"));
    let ms = request.arg("ms").and_then(|ms| ms.parse().ok());
    let path = request.path().to_owned();
    request.data::<Trail>().0.push(path);
    if let Some(ms) = ms {
        sleep(Duration::from_millis(ms)).await;
    }
    match read.as_deref() {
        Some("chunk") => drop(request.body().chunk().await?),
        Some("whole") => drop(request.body().await?),
        Some("passed on") => {
            let mut body = request.body().await?;
            body.reverse();
            request.set_body(body)?;
        }
        Some("not") => request.set_body("instead")?,
        _ => {}
    }
    if let Some(ask) = ask {
        request.subrequest(ask).await?;
    }
    if let Some(begin) = begin {
        assert!(request.subrequest(begin).now_or_never().is_none());
    }
    request.log(Level::Notice, "goes on");
    Ok(
        match to.starts_with('@') || request.arg("by") == Some("name") {
            true => Response::named_location(to),
            false => Response::internal_redirect(to),
        }
        .header("X-Gone", "on"),
    )
}

/// What is seen where [`go`] leads: the request, its body, and the way.
pub async fn arrived(request: &mut Request) -> Result<Response> {
    if let Some(ms) = request.arg("wait").and_then(|ms| ms.parse().ok()) {
        sleep(Duration::from_millis(ms)).await;
    }
    let body = request.body().await?;
    let trail = request.data::<Trail>().0.join(" ");
    Ok(Response::text(format!(
        "{} {}?{} length {:?} body {:?} by {trail}\n",
        request.method(),
        request.path(),
        request.query().escape_ascii(),
        request.header("Content-Length"),
        String::from_utf8_lossy(&body),
    )))
}

/// Has `/under/` answer for what is behind `/names/` in the path, or for `?name=`: by a subrequest
/// where `?ask` says so, else by a redirect.
pub async fn go_under(request: &mut Request) -> Result<Response> {
    let path = request.path_bytes();
    let name = match request.arg("name") {
        Some(name) => name.as_bytes(),
        None => path.strip_prefix(b"/names/").unwrap_or(path),
    };
    let uri = format!("/under/{}?own", encode_path(name));
    if request.arg("ask").is_some() {
        let answer = request.subrequest(uri).await?;
        return Ok(Response::body(answer.into_body()));
    }
    Ok(Response::internal_redirect(uri))
}

/// The path and the arguments where [`go_under`] leads.
pub async fn under(request: &mut Request) -> Result<Response> {
    let (path, query) = (request.path_bytes(), request.query());
    let (path, query) = (path.escape_ascii(), query.escape_ascii());
    Ok(Response::text(format!("{path}?{query}\n")))
}

/// How many futures that count themselves live: [`go`] does so.
pub async fn arrived_alone(_: &mut Request) -> Result<Response> {
    let alive = super::bodies::how_many_alive();
    Ok(Response::text(format!("{alive} alive\n")))
}

/// Goes on to `/alone` when it is polled for the first time, or the second one where `?ms=` says
/// so. Unlike an async fn's, what its future has is dropped with the future, and not before.
pub struct GoByHand;

struct Going<'a> {
    _alive: Alive,
    request: &'a Request,
    waited: bool,
}

impl Future for Going<'_> {
    type Output = Result<Response>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Response>> {
        if self.request.arg("ms").is_some() && !std::mem::replace(&mut self.waited, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(Response::internal_redirect("/alone")))
    }
}

impl Handler for GoByHand {
    fn configure(_: &mut Args<'_>) -> Result<GoByHand, ArgError> {
        Ok(GoByHand)
    }

    fn handle(&self, request: &mut Request) -> impl Future<Output = Result<Response>> {
        Going {
            _alive: Alive::new(),
            request,
            waited: false,
        }
    }
}

/// Begins an answer of its own, and then wants another location's.
pub async fn go_too_late(request: &mut Request) -> Result<Response> {
    let mut stream = request.stream(Response::new(200))?;
    stream.write("begun").await?;
    Ok(Response::internal_redirect("/arrived"))
}

/// Sends the client to `?to=` with `?status=`.
pub async fn go_outside(request: &mut Request) -> Result<Response> {
    let status = request.arg("status").unwrap_or("302").parse()?;
    let to = request.arg("to").unwrap_or_default().to_owned();
    Ok(Response::redirect(status, to))
}

/// Reads the body, and fails.
pub async fn go_wrong(request: &mut Request) -> Result<Response> {
    let ms = request.arg("ms").and_then(|ms| ms.parse().ok());
    drop(request.body().await?);
    if let Some(ms) = ms {
        sleep(Duration::from_millis(ms)).await;
        return Ok(Response::new(403));
    }
    Err(content_by_rust::Error::new(403))
}
