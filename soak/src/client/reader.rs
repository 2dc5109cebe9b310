//! Reads the answers of an HTTP/1 connection.

use super::Exchange;
use super::framing::{Chunk, Framing};
use crate::judge::{Head, is_enough};
use crate::ledger::Protocol;
use std::io;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::ReadHalf;
use tokio::time::{sleep, timeout};

/// Why there is no more to come on a connection.
pub enum End {
    /// All have been answered.
    Done,
    /// The last answer said that it is the connection's last.
    Announced,
    /// The client needs no more, or wants no more.
    Left,
    /// The server has closed, with a FIN or else in the way that the system tells of.
    Closed(Option<io::Error>),
    /// The server has said nothing for too long, or what is no HTTP.
    Wrong(String),
}

pub struct Reader<'a> {
    pub read: ReadHalf<'a>,
    pub unread: Vec<u8>,
    pub slowly: bool,
    pub patience: Duration,
}

impl Reader<'_> {
    /// Reads the next answer, and says whether there may be another one on this connection.
    pub async fn answer(
        &mut self,
        exchange: &mut Exchange,
        protocol: Protocol,
    ) -> Result<bool, End> {
        let (head, mut framing, kept) = loop {
            match parse(&self.unread, protocol).map_err(End::Wrong)? {
                Some((length, head, framing, kept)) => {
                    self.unread.drain(..length);
                    break (head, framing, kept);
                }
                None => match self.more().await {
                    Ok(()) => {}
                    Err(end) => {
                        exchange.body.append(&mut self.unread);
                        return Err(end);
                    }
                },
            }
        };
        exchange.head = Some(head);
        while !framing
            .take(&mut self.unread, &mut exchange.body)
            .map_err(End::Wrong)?
        {
            if is_enough(&exchange.case, &exchange.body) {
                return Err(End::Left);
            }
            match self.more().await {
                Ok(()) => {}
                Err(End::Closed(_))
                    if framing == Framing::Close && exchange.judge(true).is_ok() =>
                {
                    return Ok(false);
                }
                Err(end) => return Err(end),
            }
        }
        Ok(kept)
    }

    /// Waits for more bytes.
    async fn more(&mut self) -> Result<(), End> {
        let mut buffer = [0; 16 * 1024];
        let some = if self.slowly { 2000 } else { buffer.len() };
        if self.slowly {
            sleep(Duration::from_millis(1)).await;
        }
        match timeout(self.patience, self.read.read(&mut buffer[..some])).await {
            Ok(Ok(0)) => Err(End::Closed(None)),
            Ok(Ok(length)) => {
                self.unread.extend(&buffer[..length]);
                Ok(())
            }
            Ok(Err(e)) => Err(End::Closed(Some(e))),
            Err(_) => Err(End::Wrong(format!("not a byte within {:?}", self.patience))),
        }
    }

    /// Nothing may come but the connection's end.
    pub async fn end(&mut self) -> End {
        while self.unread.is_empty() {
            match self.more().await {
                Ok(()) => {}
                Err(End::Closed(_)) => return End::Announced,
                Err(end) => return end,
            }
        }
        End::Wrong(format!(
            "behind the last answer: \"{}\"",
            self.unread.escape_ascii()
        ))
    }
}

/// The head of an answer: its length, what it tells, how its body ends, and whether the connection is kept.
fn parse(bytes: &[u8], protocol: Protocol) -> Result<Option<(usize, Head, Framing, bool)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(e) => {
            return Err(format!(
                "{e}: \"{}\"",
                bytes[..bytes.len().min(100)].escape_ascii()
            ));
        }
    };
    let value = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let head = Head {
        status: response.code.unwrap_or_default(),
        number: value("X-Number").and_then(|number| number.parse().ok()),
        worker: value("X-Worker").and_then(|pid| pid.parse().ok()),
    };
    let framing = match value("Content-Length") {
        Some(length) => Framing::Length(
            length
                .parse()
                .map_err(|_| format!("Content-Length: {length}"))?,
        ),
        None if value("Transfer-Encoding") == Some("chunked") => Framing::Chunked(Chunk::Size),
        None => Framing::Close,
    };
    let kept = match (protocol, value("Connection")) {
        (Protocol::Http10, connection) => connection == Some("keep-alive"),
        (_, connection) => connection != Some("close"),
    };
    Ok(Some((length, head, framing, kept)))
}
