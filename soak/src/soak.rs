//! The soak from its beginning to its end.

use crate::cases::{Case, Ports};
use crate::client;
use crate::log::Log;
use crate::partners::Partners;
use crate::processes::{self, Descriptors, PATIENCE, eventually};
use crate::redis::Redis;
use crate::report::Report;
use crate::samples::{self, Samples, close_wait};
use crate::server::{Places, Soaked};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use test_nginx::Nginx;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// What is to be done.
#[derive(Debug)]
pub struct Plan {
    pub nginx: PathBuf,
    pub module: PathBuf,
    pub time: Duration,
    pub seed: u64,
    pub clients: u64,
    pub patience: Duration,
    pub greet: String,
}

/// The time between two reloads.
const TICK: Duration = Duration::from_secs(2);
/// A kill every minute, the first after twenty seconds.
const KILL: (usize, usize) = (10, 30);
/// Redis is stopped every twenty seconds, and comes back with the next reload.
const REDIS_STOP: (usize, usize) = (4, 10);

pub fn run(plan: Plan) -> Result<Report> {
    let mut rng = Rng::with_seed(plan.seed);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let partners = runtime.block_on(Partners::start())?;
    let dir = std::env::temp_dir();
    let mut redis = Redis::start(dir)?;
    let places = Places {
        http: partners.http,
        redis: redis.port,
        greet: plan.greet.clone(),
    };
    let nginx =
        Nginx::new(&plan.nginx)?.modules([plan.module.canonicalize()?.display().to_string()]);
    let mut nginx = Soaked::start(nginx, places, &mut rng)?;
    let ports = Ports {
        echo: partners.echo,
        byte: partners.byte,
    };
    let world = Arc::new(World::new(nginx.http1, nginx.http2, ports));

    let before = at_rest(&runtime, &world, &nginx, &mut rng.fork())?;
    let mut clients = JoinSet::new();
    for n in 1..=plan.clients {
        clients.spawn_on(
            client::run(Arc::clone(&world), rng.fork(), n, plan.patience),
            runtime.handle(),
        );
    }
    let storm = storm(plan.time * 2 / 3, &world, &mut nginx, &mut redis, &mut rng)?;
    let mut violations = Vec::new();
    let mut must = |done: Result<()>| violations.extend(done.err().map(|error| error.to_string()));
    must(nginx.settle(plan.patience));
    let calm = calm(plan.time / 3, &nginx)?;
    world.end();
    runtime.block_on(clients.join_all());

    drop((partners, redis));
    must(nginx.settle(plan.patience));
    let left = what_is_left(&nginx, &before, plan.patience)?;
    runtime.block_on(client::ask(&world, &Case::nobody_waits()));
    must(nginx.quit(plan.patience));
    violations.extend(left);
    let log = Log::read(&nginx.error_log());
    ensure!(
        !log.started.is_empty(),
        "somebody has removed the error log"
    );
    violations.extend(log.violations(&nginx.killed));
    violations.extend(strangers(&world, &log));
    violations.extend(storm.growing());
    violations.extend(calm.growing());
    violations.extend(world.ledger.wrongs());
    Ok(Report {
        world,
        plan,
        reloads: nginx.reloads,
        kills: nginx.killed.len(),
        workers: log.started.values().sum(),
        storm,
        calm,
        violations,
    })
}

/// Asks every handler once, and both workers; what each has of descriptors then, when it has no client.
fn at_rest(runtime: &Runtime, world: &World, nginx: &Soaked, rng: &mut Rng) -> Result<Descriptors> {
    for case in Case::each(rng, world.ports) {
        runtime.block_on(client::ask(world, &case));
    }
    ensure!(
        world.ledger.wrongs().is_empty(),
        "before the soak: {}",
        world.ledger.wrongs().join("\n")
    );
    let workers = nginx.workers();
    eventually("both workers answer", PATIENCE, || {
        for case in Case::each(rng, world.ports)
            .iter()
            .filter(|case| case.handler == "tokio_ok")
        {
            runtime.block_on(client::ask(world, case));
        }
        let seen = world.seen.workers();
        workers.iter().all(|pid| seen.contains(pid)).then_some(())
    })?;
    processes::descriptors(workers[0]).context("a worker has gone before the soak")
}

/// The part in which everything happens.
fn storm(
    time: Duration,
    world: &World,
    nginx: &mut Soaked,
    redis: &mut Redis,
    rng: &mut Rng,
) -> Result<Samples> {
    let mut samples = Samples::begin(samples::IN_STORM);
    let ticks = (time.as_secs_f64() / TICK.as_secs_f64()).round() as usize;
    let is = |tick: usize, (first, period): (usize, usize)| {
        tick >= first && (tick - first).is_multiple_of(period)
    };
    for tick in 1..=ticks {
        let begun = Instant::now();
        redis.resume(&world.outages)?;
        nginx.reload(rng)?;
        if is(tick, REDIS_STOP) {
            redis.stop(&world.outages)?;
        }
        // The new workers are at work by then.
        sleep((TICK / 2).saturating_sub(begun.elapsed()));
        if is(tick, KILL) {
            nginx.kill(world, rng)?;
        }
        samples.take(nginx)?;
        sleep(TICK.saturating_sub(begun.elapsed()));
    }
    redis.resume(&world.outages)?;
    Ok(samples)
}

/// The part in which only the clients go on.
fn calm(time: Duration, nginx: &Soaked) -> Result<Samples> {
    let end = Instant::now() + time;
    // What a worker does for the first time it has done by then.
    sleep(time / 4);
    let mut samples = Samples::begin(samples::IN_CALM);
    while Instant::now() < end || samples.are_too_few() {
        samples.take(nginx)?;
        sleep(Duration::from_millis(250));
    }
    Ok(samples)
}

/// What the workers still have when nobody is there any more, compared with what one had before anybody came.
fn what_is_left(nginx: &Soaked, before: &Descriptors, patience: Duration) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for pid in nginx.workers() {
        let expected = Descriptors {
            connections: 0,
            ..before.clone()
        };
        let mut now = Descriptors::default();
        let rest = eventually("descriptors as before", patience, || {
            now = processes::descriptors(pid)?;
            // nginx's own channels are as many as there have been workers.
            now.channels = expected.channels;
            (now == expected).then_some(())
        });
        if rest.is_err() {
            left.push(format!(
                "worker {pid} is left with {now:?}, and before it was {expected:?}"
            ));
        }
    }
    match close_wait(&nginx.ports())? {
        0 => {}
        some => left.push(format!("{some} sockets are left in CLOSE_WAIT")),
    }
    Ok(left)
}

/// Workers that have answered and that nobody has started; and those that have closed a connection without a word
/// though nobody has asked them to quit.
fn strangers(world: &World, log: &Log) -> Vec<String> {
    let unknown = world
        .seen
        .workers()
        .into_iter()
        .filter(|pid| !log.started.contains_key(pid));
    let unknown = unknown.map(|pid| format!("nobody has started worker {pid}, which has answered"));
    let quitting = world
        .seen
        .quitting()
        .into_iter()
        .filter(|(pid, _)| !log.quitting.contains(pid));
    let rude = quitting
        .map(|(pid, request)| format!("worker {pid} does not quit, and has closed: {request}"));
    unknown.chain(rude).collect()
}
