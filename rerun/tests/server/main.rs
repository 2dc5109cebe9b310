//! A small server that does what its second argument says: a contender in a new language, as far as rerun can tell.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (port, habit) = (&arguments[1], &arguments[2]);
    match habit.as_str() {
        "dies" => {
            eprintln!("no such file: answers.txt");
            std::process::exit(3);
        }
        "hangs" => loop {
            std::thread::park();
        },
        "forks" => {
            // A shell starts the real server in another session, where its process group is of no use, and ends.
            let me = std::env::current_exe().unwrap();
            let script = "trap '' TERM; setsid \"$0\" \"$1\" stubborn & sleep 1000";
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", script]).arg(me).arg(port);
            let _ = shell.status();
        }
        _ => {}
    }
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("bind");
    for stream in listener.incoming() {
        let garbage = habit == "garbage";
        let dies_later = habit == "dies-later";
        std::thread::spawn(move || serve(stream.unwrap(), garbage, dies_later));
    }
}

fn serve(mut stream: TcpStream, garbage: bool, dies_later: bool) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut first = String::new();
        reader
            .read_line(&mut first)
            .ok()
            .filter(|&count| count > 0)?;
        let mut line = String::new();
        let mut keep = first.ends_with("HTTP/1.1\r\n");
        while reader.read_line(&mut line).ok()? > 2 {
            keep &= !line.to_ascii_lowercase().starts_with("connection: close");
            line.clear();
        }
        let (status, kind, body) = match first.split(' ').nth(1)? {
            "/hello" => ("200 OK", "text/html", "<h1>HelloWorld</h1>\n"),
            "/test" if dies_later => std::process::exit(7),
            "/test" => {
                std::thread::sleep(Duration::from_millis(20));
                ("200 OK", "text/plain", "OK\n")
            }
            _ => ("404 Not Found", "text/plain", "not found\n"),
        };
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let answer = if garbage {
            "SSH-2.0-nothing\r\n\r\n"
        } else {
            &answer
        };
        stream.write_all(answer.as_bytes()).ok()?;
        if !keep || garbage {
            return None;
        }
    }
}
