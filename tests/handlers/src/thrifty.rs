//! A handler that takes no memory itself.

use content_by_rust::{Error, Request, Response, Result, SharedZone};

#[derive(Default)]
struct Number(u64);

/// What `?do=` says.
pub async fn thrifty(request: &mut Request) -> Result<Response> {
    match request.arg("do") {
        Some("header") => Ok(Response::html("answered\n").header("X-A", "b")),
        Some("error") => Err(Error::new(500).because(format_args!("not {}", "today"))),
        Some("redirect") => Ok(Response::internal_redirect("/hello")),
        Some("stream") => {
            let mut stream = request.stream(Response::new(200).header("X-A", "b"))?;
            stream.write("streamed\n").await?;
            Ok(stream.finish())
        }
        Some("data") => {
            request.data::<Number>().0 += 1;
            assert_eq!(request.data::<Number>().0, 1);
            Ok(Response::text("counted\n"))
        }
        Some("zone") => {
            let zone = SharedZone::find("z")?;
            zone.set("key", "value", None)?;
            let counted = zone.incr("number", 1, None)?;
            assert!(counted > 0 && zone.get("key").is_some_and(|value| value == b"value"));
            Ok(Response::text("shared\n"))
        }
        _ => Err(Error::new(400)),
    }
}
