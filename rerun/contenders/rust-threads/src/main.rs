//! HTTP by hand over TCP: a thread a connection.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).unwrap_or_default();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    for stream in listener.incoming() {
        let stream = stream?;
        thread::spawn(move || serve(stream));
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut keep = true;
    while keep {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            break;
        }
        keep = first.ends_with("HTTP/1.1\r\n");
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("connection")
            {
                keep = value.trim().eq_ignore_ascii_case("keep-alive");
            }
            line.clear();
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        stream.write_all(answer(path, keep).as_bytes())?;
    }
    Ok(())
}

fn answer(path: &str, keep: bool) -> String {
    match path {
        "/hello" => page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep),
        "/test" => {
            thread::sleep(Duration::from_millis(20));
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
