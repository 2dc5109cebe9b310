//! A handler with arguments that waits for two things at once, but not for ever.
//!
//! `content_by_rust patience first=$arg_first second=$arg_second limit=1s;`

use content_by_rust::{
    Arg, ArgError, Args, Error, Handler, Level, Request, Response, Result, sleep,
};
use futures::future::{Either, join, select};
use std::pin::pin;
use std::time::Duration;

struct Patience {
    first: Arg<Duration>,
    second: Arg<Duration>,
    limit: Arg<Duration>,
}

impl Handler for Patience {
    fn configure(args: &mut Args<'_>) -> Result<Patience, ArgError> {
        Ok(Patience {
            first: args.get("first")?.ok_or_else(|| args.missing("first"))?,
            second: args.get("second")?.ok_or_else(|| args.missing("second"))?,
            limit: args
                .get("limit")?
                .unwrap_or(Arg::constant(Duration::from_secs(1))),
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let first = self.first.get(request)?.unwrap_or_default();
        let second = self.second.get(request)?.unwrap_or_default();
        let Some(limit) = self.limit.get(request)? else {
            return Err(Error::new(400).because("an empty limit"));
        };

        // Two sleeps stand for whatever is worth waiting for.
        let both = join(sleep(first), sleep(second));
        match select(pin!(both), pin!(sleep(limit))).await {
            Either::Left(_) => Ok(Response::text("both are over\n")),
            Either::Right(_) => {
                request.log(Level::Notice, format_args!("not over within {limit:?}"));
                Ok(Response::text("too late\n")
                    .status(504)
                    .header("Retry-After", "1"))
            }
        }
    }
}

content_by_rust::module! { patience: Patience }
