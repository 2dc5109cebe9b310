//! Servers that do it wrong on purpose, each of which must be caught, and one that does it right and must pass. A proof
//! that cannot fail proves nothing.

use anyhow::Result;

use super::fault::Fault;
use super::sabotage::{Sabotage, Server};
use super::{Expected, Page, prove};
use crate::contender::manifest::DELAY;
use crate::stop;

/// So many sabotaged servers are judged at the same time.
const AT_A_TIME: usize = 5;

/// How each must be judged.
struct Control {
    name: &'static str,
    sabotage: Sabotage,
    /// Whether the verdict is the right one: caught, and for the right reason.
    right: fn(&Result<super::Proof, Fault>) -> bool,
}

macro_rules! control {
    ($name:literal, $sabotage:expr, $pattern:pat) => {
        Control {
            name: $name,
            sabotage: $sabotage,
            right: |verdict| matches!(verdict, $pattern),
        }
    };
}

const CONTROLS: [Control; 30] = [
    Control {
        name: "an honest server",
        sabotage: Sabotage::Nothing,
        right: Result::is_ok,
    },
    control!("a 404 page", Sabotage::NotFound, Err(Fault::Status(404))),
    control!("a wrong body", Sabotage::WrongBody, Err(Fault::Body { .. })),
    control!(
        "a wrong body now and then",
        Sabotage::WrongNowAndThen,
        Err(Fault::Body { .. })
    ),
    control!(
        "an answer to half a request",
        Sabotage::Impatient,
        Err(Fault::Impatient(_))
    ),
    control!(
        "a body cut short, with its length",
        Sabotage::ShortBody,
        Err(Fault::Body { .. })
    ),
    control!("an empty 200", Sabotage::EmptyBody, Err(Fault::Body { .. })),
    control!(
        "a wrong Content-Type",
        Sabotage::WrongType,
        Err(Fault::Type { .. })
    ),
    control!("no Content-Type", Sabotage::NoType, Err(Fault::Type { .. })),
    control!("no sleep", Sabotage::NoSleep, Err(Fault::TooEarly { .. })),
    control!(
        "a sleep that ends early",
        Sabotage::EarlySleep,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep before the request",
        Sabotage::SleepBeforeRequest,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep for every other request",
        Sabotage::SleepEveryOther,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a sleep until a common tick",
        Sabotage::SharedTick,
        Err(Fault::TooEarly { .. })
    ),
    control!(
        "a head first and a sleep then",
        Sabotage::HeadFirst,
        Err(Fault::BeganEarly { .. })
    ),
    control!(
        "a blocking sleep",
        Sabotage::BlockingSleep,
        Err(Fault::NotAtOnce { found: 1..=9, .. })
    ),
    control!(
        "a pool of 20",
        Sabotage::PoolOf(20),
        Err(Fault::NotAtOnce { .. })
    ),
    control!(
        "a close in the answer",
        Sabotage::EarlyClose,
        Err(Fault::EarlyClose { got: 1.. })
    ),
    control!(
        "a close without an answer",
        Sabotage::CloseAtOnce,
        Err(Fault::EarlyClose { got: 0 })
    ),
    control!(
        "a length that is too short",
        Sabotage::LengthTooShort,
        Err(Fault::Body { .. } | Fault::ExtraBytes(_))
    ),
    control!(
        "a length that is too long",
        Sabotage::LengthTooLong,
        Err(Fault::NoAnswer { got: 1.., .. })
    ),
    control!(
        "broken chunks",
        Sabotage::BrokenChunks,
        Err(Fault::Garbage(_))
    ),
    control!(
        "a close after each answer",
        Sabotage::CloseEach,
        Err(Fault::NotKept)
    ),
    control!("garbage", Sabotage::Garbage, Err(Fault::Garbage(_))),
    control!(
        "a sleep that is too long",
        Sabotage::LongDelay,
        Err(Fault::Slow { .. })
    ),
    control!(
        "no sleep under load",
        Sabotage::NoSleepUnderLoad,
        Err(Fault::UnderLoad { .. })
    ),
    control!("a slow delay", Sabotage::SlowDelay, Err(Fault::Slow { .. })),
    control!(
        "a slow answer",
        Sabotage::SlowHello,
        Err(Fault::Slow { .. })
    ),
    control!(
        "no answer at all",
        Sabotage::Silent,
        Err(Fault::NoAnswer { got: 0, .. })
    ),
    control!(
        "errors under load only",
        Sabotage::FailsUnderLoad,
        Err(Fault::UnderLoad { .. })
    ),
];

/// Judges every control, prints what came out, and gives those that were not judged right.
pub fn run() -> Result<Vec<&'static str>> {
    // The honest server alone, as a contender is judged alone; most of the others only take time.
    let (honest, sabotaged) = CONTROLS.split_at(1);
    let mut wrong = judge_all(honest.iter())?;
    let shares: Vec<_> = std::thread::scope(|scope| {
        let share = |first| {
            let share = sabotaged.iter().skip(first).step_by(AT_A_TIME);
            scope.spawn(move || judge_all(share))
        };
        let threads: Vec<_> = (0..AT_A_TIME).map(share).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.collect()
    });
    for share in shares {
        match share {
            Ok(names) => wrong.extend(names?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    println!(
        "{} of {} servers that do it wrong on purpose are caught, and the honest one {}",
        sabotaged.len() - wrong.iter().filter(|name| **name != honest[0].name).count(),
        sabotaged.len(),
        if wrong.contains(&honest[0].name) {
            "is not"
        } else {
            "passes"
        }
    );
    Ok(wrong)
}

/// The names of those that were not judged right.
fn judge_all<'a>(controls: impl Iterator<Item = &'a Control>) -> Result<Vec<&'static str>> {
    let mut wrong = Vec::new();
    for control in controls {
        let server = Server::start(control.sabotage)?;
        let verdict = prove(server.address, &expected());
        stop::check()?;
        if !(control.right)(&verdict) {
            let verdict = match verdict {
                Ok(_) => "passed".to_owned(),
                Err(fault) => fault.to_string(),
            };
            println!("control NOT judged right: {}: {verdict}", control.name);
            wrong.push(control.name);
        }
    }
    Ok(wrong)
}

fn expected() -> Expected {
    let page = |path: &str, body: &str, media_type: &str| Page {
        path: path.to_owned(),
        body: body.into(),
        media_type: media_type.to_owned(),
    };
    Expected {
        hello: page("/hello", "<h1>HelloWorld</h1>\n", "text/html"),
        delay: Some(page("/delay", "OK\n", "text/plain")),
        wait: DELAY,
        keep_alive: true,
        at_once: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_is_judged_right() {
        assert_eq!(run().unwrap(), Vec::<&str>::new());
    }
}
