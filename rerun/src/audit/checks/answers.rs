//! Failures, and answers of a wrong status, which every generator counts as throughput.

use super::super::case::Case;
use super::super::finding::{Finding, Kind};
use crate::gates::n;
use crate::tools::Tool;

pub fn check(case: &Case) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(gave_up(case));
    found.extend(statuses(case));
    found.extend(failed(case));
    found.extend(errors(case));
    if found.is_empty() {
        found.push(none(case));
    }
    found
}

fn count(number: u64) -> String {
    n(number as f64)
}

/// `of 10,000`, where that is known.
fn of(case: &Case) -> String {
    let requests = case.printed().requests;
    requests
        .map(|all| format!(" of {}", count(all)))
        .unwrap_or_default()
}

/// What is left of the rate.
fn left(case: &Case) -> String {
    let printed = case.printed();
    let part = case.right().zip(printed.requests.filter(|all| *all > 0));
    let Some(((right, all), rate)) = part.zip(printed.rate) else {
        return String::new();
    };
    let (left, rate) = (n(rate.value * right as f64 / all as f64), n(rate.value));
    if left == rate {
        return String::new();
    }
    format!(", which leaves {left} of {rate} requests/s")
}

fn gave_up(case: &Case) -> Option<Finding> {
    let why = case.printed().gave_up.as_ref()?;
    let done = case.printed().requests;
    let done = done
        .map(|done| format!(" after {} requests", count(done)))
        .unwrap_or_default();
    Some(Kind::Failed.says(format!(
        "{} gave up{done}: {why}. There is no figure; find out why before measuring again",
        case.tool().name()
    )))
}

fn statuses(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let wrong = printed.not_2xx().filter(|wrong| *wrong > 0)?;
    let kinds: Vec<String> = printed
        .statuses
        .iter()
        .filter(|(status, count)| !matches!(status, 2 | 200..=299) && *count > 0)
        .map(|(status, number)| match status {
            0..=9 => format!("{status}xx: {}", count(*number)),
            _ => format!("{status}: {}", count(*number)),
        })
        .collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!(" ({})", kinds.join(", "))
    };
    Some(Kind::Failed.says(format!(
        "{}{} answers had {}{kinds}, and the rate counts them{}. Check the address with curl -i, then measure again",
        count(wrong),
        of(case),
        match case.tool() {
            Tool::Wrk | Tool::Wrk2 => "a status of 400 or more",
            _ => "another status than 2xx",
        },
        left(case)
    )))
}

fn failed(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let all = printed.failed.filter(|failed| *failed > 0)?;
    if case.tool() == Tool::Ab && printed.other_length >= all {
        return Some(Kind::Careful.says(format!(
            "{}{} answers had another length than the first, which ab calls failed: if the page varies use -l, \
             else check what the others are",
            count(all),
            of(case)
        )));
    }
    // h2load's failed are those of a wrong status, which are told already, and those without an answer.
    let told = match case.tool() {
        Tool::H2load => printed.not_2xx().unwrap_or(0) + printed.errors(),
        _ => 0,
    };
    (all > told).then(|| {
        Kind::Failed.says(format!(
            "{}{} requests failed, and the rate counts them{}. Find out why before measuring again",
            count(all),
            of(case),
            left(case)
        ))
    })
}

fn errors(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let kinds: Vec<String> = printed
        .errors
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(name, number)| format!("{name}: {}", count(*number)))
        .collect();
    if kinds.is_empty() {
        return None;
    }
    let read = printed.errors.iter().find(|(name, _)| name == "read");
    let read = read.map_or(0, |(_, number)| *number);
    let requests = printed.requests.unwrap_or(0);
    let advice = if requests > 0 && read * 10 > requests * 9 {
        "about one read error a request or more: the server closes each connection without saying so, and each request \
         pays for a new one"
    } else if printed
        .errors
        .iter()
        .any(|(name, number)| name == "timeout" && *number > 0)
    {
        "requests that ran into the timeout are in no mean and no percentile: latencies are too low"
    } else {
        "the server refused or closed connections: check its limits on both sides before measuring again"
    };
    // Beside what wrk counts, among what the others count.
    let left = match case.tool() {
        Tool::Hey | Tool::Oha => left(case),
        _ => String::new(),
    };
    Some(Kind::Failed.says(format!(
        "errors without an answer ({}){left}: {advice}",
        kinds.join(", ")
    )))
}

fn none(case: &Case) -> Finding {
    let printed = case.printed();
    match printed.requests {
        Some(0) => Kind::Failed.says("no request was answered"),
        Some(_) if case.hey_forgot() => Kind::Cannot.says(
            "whether requests failed: hey keeps the statuses of the first 1,000,000 answers only",
        ),
        Some(all) if printed.whole && case.run.unread.is_empty() => match case.tool() {
            Tool::Wrk | Tool::Wrk2 => Kind::Proves.says(format!(
                "{} answers, all of a status below 400 (redirects are among them), and no socket error",
                count(all)
            )),
            _ => Kind::Proves.says(format!(
                "{} requests, all answered with a status of 2xx",
                count(all.saturating_sub(printed.cut_off))
            )),
        },
        _ => Kind::Cannot.says(
            "whether requests failed: the lines that tell are not in the paste. Publish the whole output",
        ),
    }
}
