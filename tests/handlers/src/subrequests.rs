//! Other locations of the same server, asked by a handler.

use super::bodies::Alive;
use content_by_rust::{Level, Request, Response, Result, SubrequestResponse, sleep};
use futures::future::{Either, FutureExt, join_all, select};
use futures::stream::{FuturesUnordered, StreamExt};
use std::fmt::Write;
use std::pin::pin;
use std::time::Duration;

fn decoded(request: &Request, name: &str) -> String {
    request.arg(name).unwrap_or_default().to_owned()
}

fn shown(answer: &SubrequestResponse) -> String {
    let mut text = format!("{} ", answer.status());
    for (name, value) in answer.headers() {
        let (name, value) = (name.escape_ascii(), value.escape_ascii());
        write!(text, "{name}={value} ").expect("a string grows");
    }
    text + &answer.body().escape_ascii().to_string()
}

/// What `?uri=` answers: status, headers, body.
pub async fn ask(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let uri = decoded(request, "uri");
    request.log(Level::Notice, "asks");
    let answer = request.subrequest(uri).await?;
    assert_eq!(answer.header("x-part"), answer.header("X-Part"));
    Ok(Response::text(format!("{}\n", shown(&answer))))
}

/// As `ask`, with `?method=`, `?body=`, `?type=`, `?arg=`s and `?without=`s, when its own body has been read if
/// it shall be. Its own header lines are as before.
pub async fn ask_with(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    if request.arg("read").is_some() {
        drop(request.body().await?);
    }
    let lines = |request: &Request| {
        let lines = request.headers();
        lines
            .map(|(name, value)| [name, value].concat())
            .collect::<Vec<_>>()
    };
    let before = lines(request);
    let mut asked = request.subrequest(decoded(request, "uri"));
    if let Some(method) = request.arg("method") {
        asked = asked.method(method.to_owned());
    }
    if let Some(body) = request.arg("body") {
        asked = asked.body(body);
    }
    if let Some(content_type) = request.arg("type") {
        asked = asked.content_type(content_type);
    }
    for (_, value) in request.args().filter(|(name, _)| name == "arg") {
        asked = asked.arg("a b", &value);
    }
    for (_, name) in request.args().filter(|(name, _)| name == "without") {
        asked = asked.without_header(&name);
    }
    let answer = asked.await?;
    assert_eq!(lines(request), before);
    Ok(Response::text(format!("{}\n", shown(&answer))))
}

/// A POST for each byte of `?bodies=`, all at once.
pub async fn post_all(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let (uri, bodies) = (decoded(request, "uri"), decoded(request, "bodies"));
    let asked = bodies.bytes().enumerate().map(|(n, byte)| {
        let body = vec![byte; n + 1];
        request.subrequest(&*uri).method("POST").body(body)
    });
    let mut body = Vec::new();
    for answer in join_all(asked).await {
        body.extend(answer?.into_body());
    }
    Ok(Response::body(body))
}

/// What a subrequest sees: method, arguments, length, type, body.
pub async fn seen(request: &mut Request) -> Result<Response> {
    let body = request.body().await?;
    Ok(Response::text(format!(
        "{}?{} length {:?} type {:?} body {:?} x {:?}\n",
        request.method(),
        request.query().escape_ascii(),
        request.header("Content-Length"),
        request.header("Content-Type"),
        String::from_utf8_lossy(&body),
        request.header("X-Own"),
    )))
}

/// The header lines that a subrequest has.
pub async fn lines(request: &mut Request) -> Result<Response> {
    let mut text = String::new();
    for (name, value) in request.headers() {
        let (name, value) = (name.escape_ascii(), value.escape_ascii());
        writeln!(text, "{name}: {value}").expect("a string grows");
    }
    Ok(Response::text(text))
}

/// As `ask`, one after the other, `?n=` times.
pub async fn ask_again(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let (uri, n) = (decoded(request, "uri"), decoded(request, "n").parse()?);
    let mut text = String::new();
    for _ in 0..n {
        let answer = request.subrequest(&*uri).await?;
        text += std::str::from_utf8(answer.body())?;
    }
    Ok(Response::text(text))
}

/// All of `?uri=` at once; their bodies in the order in which they were asked.
pub async fn ask_all(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let uris = request.args().filter(|(name, _)| name == "uri");
    let answers = join_all(uris.map(|(_, uri)| request.subrequest(uri))).await;
    let mut body = Vec::new();
    for answer in answers {
        body.extend(answer?.into_body());
        body.push(b' ');
    }
    Ok(Response::body(body))
}

/// All of `?uri=` at once; their bodies in the order in which they come.
pub async fn ask_any(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let uris = request.args().filter(|(name, _)| name == "uri");
    let mut asked: FuturesUnordered<_> = uris.map(|(_, uri)| request.subrequest(uri)).collect();
    let mut body = Vec::new();
    while let Some(answer) = asked.next().await {
        body.extend(answer?.into_body());
        body.push(b' ');
    }
    drop(asked);
    Ok(Response::body(body))
}

/// `?uri=`, but no longer than `?ms=`.
pub async fn ask_for_a_while(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let (uri, ms) = (decoded(request, "uri"), decoded(request, "ms").parse()?);
    let asking = request.subrequest(uri);
    match select(asking, pin!(sleep(Duration::from_millis(ms)))).await {
        Either::Left((answer, _)) => Ok(Response::body(answer?.into_body())),
        Either::Right(_) => {
            request.log(Level::Notice, "given up");
            Ok(Response::text("given up\n"))
        }
    }
}

/// One that is dropped when it has begun, and one that is asked then.
pub async fn ask_another(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let (uri, other) = (decoded(request, "uri"), decoded(request, "other"));
    let mut dropped = request.subrequest(uri);
    assert!((&mut dropped).now_or_never().is_none());
    drop(dropped);
    let unpolled = request.subrequest("/never");
    drop(unpolled);
    let answer = request.subrequest(other).await?;
    Ok(Response::body(answer.into_body()))
}

/// `?uri=`, then a minute, or `?ms=`.
pub async fn ask_and_wait(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let answer = request.subrequest(decoded(request, "uri")).await?;
    request.log(Level::Notice, format_args!("has {}", answer.status()));
    let ms = request.arg("ms").and_then(|ms| ms.parse().ok());
    sleep(Duration::from_millis(ms.unwrap_or(60_000))).await;
    Ok(Response::body(answer.into_body()))
}

/// What fails is answered nevertheless.
pub async fn ask_bravely(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let text = match request.subrequest(decoded(request, "uri")).await {
        Ok(answer) => format!("{}\n", answer.status()),
        Err(_) => "failed\n".to_owned(),
    };
    sleep(Duration::from_millis(1)).await;
    Ok(Response::text(text))
}

/// Begins with a body of `?uri=`'s, and goes on with its own.
pub async fn ask_and_stream(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let answer = request.subrequest(decoded(request, "uri")).await?;
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    for piece in answer.body().chunks(5) {
        stream.write(piece).await?;
        sleep(Duration::from_millis(1)).await;
    }
    stream.write("\n").await?;
    Ok(stream.finish())
}

/// Sets `?name=` to `?value=`, and answers what it is then, here and for `?uri=`.
pub async fn set_variable(request: &mut Request) -> Result<Response> {
    let (name, value) = (decoded(request, "name"), decoded(request, "value"));
    request.set_variable(&name, &value)?;
    let mut text = format!("{:?}\n", request.variable(&name));
    if request.arg("uri").is_some() {
        let answer = request.subrequest(decoded(request, "uri")).await?;
        text += std::str::from_utf8(answer.body())?;
    }
    Ok(Response::text(text))
}

#[derive(Default)]
struct Visits(Vec<String>);

impl Drop for Visits {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

static DROPPED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Where this request has been, `?fail=` times before it answers.
pub async fn visit(request: &mut Request) -> Result<Response> {
    let path = request.path().to_owned();
    let failures: usize = decoded(request, "fail").parse().unwrap_or_default();
    let slow = request.arg("slow").is_some();
    request.data::<Visits>().0.push(path);
    *request.data::<usize>() += 1;
    if slow {
        sleep(Duration::from_millis(2)).await;
    }
    let times = *request.data::<usize>();
    if times <= failures {
        return Err(content_by_rust::Error::new(418));
    }
    let visits = request.data::<Visits>().0.join(" ");
    Ok(Response::text(format!("{times}: {visits}\n")))
}

/// How many `Visits` have been dropped.
pub async fn visits_dropped(_: &mut Request) -> Result<Response> {
    let dropped = DROPPED.load(std::sync::atomic::Ordering::Relaxed);
    Ok(Response::text(format!("{dropped}\n")))
}
