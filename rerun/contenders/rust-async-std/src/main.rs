//! HTTP by hand over TCP: an async-std task a connection.

use std::io;
use std::time::Duration;

use async_std::io::BufReader;
use async_std::io::prelude::*;
use async_std::net::{TcpListener, TcpStream};
use async_std::task;

#[async_std::main]
async fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).unwrap_or_default();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        task::spawn(serve(stream));
    }
}

async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.clone());
    let mut keep = true;
    while keep {
        let mut first = String::new();
        if reader.read_line(&mut first).await? == 0 {
            break;
        }
        keep = first.ends_with("HTTP/1.1\r\n");
        let mut line = String::new();
        while reader.read_line(&mut line).await? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("connection")
            {
                keep = value.trim().eq_ignore_ascii_case("keep-alive");
            }
            line.clear();
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        stream
            .write_all(answer(path, keep).await.as_bytes())
            .await?;
    }
    Ok(())
}

async fn answer(path: &str, keep: bool) -> String {
    match path {
        "/hello" => page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep),
        "/test" => {
            task::sleep(Duration::from_millis(20)).await;
            page("200 OK", "text/plain", "OK\n", keep)
        }
        _ => page("404 Not Found", "text/plain", "not found\n", keep),
    }
}

fn page(status: &str, media_type: &str, body: &str, keep: bool) -> String {
    let length = body.len();
    let connection = if keep { "keep-alive" } else { "close" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         Connection: {connection}\r\n\r\n{body}"
    )
}
