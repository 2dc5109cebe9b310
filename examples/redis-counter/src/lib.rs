//! Counts in Redis, over one connection a worker.
//!
//! `content_by_rust redis_counter server=127.0.0.1:6379 key=$uri;`

use content_by_rust::{
    Arg, ArgError, Args, Error, FromArg, Handler, Request, Response, Result, Value,
};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, RedisConnectionInfo, RedisResult};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long Redis may take, to be reached and to answer.
const PATIENCE: Duration = Duration::from_secs(1);

struct RedisCounter {
    server: Arg<Server>,
    key: Value,
    /// Each worker has a handler of its own, and so a connection. Those who find none wait for
    /// the first of them to make it.
    connected: Mutex<Option<Connected>>,
}

/// A Redis by its address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Server(SocketAddr);

impl FromArg for Server {
    const MUST_BE: &'static str = "an address such as \"127.0.0.1:6379\"";

    fn parse(text: &[u8]) -> Option<Server> {
        Some(Server(std::str::from_utf8(text).ok()?.parse().ok()?))
    }
}

/// A connection that all requests share: their commands go out one behind the other, and the
/// answers come back in that order.
struct Connected {
    to: Server,
    connection: MultiplexedConnection,
    /// Reads and writes for the connection, on a thread of tokio's, and ends with it.
    driver: JoinHandle<()>,
}

impl Connected {
    async fn connect(to: Server) -> RedisResult<Connected> {
        let stream = TcpStream::connect(to.0).await?;
        let (info, config) = (RedisConnectionInfo::default(), AsyncConnectionConfig::new());
        let config = config.set_response_timeout(Some(PATIENCE));
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&info, stream, config).await?;
        Ok(Connected {
            to,
            connection,
            driver: tokio::spawn(driver),
        })
    }
}

impl RedisCounter {
    /// The worker's connection: a new one where there is none, or where Redis has closed it.
    async fn connection(&self, to: Server) -> Result<MultiplexedConnection> {
        let mut connected = self.connected.lock().await;
        match &*connected {
            Some(kept) if kept.to == to && !kept.driver.is_finished() => {
                Ok(kept.connection.clone())
            }
            _ => {
                *connected = None;
                let new = timeout(PATIENCE, Connected::connect(to)).await;
                let new = new.map_err(bad_gateway)?.map_err(bad_gateway)?;
                Ok(connected.insert(new).connection.clone())
            }
        }
    }
}

impl Handler for RedisCounter {
    fn configure(args: &mut Args<'_>) -> Result<RedisCounter, ArgError> {
        let here = Server((Ipv4Addr::LOCALHOST, 6379).into());
        Ok(RedisCounter {
            server: args.get("server")?.unwrap_or(Arg::constant(here)),
            key: args.value("key")?.ok_or_else(|| args.missing("key"))?,
            connected: Mutex::new(None),
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let Some(server) = self.server.get(request)? else {
            return Err(Error::new(400).because("no server"));
        };
        let key = request.evaluate_bytes(self.key)?;
        let mut connection = self.connection(server).await?;
        // One that failed is not repeated: it may have been counted.
        let count: u64 = connection.incr(key, 1).await.map_err(bad_gateway)?;
        Ok(Response::text(format!("{count}\n")))
    }
}

fn bad_gateway(error: impl fmt::Display) -> Error {
    Error::new(502).because(format_args!("redis: {error}"))
}

content_by_rust::module! { redis_counter: RedisCounter }
