//! Answers written piece by piece.

use super::bodies::Alive;
use content_by_rust::{Error, Request, Response, Result, sleep};
use futures::future::{Either, select};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many writes `stream_gives_up` has given up.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

pub async fn given_up(_: &mut Request) -> Result<Response> {
    let given_up = GIVEN_UP.load(Ordering::Relaxed);
    Ok(Response::text(format!("{given_up}\n")))
}

/// How many bytes `stream_bytes` has written.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

pub async fn written(_: &mut Request) -> Result<Response> {
    Ok(Response::text(format!(
        "{}\n",
        WRITTEN.load(Ordering::Relaxed)
    )))
}

fn number(request: &Request, name: &str) -> Option<usize> {
    request.arg(name)?.parse().ok()
}

fn ms(ms: usize) -> Duration {
    Duration::from_millis(ms as u64)
}

/// A stretch of an endless text whose every eight bytes tell their place: a loss, a double or a
/// change of order shows.
fn text(from: usize, length: usize) -> Vec<u8> {
    let first = from / 8;
    let lines = (first..=first + length / 8 + 1).flat_map(|n| format!("{n:07x}\n").into_bytes());
    lines.skip(from % 8).take(length).collect()
}

/// `?n=` pieces of `?size=` bytes, `?ms=` after each, `?type=`.
pub async fn stream_bytes(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let pieces = number(request, "n").unwrap_or(1);
    let size = number(request, "size").unwrap_or(8);
    let pause = number(request, "ms");
    let mut head = Response::new(200).header("X-Streamed", "yes");
    if let Some(content_type) = request.arg("type") {
        head = head.content_type(content_type.to_owned());
    }
    let mut stream = request.stream(head)?;
    for n in 0..pieces {
        stream.write(text(n * size, size)).await?;
        WRITTEN.fetch_add(size, Ordering::Relaxed);
        if let Some(pause) = pause {
            sleep(ms(pause)).await;
        }
    }
    Ok(stream.finish())
}

/// `?text=`, `?n=` times with `?ms=` before each.
pub async fn stream_text(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let text = request.arg("text").unwrap_or_default().to_owned();
    let (times, pause) = (number(request, "n").unwrap_or(1), number(request, "ms"));
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    for _ in 0..times {
        if let Some(pause) = pause {
            sleep(ms(pause)).await;
        }
        stream.write(&text).await?;
    }
    Ok(stream.finish())
}

/// Begins, and ends as `?how=` says.
pub async fn stream_ends(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let how = request.arg("how").unwrap_or_default().to_owned();
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    if how != "at once" {
        stream.write("begun\n").await?;
    }
    if how.ends_with("later") {
        sleep(ms(5)).await;
    }
    if how.starts_with("error") {
        return Err(Error::new(503).because("no more of it"));
    }
    if how.starts_with("panic") {
        panic!("in the middle");
    }
    if how.starts_with("second") {
        return Ok(Response::text("a second answer\n"));
    }
    Ok(stream.finish())
}

/// A head that nginx does not send, or not as it is: `?what=`.
pub async fn stream_head(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let head = match request.arg("what").unwrap_or_default() {
        "length" => Response::new(200).header("Content-Length", "3"),
        "split" => Response::new(200).header("X-A", "1\r\nX-B: 2"),
        "status" => Response::new(99),
        "204" => Response::new(204),
        "304" => Response::new(304),
        "body" => Response::text("never sent\n"),
        "404" => Response::new(404),
        _ => Response::new(200).header("Last-Modified", "Mon, 28 Sep 1970 06:00:00 GMT"),
    };
    if request.arg("late").is_some() {
        sleep(ms(5)).await;
    }
    let mut stream = request.stream(head)?;
    stream.write("streamed\n").await?;
    Ok(stream.finish())
}

/// Pieces of `?size=` bytes, each given up after `?ms=`, until `?n=` have been; then one more.
/// Each piece has a letter of its own. `?rest=` before the last.
pub async fn stream_gives_up(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let size = number(request, "size").unwrap_or(1 << 20);
    let (times, time) = (number(request, "n").unwrap_or(1), number(request, "ms"));
    let rest = number(request, "rest");
    let (mut given_up, mut whole) = (0, 0);
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    for letter in (b'a'..=b'z').cycle() {
        let piece = vec![letter; size];
        let writing = pin!(stream.write(&piece));
        match select(writing, pin!(sleep(ms(time.unwrap_or(1))))).await {
            Either::Left((written, _)) => {
                written?;
                whole += 1;
            }
            Either::Right(_) => {
                given_up += 1;
                GIVEN_UP.fetch_add(1, Ordering::Relaxed);
            }
        }
        if given_up >= times {
            break;
        }
    }
    if let Some(rest) = rest {
        sleep(ms(rest)).await;
    }
    stream
        .write(format!("\n{given_up} given up, {whole} whole\n"))
        .await?;
    Ok(stream.finish())
}

/// Writes without end, and looks at the clock each 50 ms meanwhile.
pub async fn stream_impatient(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    let piece = vec![b'x'; 32 * 1024];
    let writes = async {
        loop {
            if let Err(error) = stream.write(&piece).await {
                return error;
            }
        }
    };
    let ticks = async {
        loop {
            sleep(ms(50)).await;
        }
    };
    match select(pin!(writes), pin!(ticks)).await {
        Either::Left((error, _)) => Err(error),
        Either::Right(((), _)) => unreachable!("the clock does not stop"),
    }
}

/// Reads the body, and writes it back while it comes.
pub async fn stream_body(request: &mut Request) -> Result<Response> {
    let _alive = Alive::new();
    let body = request.body().await?;
    let mut stream = request.stream(Response::new(200).content_type("text/plain"))?;
    for piece in body.chunks(1000) {
        stream.write(piece).await?;
    }
    Ok(stream.finish())
}
