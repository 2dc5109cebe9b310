//! Bytes of answers, against the body that was meant and what an answer must have.

use super::super::case::{Body, Case};
use super::super::finding::{Finding, Kind, short};
use crate::gates::bodies::page;
use crate::gates::n;
use crate::tools::Tool;
use crate::tools::number::Number;

/// The shortest head there can be: `HTTP/1.1 200` and two line feeds.
const HEAD: f64 = 14.0;

/// A head longer than this is unusual.
const LONG_HEAD: f64 = 1000.0;

pub fn check(case: &Case) -> Vec<Finding> {
    let mut found: Vec<Finding> = [heads, first]
        .iter()
        .filter_map(|check| check(case))
        .collect();
    match &case.meant.body {
        Some(body) => found.push(against(case, body)),
        None => found.extend(alone(case)),
    }
    found
}

/// Each answer has a head, and all of it is in the count. h2load forgets the bytes of connections that the server closes.
fn heads(case: &Case) -> Option<Finding> {
    if case.tool() == Tool::H2load {
        return None;
    }
    let answers = case.answers().filter(|answers| *answers > 0)? as f64;
    let all = case.printed().answer_bytes?;
    let bodies = case.printed().body_bytes;
    let most = (all.high() - bodies.map_or(0.0, Number::low)) / answers;
    (most < HEAD).then(|| {
        Kind::Impossible.says(match bodies {
            Some(_) => format!(
                "{} bytes of answers and {} of bodies leave {} bytes for each head, and {HEAD} are the least",
                n(all.value),
                n(bodies.map_or(0.0, |bodies| bodies.value)),
                short(most.max(0.0))
            ),
            None => format!(
                "{} bytes for {} answers are {} each, less than a status line",
                n(all.value),
                n(answers),
                short(most)
            ),
        })
    })
}

/// ab has counted every answer that is not as long as the first.
fn first(case: &Case) -> Option<Finding> {
    let printed = case.printed();
    let is_whole = case.tool() == Tool::Ab && printed.failed == Some(0);
    let each = printed.body_each.filter(|_| is_whole)?;
    let (all, answers) = (printed.body_bytes?, printed.requests? as f64);
    // HEAD requests have a length and no body.
    (all.value > 0.0 && all.value < each.value * answers).then(|| {
        Kind::Impossible.says(format!(
            "{} answers as long as the first, {} bytes, are {} bytes, and only {} of bodies are printed",
            n(answers),
            n(each.value),
            n(answers * each.value),
            n(all.value)
        ))
    })
}

fn against(case: &Case, body: &Body) -> Finding {
    let bytes = body.bytes as f64;
    let Some(each) = case.body_each() else {
        return with_head(case, body);
    };
    let slack = match case.tool() {
        // Cut to whole bytes.
        Tool::Hey | Tool::Oha => 1.0,
        _ => 0.0,
    };
    if (each.low()..=each.high() + slack).contains(&bytes) {
        return Kind::Proves.says(format!(
            "bodies have {} bytes, as the one that was meant; what is in them was not looked at",
            short(each.value)
        ));
    }
    let known = page(each.value).map(|page| format!(", as long as {page}"));
    let average = if case.tool() == Tool::Ab {
        ""
    } else {
        " on average"
    };
    Kind::Failed.says(format!(
        "bodies have {} bytes{average}{}, not the {}: ask for the address that was meant, and look at the body",
        short(each.value),
        known.unwrap_or_default(),
        body.shown
    ))
}

/// Where only whole answers are counted.
fn with_head(case: &Case, body: &Body) -> Finding {
    let bytes = body.bytes as f64;
    let Some(each) = case.answer_each().filter(|_| case.has_plain_heads()) else {
        return Kind::Cannot
            .says("how long the bodies were: look at one with curl, and check every one");
    };
    let value = short(each.value);
    if each.high() < bytes + HEAD {
        return Kind::Failed.says(format!(
            "answers have {value} bytes with their heads, too few for the {}: ask for the address that was meant",
            body.shown
        ));
    }
    if each.low() > bytes + LONG_HEAD {
        return Kind::Careful.says(format!(
            "answers have {value} bytes with their heads: a long head for the {}, or another body. Look with curl -i",
            body.shown
        ));
    }
    Kind::Cannot.says(format!(
        "whether the body was the one that was meant: answers have {value} bytes with their heads, which leaves room \
         for it and for others"
    ))
}

/// Without a body that was meant.
fn alone(case: &Case) -> Option<Finding> {
    let each = case.body_each()?;
    if each.value == 0.0 && case.answers().is_some_and(|answers| answers > 0) {
        return Some(Kind::Careful.says("bodies are empty: is that what was meant?"));
    }
    let page = page(each.value)?;
    if page.contains("404") && case.printed().not_2xx() == Some(0) {
        return None;
    }
    Some(Kind::Careful.says(format!(
        "bodies have {} bytes, as long as {page}: is that what was meant?",
        short(each.value)
    )))
}
