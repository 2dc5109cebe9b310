//! Gate 1: the exact body, equal across the row's rivals.

use super::{Gate, n};
use crate::result::Verdict;

pub const GATE: Gate = Gate(1, "exact body");

/// Pages that servers answer when there is nothing at an address, by the bytes of their bodies.
const KNOWN: [(u64, &str); 6] = [
    (19, "Go's \"404 page not found\\n\""),
    (14, "aiohttp's \"404: Not Found\""),
    (
        50,
        "Java's \"<h1>404 Not Found</h1>No context found for request\"",
    ),
    (153, "nginx's 404 page"),
    (612, "nginx's welcome page of old (615 in newer ones)"),
    (615, "nginx's welcome page"),
];

/// The page that has a body of so many bytes, if one is known.
pub fn page(bytes: f64) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(length, _)| bytes == *length as f64);
    known.map(|(_, page)| *page)
}

/// Of bytes and requests as a generator prints them. `expected` is the body that was meant.
pub fn by_bytes(body_bytes: Option<u64>, requests: Option<u64>, expected: &str) -> Verdict {
    let (Some(bytes), Some(requests @ 1..)) = (body_bytes, requests) else {
        return GATE
            .unknown("the bodies' size was not printed: ask with curl, and check every answer");
    };
    let meant = expected.len() as u64;
    let each = bytes / requests;
    if bytes == meant * requests {
        return GATE.pass(format!(
            "{meant} bytes each, as meant; their content is not known"
        ));
    }
    let each_text = if bytes.is_multiple_of(requests) {
        format!("{} bytes", n(each as f64))
    } else {
        format!("{:.1} bytes on average", bytes as f64 / requests as f64)
    };
    let known = page(bytes as f64 / requests as f64)
        .map(|page| format!(", which is {page}"))
        .unwrap_or_default();
    GATE.refuse(format!(
        "each body is {each_text}{known}, not the {meant} of {expected:?}: ask for the address that was meant, and \
         check the body"
    ))
}

/// Of rivals by name and the bodies that they are meant to send.
pub fn rivals(bodies: &[(&str, &str)]) -> Verdict {
    let Some((first, body)) = bodies.first() else {
        return GATE.unknown("no rows");
    };
    match bodies.iter().find(|(_, other)| other != body) {
        None => GATE.pass(format!("all answer {body:?}")),
        Some((other, another)) => GATE.refuse(format!(
            "{first} answers {body:?} ({} bytes) and {other} {another:?} ({} bytes): give all the same body",
            body.len(),
            another.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Outcome;

    /// `go-vs-openresty`, "HTML transferred" of ab and its requests.
    #[test]
    fn bodies_of_the_first_article() {
        for (bytes, requests, text) in [
            (
                190_000,
                10_000,
                "each body is 19 bytes, which is Go's \"404 page not found\\n\"",
            ),
            (950_000, 50_000, "19 bytes"),
            (
                1_286_460_000,
                10_000,
                "each body is 128,646 bytes, not the 3",
            ),
            (280_000, 20_000, "14 bytes, which is aiohttp's"),
            (1_000_000, 20_000, "50 bytes, which is Java's"),
            (5_000_000, 100_000, "50 bytes"),
        ] {
            let verdict = by_bytes(Some(bytes), Some(requests), "OK\n");
            assert_eq!(verdict.outcome, Outcome::Refuse);
            assert!(verdict.text.contains(text), "{}", verdict.text);
        }
        assert_eq!(
            by_bytes(Some(30_000), Some(10_000), "OK\n").outcome,
            Outcome::Pass
        );
        assert_eq!(
            by_bytes(None, Some(10_000), "OK\n").outcome,
            Outcome::Unknown
        );
        assert_eq!(by_bytes(Some(0), Some(0), "OK\n").outcome, Outcome::Unknown);
    }

    #[test]
    fn a_mixture_is_not_taken_for_a_page() {
        let verdict = by_bytes(Some(190_007), Some(10_000), "OK\n");
        assert!(
            verdict
                .text
                .starts_with("each body is 19.0 bytes on average, not")
        );
    }

    /// `lua-vs-php`.
    #[test]
    fn rivals_of_the_second_article() {
        let verdict = rivals(&[
            ("Lua", "<h1>HelloWorld</h1>\n"),
            ("PHP", "<h1>Hello hkhost</h1>"),
        ]);
        assert_eq!(verdict.outcome, Outcome::Refuse);
        assert!(verdict.text.contains("(20 bytes)") && verdict.text.contains("(21 bytes)"));
        assert_eq!(rivals(&[("a", "x"), ("b", "x")]).outcome, Outcome::Pass);
    }
}
