//! Several runs of one paste, side by side: why they cannot be ranked.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Kind, short};
use crate::gates::n;
use crate::tools::Tool;

/// Rates of one run each that differ by less cannot be told apart.
const NEAR: f64 = 0.05;

/// From this part of the ceiling on rates differ by less than they are apart from it.
const NEAR_CEILING: f64 = 0.9;

/// Heads of different servers differ by some bytes; bodies may differ by more.
const HEADS: f64 = 64.0;

/// One line for a whole paste; nothing where there is one run only.
pub fn by_side(cases: &[Case], found: &[Vec<Finding>]) -> Vec<Finding> {
    if cases.len() < 2 {
        return Vec::new();
    }
    let mut said: Vec<Finding> = [
        of_kind(found, Kind::Impossible, "impossible figures"),
        of_kind(
            found,
            Kind::Failed,
            "failures, or other answers than were meant",
        ),
        differ(cases, "generators", |case| {
            Some(case.tool().name().to_owned())
        }),
        differ(cases, "numbers of connections", |case| {
            case.connections()
                .map(|connections| connections.to_string())
        }),
        differ(cases, "lengths of bodies", |case| {
            case.body_each()
                .map(|each| format!("{} bytes", short(each.value)))
        }),
        answers(cases),
        differ(cases, "paths", path),
        differ(cases, "kinds of connections", keep_alive),
        at_ceiling(cases),
    ]
    .into_iter()
    .flatten()
    .collect();
    let barred = !said.is_empty();
    said.extend(near(cases));
    said.extend(repeats(cases));
    if !barred {
        said.push(Kind::Cannot.says(
            "nothing that is printed forbids to compare them, but one run each has no spread: repeat them in turns, \
             at least five times, and compare medians",
        ));
    }
    said
}

/// `1, 2 and 4`.
fn list(runs: &[usize]) -> String {
    let names: Vec<String> = runs.iter().map(|run| (run + 1).to_string()).collect();
    match names.split_last() {
        Some((last, [])) => format!("run {last}"),
        Some((last, rest)) => format!("runs {} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn of_kind(found: &[Vec<Finding>], kind: Kind, what: &str) -> Option<Finding> {
    let has = |of: &&Vec<Finding>| of.iter().any(|finding| finding.kind == kind);
    let runs: Vec<usize> = (0..found.len()).filter(|run| has(&&found[*run])).collect();
    (!runs.is_empty()).then(|| Kind::Rank.says(format!("{}: {what}", list(&runs))))
}

/// Runs in groups by something that must be the same for all.
fn differ(cases: &[Case], what: &str, key: impl Fn(&Case) -> Option<String>) -> Option<Finding> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut order = Vec::new();
    for (run, case) in cases.iter().enumerate() {
        let Some(key) = key(case) else { continue };
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(run);
    }
    if order.len() < 2 {
        return None;
    }
    let groups: Vec<String> = order
        .iter()
        .map(|key| format!("{key} in {}", list(&groups[key])))
        .collect();
    Some(Kind::Rank.says(format!("different {what}: {}", groups.join(", "))))
}

/// Where bodies and heads are counted together.
fn answers(cases: &[Case]) -> Option<Finding> {
    let of = |case: &Case| case.answer_each().filter(|_| case.body_each().is_none());
    let sizes: Vec<(usize, f64)> = cases
        .iter()
        .enumerate()
        .filter_map(|(run, case)| Some((run, of(case)?.value)))
        .collect();
    let least = sizes
        .iter()
        .min_by(|one, other| one.1.total_cmp(&other.1))?;
    let most = sizes
        .iter()
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    (most.1 - least.1 > HEADS).then(|| {
        Kind::Rank.says(format!(
            "different answers, in their heads or in their bodies: one with its head has {} bytes in {} and {} in {}",
            short(least.1),
            list(&[least.0]),
            short(most.1),
            list(&[most.0])
        ))
    })
}

/// Without host and port: rivals listen on different ones.
fn path(case: &Case) -> Option<String> {
    let url = case.printed().url.as_ref()?;
    let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    // h2load and drill print none.
    let path = rest.find('/').map(|at| rest[at..].to_owned());
    path.or_else(|| (case.tool() != Tool::Drill).then(|| "/".to_owned()))
}

fn keep_alive(case: &Case) -> Option<String> {
    if case.tool() != Tool::Ab || !case.printed().whole {
        return None;
    }
    let text = if case.printed().kept.is_some() {
        "kept"
    } else {
        "one request each"
    };
    Some(text.to_owned())
}

fn at_ceiling(cases: &[Case]) -> Option<Finding> {
    let part = |case: &Case| {
        let ceiling = f64::from(case.at_a_time()?.requests) / (case.meant.delay_ms? / 1e3);
        Some(case.printed().rate?.value / ceiling)
    };
    let is_there =
        |case: &Case| part(case).is_some_and(|part| (NEAR_CEILING..1.05).contains(&part));
    let runs: Vec<usize> = (0..cases.len())
        .filter(|run| is_there(&cases[*run]))
        .collect();
    (runs.len() > 1).then(|| {
        Kind::Rank.says(format!(
            "by their rates: {} are at nine tenths or more of the ceiling connections / delay, where all come together",
            list(&runs)
        ))
    })
}

/// Pairs of rates that one run each cannot tell apart.
fn near(cases: &[Case]) -> Option<Finding> {
    let mut rates: Vec<(usize, f64)> = cases
        .iter()
        .enumerate()
        .filter_map(|(run, case)| Some((run, case.printed().rate?.value)))
        .filter(|(_, rate)| *rate > 0.0)
        .collect();
    rates.sort_by(|one, other| other.1.total_cmp(&one.1));
    let pairs: Vec<String> = rates
        .windows(2)
        .filter(|pair| pair[0].1 / pair[1].1 < 1.0 + NEAR)
        .filter(|pair| alike(&cases[pair[0].0], &cases[pair[1].0]))
        .map(|pair| {
            let percent = (pair[0].1 / pair[1].1 - 1.0) * 100.0;
            format!(
                "{} ({} %)",
                list(&[pair[0].0, pair[1].0]),
                n((percent * 10.0).round() / 10.0)
            )
        })
        .collect();
    (!pairs.is_empty()).then(|| {
        Kind::Rank.says(format!(
            "too near to tell apart by one run each: {}",
            pairs.join(", ")
        ))
    })
}

/// Runs that may be repeats: a paste does not tell them from rivals on one address.
fn repeats(cases: &[Case]) -> Option<Finding> {
    let mut groups: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for (run, case) in cases.iter().enumerate() {
        let printed = case.printed();
        if let (Some(url), Some(rate)) = (&printed.url, printed.rate) {
            let key = format!("{} {:?} {url}", case.tool().name(), case.connections());
            groups.entry(key).or_default().push((run, rate.value));
        }
    }
    let group = groups
        .values()
        .filter(|group| group.len() > 1)
        .max_by_key(|group| group.len())?;
    let runs: Vec<usize> = group.iter().map(|(run, _)| *run).collect();
    let rates = || group.iter().map(|(_, rate)| *rate);
    let least = rates().fold(f64::INFINITY, f64::min);
    let most = rates().fold(0.0, f64::max);
    Some(Kind::Cannot.says(format!(
        "whether {} are repeats: they have the same generator, connections and address. If so, they spread from {} \
         to {} requests/s, and a difference that is not larger says nothing",
        list(&runs),
        n(least),
        n(most)
    )))
}

/// Whether two runs are under the same load of the same generator.
fn alike(one: &Case, other: &Case) -> bool {
    one.tool() == other.tool() && one.connections() == other.connections()
}
