//! The servers that some handlers ask.

use std::io;
use std::net::Ipv4Addr;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// They end, and all their connections with them, when this is dropped.
#[derive(Debug)]
pub struct Partners {
    pub http: u16,
    pub echo: u16,
    pub byte: u16,
    _stop: watch::Sender<()>,
}

impl Partners {
    /// Starts them, within a runtime.
    pub async fn start() -> io::Result<Partners> {
        let (stop, stopped) = watch::channel(());
        Ok(Partners {
            http: listen(stopped.clone(), http).await?,
            echo: listen(stopped.clone(), echo).await?,
            byte: listen(stopped, byte).await?,
            _stop: stop,
        })
    }
}

/// Serves each connection until its end or that of the partners; gives the port.
async fn listen<F>(mut stopped: watch::Receiver<()>, serve: fn(TcpStream) -> F) -> io::Result<u16>
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.changed() => return,
            };
            // Without a descriptor for it the next one may do.
            let Ok((stream, _)) = accepted else { continue };
            let mut stopped = stopped.clone();
            tokio::spawn(async move {
                tokio::select! {
                    // How a connection ends is the business of who has made it.
                    _ = serve(stream) => {}
                    _ = stopped.changed() => {}
                }
            });
        }
    });
    Ok(port)
}

/// Answers a GET for `/NAME/NUMBER` with both.
async fn http(stream: TcpStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    let mut body = String::new();
    while stream.read_line(&mut line).await? > 0 {
        if let Some(path) = line.strip_prefix("GET /") {
            let path = path.split(' ').next().unwrap_or_default();
            body = format!("{}\n", path.replace('/', " "));
        }
        if line == "\r\n" {
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await?;
        }
        line.clear();
    }
    Ok(())
}

/// Sends back what it gets.
async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let (mut read, mut write) = stream.split();
    tokio::io::copy(&mut read, &mut write).await?;
    Ok(())
}

/// Sends one byte, and waits until the other side closes.
async fn byte(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(b"b").await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}
