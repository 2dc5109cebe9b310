//! Arguments of a directive: `NAME=VALUE`, the quotes in them, times and numbers.

use std::sync::LazyLock;
use std::time::Duration;

use regex_lite::Regex;

use crate::{parse, quotes};

pub fn run(data: &[u8]) {
    assert_eq!(
        parse::unsigned(data),
        number(data),
        "{}",
        data.escape_ascii()
    );
    assert_eq!(parse::time(data), time(data), "{}", data.escape_ascii());
    named(data);
    words_are_nginx_words(data);
    quoted_values_come_back(data);
}

/// As the standard library reads it, which takes a sign.
fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// The syntax that nginx documents, as one expression.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let whole = r"^(?:(\d+)M *)?(?:(\d+)w *)?(?:(\d+)d *)?(?:(\d+)h *)?(?:(\d+)m *)?(?:(\d+)s *)?(?:(\d+)ms *)?$";
    Regex::new(whole).expect("an expression")
});

/// A number without a unit at the end counts seconds.
static BARE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(.*?)(\d+)( *)$").expect("an expression"));

fn time(text: &[u8]) -> Option<Duration> {
    const MS: [u128; 7] = [
        2_592_000_000,
        604_800_000,
        86_400_000,
        3_600_000,
        60_000,
        1000,
        1,
    ];
    let text = std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.is_empty())?;
    let text = BARE.replace(text, "${1}${2}s${3}");
    let numbers = TIME.captures(&text)?;
    let mut total = 0_u128;
    for (at, ms) in MS.iter().enumerate() {
        if let Some(number) = numbers.get(at + 1) {
            let number: u64 = number.as_str().parse().ok()?;
            total += u128::from(number) * ms;
        }
    }
    let total = i64::try_from(total).ok()?;
    Some(Duration::from_millis(total.unsigned_abs()))
}

fn named(arg: &[u8]) {
    match parse::named(arg) {
        Some((name, value)) => {
            assert_eq!([name, b"=", value].concat(), arg);
            assert!(!name.is_empty() && !name.contains(&b'='));
        }
        None => assert!(arg.first() == Some(&b'=') || !arg.contains(&b'=')),
    }
}

/// Where no argument opens a quote behind its `=`, the words are those that nginx made.
fn words_are_nginx_words(data: &[u8]) {
    let text = [b"c ", data, b";"].concat();
    let Some(words) = nginx_words(&text) else {
        return;
    };
    let args: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    if !args.iter().any(|arg| quotes::opens_quote(arg)) {
        let split = quotes::split(&text, &args);
        assert_eq!(split.as_ref(), Some(&words), "{}", text.escape_ascii());
    }
}

/// Values, written with each kind of quotes, are what a handler gets.
fn quoted_values_come_back(data: &[u8]) {
    let values: Vec<&[u8]> = data.split(|&c| c == 0).take(4).collect();
    let mut text = b"# c reply\n c reply".to_vec();
    let mut expected = vec![b"c".to_vec(), b"reply".to_vec()];
    for (at, value) in values.iter().enumerate() {
        let name = format!("n{at}=");
        text.push(b' ');
        match at % 3 {
            0 => text.extend([name.as_bytes(), &quoted(value, b'"')].concat()),
            1 => text.extend([name.as_bytes(), &quoted(value, b'\'')].concat()),
            _ => text.extend(quoted(&[name.as_bytes(), value].concat(), b'"')),
        }
        expected.push([name.as_bytes(), value].concat());
    }
    text.push(b';');
    // nginx itself ends a directive at some of what is in quotes.
    let directive = &text[b"# c reply\n ".len()..];
    if let Some(words) = nginx_words(directive) {
        let args: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let split = quotes::split(&text, &args);
        assert_eq!(split, Some(expected), "{}", text.escape_ascii());
    }
}

fn quoted(value: &[u8], quote: u8) -> Vec<u8> {
    let mut text = vec![quote];
    for &c in value {
        if c == quote || c == b'\\' {
            text.push(b'\\');
        }
        text.push(c);
    }
    text.push(quote);
    text
}

/// What nginx makes of a directive; `None` where it does not end with the text. (A `)` behind a quote, which nginx
/// takes for the next word, is left out.)
fn nginx_words(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    loop {
        let first = bytes.next()?;
        match first {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b';' => return (bytes.next().is_none() && !words.is_empty()).then_some(words),
            b'{' | b'}' => return None,
            b'#' => {
                bytes.find(|&c| c == b'\n')?;
                continue;
            }
            _ => (),
        }
        let quote = matches!(first, b'"' | b'\'').then_some(first);
        let mut raw = Vec::new();
        let mut next = if quote.is_some() {
            bytes.next()?
        } else {
            first
        };
        // A brace behind a dollar is a variable's, and so is each one behind that.
        let mut dollar = false;
        loop {
            match next {
                b'\\' => {
                    raw.extend([next, bytes.next()?]);
                    dollar = false;
                }
                b'{' if dollar => raw.push(next),
                c if quote == Some(c) => {
                    if !matches!(bytes.peek()?, b' ' | b'\t' | b'\r' | b'\n' | b';') {
                        return None;
                    }
                    break;
                }
                b'{' if quote.is_none() => return None,
                c => {
                    raw.push(c);
                    dollar = c == b'$';
                }
            }
            if quote.is_none() && matches!(bytes.peek()?, b' ' | b'\t' | b'\r' | b'\n' | b';') {
                break;
            }
            next = bytes.next()?;
        }
        words.push(plain(&raw));
    }
}

/// A word without its escapes.
fn plain(raw: &[u8]) -> Vec<u8> {
    let mut word = Vec::new();
    let mut bytes = raw.iter().copied();
    while let Some(c) = bytes.next() {
        if c != b'\\' {
            word.push(c);
            continue;
        }
        match bytes.next() {
            Some(escaped @ (b'"' | b'\'' | b'\\')) => word.push(escaped),
            Some(b't') => word.push(b'\t'),
            Some(b'r') => word.push(b'\r'),
            Some(b'n') => word.push(b'\n'),
            Some(other) => word.extend([c, other]),
            None => word.push(c),
        }
    }
    word
}
