//! `reply`: an answer out of the configuration.

use crate::{Arg, ArgError, Args, Handler, Request, Response, Result, Status, Value, sleep};
use std::time::Duration;

/// Waits, then answers: `content_by_rust reply body=… delay=… status=… type=…;`
pub struct Reply {
    body: Option<Value>,
    delay: Option<Arg<Duration>>,
    status: Option<Arg<Status>>,
    content_type: Option<Value>,
}

impl Handler for Reply {
    const USES_TOKIO: bool = false;

    fn configure(args: &mut Args<'_>) -> Result<Reply, ArgError> {
        Ok(Reply {
            body: args.value("body")?,
            delay: args.get("delay")?,
            status: args.get("status")?,
            content_type: args.header_value("type")?,
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        // What a client gets wrong it learns before the wait.
        let status = match &self.status {
            Some(status) => status.get(request)?.map_or(200, |Status(status)| status),
            None => 200,
        };
        let delay = match &self.delay {
            Some(delay) => delay.get(request)?.unwrap_or_default(),
            None => Duration::ZERO,
        };
        let content_type = match self.content_type {
            Some(content_type) => request.evaluate_header(content_type)?,
            None => None,
        };

        if !delay.is_zero() {
            sleep(delay).await;
        }

        let mut response = match self.body {
            Some(body) => Response::body(request.evaluate(body)?),
            // Nobody wrote a body for this error: the location's error page is better than "OK".
            None if status >= 400 && request.has_error_page(status) => Response::new(status),
            None => Response::body("OK\n"),
        };
        if let Some(content_type) = content_type {
            response = response.content_type(content_type);
        }
        Ok(response.status(status))
    }
}
