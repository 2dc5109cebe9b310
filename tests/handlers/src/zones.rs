//! Maps and counters that all workers have.

use content_by_rust::{
    ArgError, Args, Handler, Level, Request, Response, Result, SharedError, SharedZone, log, sleep,
    worker_count,
};
use std::time::Duration;

fn decoded(request: &Request, name: &str) -> String {
    request.arg(name).unwrap_or_default().to_owned()
}

fn ttl(request: &Request) -> Option<Duration> {
    let ms = request.arg("ttl").and_then(|ms| ms.parse().ok())?;
    Some(Duration::from_millis(ms))
}

/// What `?do=` does with `?key=` in the zone `?zone=`, `z` where none is named.
pub async fn zone(request: &mut Request) -> Result<Response> {
    let name = request.arg("zone").unwrap_or("z").to_owned();
    let zone = SharedZone::find(&name)?;
    let (key, value) = (decoded(request, "key"), decoded(request, "value"));
    let by = request.arg("by").and_then(|by| by.parse().ok());
    let size = request.arg("size").and_then(|size| size.parse().ok());
    let value = size.map_or(value.into_bytes(), |size| vec![b'v'; size]);
    let ttl = ttl(request);
    let did = match request.arg("do").unwrap_or_default() {
        "get" => format!(
            "{:?}",
            zone.get(&key).map(|value| value.escape_ascii().to_string())
        ),
        "len" => format!("{:?}", zone.get(&key).map(|value| value.len())),
        "set" => format!("{:?}", zone.set(&key, value, ttl)),
        "add" => format!("{:?}", zone.add(&key, value, ttl)),
        "delete" => format!("{:?}", zone.delete(&key)),
        "incr" => format!("{:?}", zone.incr(&key, by.unwrap_or(1), ttl)),
        "count" => format!("{:?}", zone.counter(&key).add(by.unwrap_or(1))),
        "reset" => format!("{:?}", zone.counter(&key).set(by.unwrap_or(0))),
        "counted" => format!("{:?}", zone.counter(&key).get()),
        other => return Err(content_by_rust::Error::new(400).because(other)),
    };
    Ok(Response::text(format!("{did}\n")))
}

/// `?n=` keys of `?size=` bytes each, from `?from=` on; how many could be set.
pub async fn zone_fill(request: &mut Request) -> Result<Response> {
    let zone = SharedZone::find("z")?;
    let n: usize = decoded(request, "n").parse()?;
    let from: usize = decoded(request, "from").parse().unwrap_or_default();
    let value = vec![b'v'; decoded(request, "size").parse()?];
    let set = (from..from + n).filter(|n| zone.set(n.to_string(), &value, None).is_ok());
    Ok(Response::text(format!("{}\n", set.count())))
}

/// As many counters as there is room for, 10,000 at most.
pub async fn zone_fill_with_counters(_: &mut Request) -> Result<Response> {
    let zone = SharedZone::find("z")?;
    let added = (0..10_000).take_while(|n| zone.counter(&n.to_string()).add(1).is_ok());
    Ok(Response::text(format!("{}\n", added.count())))
}

/// Which worker this is, and a counter that it has counted up, a little later than it might.
pub async fn zone_count_slowly(request: &mut Request) -> Result<Response> {
    let zone = SharedZone::find("z")?;
    let n = zone.counter("all").add(1)?;
    zone.incr("all", 1, None)?;
    sleep(Duration::from_millis(1)).await;
    zone.counter("all").add(1)?;
    let pid = request.variable("pid").unwrap_or_default();
    Ok(Response::text(format!("{pid} {n}\n")))
}

/// Looks for a zone where there is none yet.
pub struct ZoneTooEarly {
    found: bool,
}

impl Handler for ZoneTooEarly {
    fn configure(_: &mut Args<'_>) -> Result<ZoneTooEarly, ArgError> {
        let found = SharedZone::find("z").is_ok();
        Ok(ZoneTooEarly { found })
    }

    async fn handle(&self, _: &mut Request) -> Result<Response> {
        let found = (self.found, SharedZone::find("z").is_ok());
        Ok(Response::text(format!("{found:?}\n")))
    }
}

/// Has a zone until the configuration has none any more; what can be done with it then.
pub async fn zone_until_gone(request: &mut Request) -> Result<Response> {
    let zone = SharedZone::find("z")?;
    request.log(Level::Notice, "has the zone");
    while zone.add("a", "1", None) != Err(SharedError::Gone) {
        sleep(Duration::from_millis(2)).await;
    }
    Ok(Response::text(format!(
        "{:?} {:?} {:?} {:?}\n",
        zone.get("a"),
        zone.delete("a"),
        zone.incr("a", 1, None),
        zone.counter("a").get()
    )))
}

/// Changes the zone until the worker is killed. Nothing else runs in the worker meanwhile.
pub async fn zone_storm(request: &mut Request) -> Result<Response> {
    let zone = SharedZone::find("z")?;
    let n = request.arg("n").unwrap_or_default();
    request.log(Level::Notice, format_args!("storm {n} begins"));
    let value = vec![b'v'; 10_000];
    for n in 0u64.. {
        zone.set((n % 100).to_string(), &value, None)?;
    }
    Ok(Response::new(204))
}

/// Looks for the zone when a worker's last destructors run.
struct AtExit;

impl Drop for AtExit {
    fn drop(&mut self) {
        let found = SharedZone::find("z").is_ok();
        let workers = worker_count();
        log(
            Level::Notice,
            format_args!("at exit: {found}, {workers} workers"),
        );
    }
}

thread_local! {
    static AT_EXIT: AtExit = const { AtExit };
}

/// Has the worker look at its end.
pub async fn zone_at_exit(_: &mut Request) -> Result<Response> {
    AT_EXIT.with(|_| ());
    Ok(Response::text("later\n"))
}
