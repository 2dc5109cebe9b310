//! Gate 6: what limited the rate is named.

use super::Gate;
use super::ceiling::TIE;
use crate::result::Verdict;

pub const GATE: Gate = Gate(6, "limiter named");

/// From this part of its time on, a side is at its limit; and the client from this part of its own ceiling on.
const FULL: f64 = 0.95;

/// What is known of one row, each a median over its rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Parts of their cores' time that each side used, 0 to 1.
    pub server_busy: f64,
    pub client_busy: f64,
    /// The same with the time that they were ready to run and other processes had their core.
    pub server_wanted: f64,
    pub client_wanted: f64,
    /// Rate over c/D; 0 without delay.
    pub of_ceiling: f64,
    /// Rate over the client's own ceiling; 0 where that does not apply.
    pub of_client: f64,
    /// Rate over what the server's own limit allows (children / D); 0 without such a limit.
    pub of_pool: f64,
}

/// Who limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    Ceiling,
    Pool,
    Server,
    Client,
    Unknown,
}

impl Limiter {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ceiling => "ceiling",
            Self::Pool => "pool",
            Self::Server => "server",
            Self::Client => "client",
            Self::Unknown => "unknown",
        }
    }
}

pub fn find(facts: &Facts) -> Limiter {
    // Far above it, it was none: something disturbed its measurement.
    let at_ceiling = FULL..=2.0 - FULL;
    if facts.of_pool >= 0.9 {
        Limiter::Pool
    } else if facts.of_ceiling >= TIE {
        Limiter::Ceiling
    } else if facts.server_wanted >= FULL && facts.server_wanted >= facts.client_wanted - 0.02 {
        Limiter::Server
    } else if facts.client_wanted >= FULL || at_ceiling.contains(&facts.of_client) {
        Limiter::Client
    } else {
        Limiter::Unknown
    }
}

pub fn judge(facts: &Facts) -> Verdict {
    let limiter = find(facts);
    let percent = |part: f64| format!("{:.0} %", part.min(1.0) * 100.0);
    let mut busy = format!(
        "server {} busy, client {}",
        percent(facts.server_busy),
        percent(facts.client_busy)
    );
    let lost = |wanted: f64, busy: f64| wanted.min(1.0) - busy;
    let server = lost(facts.server_wanted, facts.server_busy);
    let client = lost(facts.client_wanted, facts.client_busy);
    if server.max(client) > 0.15 {
        busy += &format!(
            " (other work kept the server from its core for {} of the time, the client for {}: measure on an idle \
             machine)",
            percent(server),
            percent(client)
        );
    }
    match limiter {
        Limiter::Server => GATE.pass(format!("the server: {busy}")),
        Limiter::Ceiling => GATE.pass(format!("the ceiling c/D: {busy}")),
        Limiter::Pool => GATE.warn(format!(
            "its own pool, {} of what that allows; {busy}: a larger pool is another row",
            percent(facts.of_pool)
        )),
        Limiter::Client => GATE.warn(format!(
            "the client, at {} of its own ceiling: {busy}; the server could do more, so the rate is a lower bound: rank \
             by CPU time",
            percent(facts.of_client)
        )),
        Limiter::Unknown => GATE.warn(format!(
            "unknown: {busy}; neither was at its limit, so the rate is a lower bound"
        )),
    }
}

/// Of a published row, of which as good as nothing is known.
pub fn unknown() -> Verdict {
    GATE.unknown("unknown: how busy server and generator were was not printed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    fn facts(server: f64, client: f64) -> Facts {
        Facts {
            server_busy: server,
            server_wanted: server,
            client_busy: client,
            client_wanted: client,
            ..Facts::default()
        }
    }

    #[test]
    fn each_limiter_has_its_name() {
        assert_eq!(find(&facts(0.99, 0.60)), Limiter::Server);
        assert_eq!(find(&facts(0.70, 0.99)), Limiter::Client);
        assert_eq!(find(&facts(0.99, 1.0)), Limiter::Server);
        assert_eq!(find(&facts(0.3, 0.3)), Limiter::Unknown);
        let waiting = Facts {
            of_ceiling: 0.99,
            ..facts(0.3, 0.3)
        };
        assert_eq!(find(&waiting), Limiter::Ceiling);
        assert_eq!(judge(&facts(0.70, 0.99)).outcome, Outcome::Warn);
        assert_eq!(judge(&facts(0.99, 0.60)).outcome, Outcome::Pass);
    }

    /// nginx's `return`, 89,233/s, where the client could do 89,242/s against a server that does nothing: on a machine
    /// that took some of the time of both, neither was busy all of it.
    #[test]
    fn at_its_own_ceiling_the_client_limits() {
        let at = |server, rate| Facts {
            of_client: rate / 89_242.0,
            ..facts(server, 0.90)
        };
        assert_eq!(find(&at(0.85, 89_233.0)), Limiter::Client);
        assert_eq!(find(&at(0.85, 70_000.0)), Limiter::Unknown);
        assert_eq!(find(&at(0.97, 89_233.0)), Limiter::Server);
        assert_eq!(find(&at(0.85, 150_000.0)), Limiter::Unknown);
        let verdict = judge(&at(0.85, 89_233.0));
        assert_eq!(verdict.outcome, Outcome::Warn);
        assert!(
            verdict.text.contains("at 100 % of its own ceiling"),
            "{}",
            verdict.text
        );
        assert!(verdict.text.contains("lower bound"));
    }

    /// php-fpm with `usleep(20000)`: 50 children answer 2,500 a second at most; 2,421 were measured.
    #[test]
    fn fifty_children() {
        let facts = Facts {
            of_pool: 2421.0 / 2500.0,
            of_ceiling: 2421.0 / 5000.0,
            ..facts(0.5, 0.2)
        };
        assert_eq!(find(&facts), Limiter::Pool);
        assert!(
            judge(&facts)
                .text
                .starts_with("its own pool, 97 % of what that allows")
        );
    }

    /// Other work has the cores for half of the time.
    #[test]
    fn a_busy_machine_is_named() {
        let facts = Facts {
            server_busy: 0.45,
            server_wanted: 0.99,
            client_busy: 0.30,
            client_wanted: 0.60,
            ..Facts::default()
        };
        assert_eq!(find(&facts), Limiter::Server);
        let text = judge(&facts).text;
        assert!(
            text.contains("for 54 % of the time, the client for 30 %"),
            "{text}"
        );
    }
}
