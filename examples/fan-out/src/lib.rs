//! Asks three servers at once, for a limited time, and answers as JSON what they said.
//!
//! `content_by_rust fan_out first=http://127.0.0.1:81/ second=... third=... limit=500ms;`

use content_by_rust::{Arg, ArgError, Args, Error, Handler, Request, Response, Result, Value};
use futures::future::join3;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use std::error::Error as StdError;
use std::time::Duration;
use tokio::time::timeout;

/// The longest answer that is passed on.
const LONGEST: usize = 1024 * 1024;

struct FanOut {
    upstreams: [Value; 3],
    limit: Arg<Duration>,
    /// Keeps connections for the next request. Each worker has its own.
    client: Client<HttpConnector, Empty<Bytes>>,
}

impl FanOut {
    async fn fetch(
        &self,
        uri: Uri,
    ) -> Result<(StatusCode, Bytes), Box<dyn StdError + Send + Sync>> {
        let answer = self.client.get(uri).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), LONGEST).collect().await?;
        Ok((status, body.to_bytes()))
    }

    /// What one of them said, or why it said nothing.
    async fn ask(&self, uri: Uri, limit: Duration) -> serde_json::Value {
        match timeout(limit, self.fetch(uri)).await {
            Ok(Ok((status, body))) => json!({
                "status": status.as_u16(),
                "body": String::from_utf8_lossy(&body),
            }),
            Ok(Err(error)) => json!({ "error": error.to_string() }),
            Err(_) => json!({ "error": format!("no answer within {limit:?}") }),
        }
    }
}

impl Handler for FanOut {
    fn configure(args: &mut Args<'_>) -> Result<FanOut, ArgError> {
        let mut upstream = |name| args.value(name)?.ok_or_else(|| args.missing(name));
        Ok(FanOut {
            upstreams: [upstream("first")?, upstream("second")?, upstream("third")?],
            limit: args
                .get("limit")?
                .unwrap_or(Arg::constant(Duration::from_secs(1))),
            // No thread and no connection before the first request, which comes after the fork.
            client: Client::builder(TokioExecutor::new()).build_http(),
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let limit = self.limit.get(request)?.unwrap_or_default();
        let ask = |upstream| {
            let uri = Uri::try_from(request.evaluate_bytes(upstream)?)
                .map_err(|e| Error::new(400).because(format_args!("an upstream: {e}")))?;
            Ok::<_, Error>(self.ask(uri, limit))
        };
        let [first, second, third] = self.upstreams;
        let (first, second, third) = join3(ask(first)?, ask(second)?, ask(third)?).await;
        let answer = json!({ "first": first, "second": second, "third": third });
        Ok(Response::json(answer.to_string()))
    }
}

content_by_rust::module! { fan_out: FanOut }
