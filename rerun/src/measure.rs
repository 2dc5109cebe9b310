//! One table: the rivals take turns, round by round, under the same load.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;

use crate::client::{self, Moment, Plan, Until};
use crate::gates::measured;
use crate::progress::Progress;
use crate::result::{
    Budget, Ceiling, Load, Machine, NetworkSample, Round, Row, ServerSample, Table, Task,
};
use crate::rival::{Asked, Rival};
use crate::stop;
use crate::summary;
use crate::system::{listeners, network, tree};

/// Seconds of a server's first load.
const WARM_UP: f64 = 0.3;

/// Where everything is measured.
pub struct Bench<'a> {
    pub machine: &'a Machine,
    pub budget: &'a Budget,
    /// How fast the client can go.
    pub ceiling: Option<&'a Ceiling>,
}

/// The load of all tables, but for what each says itself.
pub fn load(connections: u32, seconds: f64, rounds: u32) -> Load {
    Load {
        connections,
        keep_alive: true,
        open_rate: None,
        seconds: Some(seconds),
        requests: None,
        warm_up_s: 0.2,
        timeout_s: 5.0,
        rounds,
    }
}

impl Bench<'_> {
    /// Measures those rivals that have the endpoint. The body that counts is the first one's.
    pub fn table(
        &self,
        title: &str,
        asked: Asked,
        load: &Load,
        rivals: &mut [Rival],
        progress: &Progress,
    ) -> Result<Table> {
        let task = task(asked, rivals);
        let mut chosen: Vec<&mut Rival> = rivals
            .iter_mut()
            .filter(|rival| rival.endpoint(asked).is_some())
            .collect();
        let mut rounds: Vec<Vec<Round>> = chosen.iter().map(|_| Vec::new()).collect();
        let what = (title, asked, load, &task);
        self.warm_up(what, &mut chosen, &mut rounds, progress)?;
        let mut turn = 0;
        let mut last = None;
        for round in 0..load.rounds {
            let running: Vec<usize> = (0..chosen.len())
                .filter(|index| !failed(&rounds[*index]) && chosen[*index].state.is_ok())
                .collect();
            for index in order(running, round, last) {
                last = Some(index);
                let rival = &mut *chosen[index];
                progress.say(&format!(
                    "measuring {}, round {} of {}: {title}",
                    rival.name,
                    round + 1,
                    load.rounds
                ));
                rival.look();
                if let Some(sample) = self.round(rival, asked, load, &task, turn)? {
                    rounds[index].push(sample);
                }
                rival.look();
                turn += 1;
                progress.step();
            }
        }
        let count = rounds.iter().filter(|rounds| !failed(rounds)).count();
        let rows = chosen.iter().zip(rounds);
        let rows: Vec<Row> = rows
            .map(|(rival, rounds)| self.row(rival, &task, load, rounds, count))
            .collect();
        Ok(Table {
            title: title.into(),
            comparisons: summary::comparisons(&rows),
            task,
            load: load.clone(),
            rows,
            notes: Vec::new(),
        })
    }

    /// Everybody has been compiled, cached and grown before anybody is measured. Only a failure is kept of it.
    fn warm_up(
        &self,
        (title, asked, load, task): (&str, Asked, &Load, &Task),
        chosen: &mut [&mut Rival],
        rounds: &mut [Vec<Round>],
        progress: &Progress,
    ) -> Result<()> {
        let short = Load {
            seconds: Some(load.seconds.unwrap_or(WARM_UP).min(WARM_UP)),
            requests: None,
            ..load.clone()
        };
        for (rival, rounds) in chosen.iter_mut().zip(rounds) {
            progress.say(&format!("warming up {}: {title}", rival.name));
            let round = self.round(rival, asked, &short, task, 0)?;
            rounds.extend(round.filter(|round| !round.client.failures.is_empty()));
            rival.look();
        }
        Ok(())
    }

    fn row(
        &self,
        rival: &Rival,
        task: &Task,
        load: &Load,
        rounds: Vec<Round>,
        rivals: usize,
    ) -> Row {
        let judged = measured::Row {
            machine: self.machine,
            budget: self.budget,
            ceiling: self.ceiling,
            contender: &rival.about,
            task,
            load,
            rounds: &rounds,
            rivals,
        };
        let (fault, verdicts) = match &rival.state {
            Err(fault) => (Some(fault.clone()), Vec::new()),
            Ok(_) => (None, judged.judge()),
        };
        let summary = match fault {
            Some(_) => None,
            None => summary::summary(&judged, &verdicts),
        };
        Row {
            contender: rival.name.clone(),
            fault,
            verdicts,
            rounds,
            summary,
            replays: Vec::new(),
        }
    }

    /// One round of one rival; none if it does not run.
    fn round(
        &self,
        rival: &Rival,
        asked: Asked,
        load: &Load,
        task: &Task,
        turn: u32,
    ) -> Result<Option<Round>> {
        let (Ok(started), Some((path, expect))) = (&rival.state, rival.endpoint(asked)) else {
            return Ok(None);
        };
        let plan = Plan {
            expect: client::Expect {
                body: task.body.clone().into_bytes(),
                ..expect
            },
            ..plan(started.address, path, load)
        };
        let root = started.root();
        let idle_bytes = rival.idle_bytes;
        let drops = || listeners::Drops::of(started.address.port()).ok();
        let (drops_before, network_before) = (drops(), network::now());
        let mut before = tree::Used::default();
        let mut server = ServerSample::default();
        let client = client::on(&self.budget.client_cpus, &plan, &mut |moment| {
            let processes = tree::below(root);
            match moment {
                Moment::Begin => before = tree::Used::before(root, &processes),
                Moment::End => {
                    server = tree::Used::after(root, &processes).since(&before);
                    server.idle_bytes = idle_bytes;
                    server.loaded_bytes = tree::memory(&processes);
                    server.peak_bytes = tree::peak(&processes);
                    server.open_files = tree::open_files(&processes);
                }
            }
            Ok(())
        })?;
        stop::check()?;
        let own_drops = drops().zip(drops_before);
        let network = NetworkSample {
            own_drops: own_drops.map(|(after, before)| after.since(&before)),
            ..network::now().since(&network_before)
        };
        Ok(Some(Round {
            turn,
            client,
            server,
            network,
        }))
    }
}

/// A plan for a kept body of any kind; the caller says what is expected.
pub fn plan(address: SocketAddr, path: String, load: &Load) -> Plan {
    Plan {
        address,
        path,
        expect: client::Expect::body(""),
        connections: load.connections,
        keep_alive: load.keep_alive,
        open_rate: load.open_rate,
        warm_up: Duration::from_secs_f64(load.warm_up_s),
        until: match (load.requests, load.seconds) {
            (Some(requests), _) => Until::Requests(requests),
            (None, seconds) => Until::Elapsed(Duration::from_secs_f64(seconds.unwrap_or(1.0))),
        },
        timeout: Duration::from_secs_f64(load.timeout_s),
    }
}

fn task(asked: Asked, rivals: &[Rival]) -> Task {
    let first = rivals.iter().find_map(|rival| rival.endpoint(asked));
    let body = first.map(|(_, expect)| expect.body).unwrap_or_default();
    Task {
        name: asked.name().into(),
        body: String::from_utf8_lossy(&body).into_owned(),
        delay_ms: asked.wait().as_secs_f64() * 1e3,
    }
}

/// A row with failures is not measured further: it has no figures in any case.
fn failed(rounds: &[Round]) -> bool {
    let last = rounds.last();
    last.is_some_and(|round| !round.client.failures.is_empty() || round.client.answers == 0)
}

/// A new order each round, the same in each run, in which nobody follows himself.
fn order(mut order: Vec<usize>, round: u32, last: Option<usize>) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(u64::from(round));
    random.shuffle(&mut order);
    if order.len() > 1 && order.first().copied() == last {
        order.rotate_left(1);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_follows_himself() {
        let mut last = None;
        for round in 0..100 {
            let order = order(vec![0, 1, 2], round, last);
            assert_ne!(order.first().copied(), last);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            last = order.last().copied();
        }
        assert_eq!(order(vec![0], 0, Some(0)), [0]);
        assert!(order(Vec::new(), 0, None).is_empty());
    }
}
