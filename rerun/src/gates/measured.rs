//! All gates about a row that was measured here.

use super::{
    bodies, budget, ceiling, complete, connections, delay, limiter, little, percentiles, queues,
    rounds, traps, verified,
};
use crate::result::{
    Budget, Ceiling, Contender, Failure, Histogram, Load, Machine, Round, Task, Verdict,
};
use crate::stats::{median, spread};

/// What a row is judged by.
pub struct Row<'a> {
    pub machine: &'a Machine,
    pub budget: &'a Budget,
    pub ceiling: Option<&'a Ceiling>,
    pub contender: &'a Contender,
    pub task: &'a Task,
    pub load: &'a Load,
    pub rounds: &'a [Round],
    /// How many rows take turns.
    pub rivals: usize,
}

impl Row<'_> {
    pub fn rate(&self) -> f64 {
        median(&self.each(Round::rate))
    }

    /// Microseconds of CPU time for each answer, round by round.
    pub fn cpu_us(&self) -> Vec<f64> {
        self.each(Round::cpu_us)
    }

    pub fn each(&self, figure: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.rounds.iter().map(figure).collect()
    }

    pub fn latency(&self) -> Histogram {
        Histogram::sum(self.rounds.iter().map(|round| &round.client.latency))
    }

    /// Connections over the delay, requests a second; none without delay.
    fn ceiling(&self, at_a_time: u32) -> Option<f64> {
        (self.task.delay_ms > 0.0).then(|| f64::from(at_a_time) / self.task.delay_ms * 1e3)
    }

    pub fn facts(&self) -> limiter::Facts {
        let cores = |cpus: &[usize]| cpus.len().max(1) as f64 * 1e9;
        let server = cores(&self.budget.server_cpus);
        let client = 1e9;
        let rate = self.rate();
        let of = |ceiling: Option<f64>| ceiling.map_or(0.0, |ceiling| rate / ceiling);
        let pool = self
            .contender
            .at_once
            .filter(|at_once| *at_once < self.load.connections);
        let part = |ns: &dyn Fn(&Round) -> u64, core: f64| {
            median(&self.each(|round| ns(round) as f64 / core / round.client.seconds))
        };
        // It was measured with kept connections; other work can only have made a round of it slower.
        let of_client = self.ceiling.filter(|_| self.load.keep_alive);
        let client_busy = |round: &Round| round.client.user_ns + round.client.system_ns;
        limiter::Facts {
            server_busy: part(&|round| round.server.cpu_ns, server),
            client_busy: part(&client_busy, client),
            server_wanted: part(
                &|round| round.server.cpu_ns + round.server.waited_ns,
                server,
            ),
            client_wanted: part(
                &|round| client_busy(round) + round.client.waited_ns.unwrap_or(0),
                client,
            ),
            of_ceiling: of(self.ceiling(self.load.connections)),
            of_client: of(of_client.map(|ceiling| spread(&ceiling.rates).max)),
            of_pool: of(pool.and_then(|pool| self.ceiling(pool))),
        }
    }

    pub fn judge(&self) -> Vec<Verdict> {
        let clients = || self.rounds.iter().map(|round| &round.client);
        let mut verdicts = vec![
            bodies::rivals(&[(&self.contender.title, &self.task.body)]),
            verified::by_rounds(clients()),
        ];
        let wait = clients().any(|client| client.failures.contains_key(&Failure::Timeout));
        if let (Some(by), true) = (&self.contender.limited_by, wait) {
            verdicts[1].text += &format!("; limited by {by}");
        }
        if self.rounds.is_empty() || clients().any(|client| client.answers == 0) {
            return verdicts;
        }
        let latency = self.latency();
        let ms = |q: f64| latency.quantile_us(q).map(|us| us as f64 / 1e3);
        let mean = latency.mean_us().map(|us| us / 1e3);
        let counted = clients()
            .map(|client| client.mean_us * client.answers as f64)
            .sum::<f64>();
        let answers = clients().map(|client| client.answers).sum::<u64>() as f64;
        let seconds = clients().map(|client| client.seconds).sum::<f64>();
        let rate = self.rate();
        let cpu = median(&self.cpu_us());
        let capable = self.budget.server_cpus.len().max(1) as f64 * 1e6 / cpu;
        let files = self.contender.files.iter();
        let files = files.map(|(name, text)| (name.as_str(), text.as_str()));
        let requests = (rate * self.load.seconds.unwrap_or(1.0)) as u64;
        let traps_load = traps::Load {
            connections: self.load.connections,
            per_connection: match self.load.keep_alive {
                true => requests / u64::from(self.load.connections.max(1)),
                false => 0,
            },
            delay_ms: self.task.delay_ms,
        };
        let count = |number: fn(&Round) -> u64| self.rounds.iter().map(number).sum::<u64>();
        let files_of_server = self
            .rounds
            .iter()
            .filter_map(|round| round.server.open_files);
        let turns: Vec<u32> = self.rounds.iter().map(|round| round.turn).collect();
        verdicts.extend([
            delay::judge(self.task.delay_ms, ms(0.0), ms(0.5), mean),
            match self.load.open_rate {
                Some(rate) => {
                    ceiling::GATE.pass(format!("open loop at {} requests/s", super::n(rate)))
                }
                None => ceiling::judge(
                    Some(rate),
                    Some(self.load.connections),
                    self.task.delay_ms,
                    Some(capable),
                ),
            },
            match self.load.open_rate {
                Some(_) => {
                    little::GATE.pass("an open loop has no fixed number of requests at a time")
                }
                None => little::judge(
                    Some(answers / seconds),
                    Some(counted / answers / 1e3),
                    Some(self.load.connections),
                ),
            },
            limiter::judge(&self.facts()),
            percentiles::judge(
                ms(0.0),
                mean,
                &[0.5, 0.9, 0.99, 0.999].map(|q| (q * 100.0, ms(q).unwrap_or(0.0))),
                ms(1.0),
            ),
            connections::by_counts(
                self.load.connections,
                clients()
                    .map(|client| client.connections)
                    .min()
                    .unwrap_or(0),
                count(|round| round.client.opened),
                count(|round| round.network.accepted),
                self.load.keep_alive,
                count(|round| round.client.not_kept),
            ),
            worse(
                queues::before(self.machine, self.load.connections, files_of_server.min()),
                queues::after(self.rounds.iter().map(|round| &round.network)),
            ),
            traps::judge(&traps::find(files, traps_load)),
            budget::judge(self.budget),
            rounds::judge(&turns, self.rivals),
            complete::judge(self.machine, self.contender, self.rounds),
        ]);
        verdicts
    }
}

fn worse(one: Verdict, other: Verdict) -> Verdict {
    if one.outcome >= other.outcome {
        one
    } else {
        other
    }
}
