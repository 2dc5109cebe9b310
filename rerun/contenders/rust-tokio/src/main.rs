//! HTTP by hand over TCP: a tokio task a connection.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).unwrap_or_default();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(stream));
    }
}

async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.split();
    let mut reader = BufReader::new(reader);
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
        writer
            .write_all(answer(path, keep).await.as_bytes())
            .await?;
    }
    Ok(())
}

async fn answer(path: &str, keep: bool) -> String {
    match path {
        "/hello" => page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep),
        "/test" => {
            sleep(Duration::from_millis(20)).await;
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
