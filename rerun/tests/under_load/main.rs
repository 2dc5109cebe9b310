//! A server of the test `compare`: right until a file is there, and from then on as its habit says.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

fn main() {
    let mut words = std::env::args().skip(1);
    let port = words.next().expect("a port");
    let habit = words.next().expect("a habit");
    let sign = words.next().expect("a file");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("bind");
    for stream in listener.incoming().flatten() {
        let (habit, sign) = (habit.clone(), sign.clone());
        thread::spawn(move || serve(stream, &habit, Path::new(&sign)));
    }
}

fn serve(stream: TcpStream, habit: &str, sign: &Path) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let mut keep = first.ends_with("HTTP/1.1\r\n");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            keep &= !line.to_ascii_lowercase().starts_with("connection: close");
            if line == "\r\n" {
                break;
            }
        }
        let path = first.split(' ').nth(1)?;
        let tired = sign.exists();
        let (status, kind, body) = match path {
            "/hello" if tired && habit == "errs" => ("200 OK", "text/html", "<h1>HelloWorlds</h1>"),
            "/hello" if tired && habit == "dies" => std::process::exit(7),
            "/hello" => ("200 OK", "text/html", "<h1>HelloWorld</h1>\n"),
            "/test" => {
                thread::sleep(Duration::from_millis(20));
                ("200 OK", "text/plain", "OK\n")
            }
            _ => ("404 Not Found", "text/plain", "not found\n"),
        };
        let connection = if keep { "keep-alive" } else { "close" };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
        write!(writer, "{head}Connection: {connection}\r\n\r\n{body}").ok()?;
        if !keep {
            return None;
        }
    }
}
