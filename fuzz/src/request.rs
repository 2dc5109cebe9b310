//! What a client sends: paths, arguments, and what becomes of them in header lines and in the error log.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use crate::one_line::OneLine;
use crate::{parse, uri};

pub fn run(data: &[u8]) {
    path(data);
    arguments(data);
    header_line(data);
    content_type(data);
    log_line(&String::from_utf8_lossy(data));
}

/// A path that is encoded is one that is decoded to itself, and has nothing in it that a URI reads differently.
fn path(path: &[u8]) {
    let encoded = uri::encode_path(path);
    let decoded: Vec<u8> = percent_decode(encoded.as_bytes()).collect();
    assert_eq!(decoded, path);
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~/%".contains(&c);
    assert!(encoded.bytes().all(is_plain), "{encoded}");
    assert!(encoded.len() <= 3 * path.len());
}

/// Arguments as they came are those that another parser decodes.
fn arguments(query: &[u8]) {
    let decode = |text: &[u8]| {
        let spaces: Vec<u8> = text
            .iter()
            .map(|&c| if c == b'+' { b' ' } else { c })
            .collect();
        percent_decode(&spaces).decode_utf8_lossy().into_owned()
    };
    let raw: Vec<(&[u8], &[u8])> = parse::args(query).collect();
    let decoded = raw
        .iter()
        .map(|(name, value)| (decode(name), decode(value)));
    let all = form_urlencoded::parse(query);
    assert!(decoded.eq(all.map(|(name, value)| (Cow::into_owned(name), Cow::into_owned(value)))));
    for (name, value) in raw {
        assert!(!name.contains(&b'=') && !name.contains(&b'&') && !value.contains(&b'&'));
    }
}

/// What may stand in a header line is one line for whoever reads it.
fn header_line(text: &[u8]) {
    let lines = |name: &[u8], value: &[u8]| -> Option<(String, Vec<u8>)> {
        let mut headers = [httparse::EMPTY_HEADER; 4];
        let line = [name, b": ", value, b"\r\n\r\n"].concat();
        match httparse::parse_headers(&line, &mut headers) {
            Ok(httparse::Status::Complete((length, [one]))) if length == line.len() => {
                Some((one.name.to_owned(), one.value.to_vec()))
            }
            _ => None,
        }
    };
    if parse::is_header_value(text) {
        let (_, value) = lines(b"X", text).expect("one header line");
        assert_eq!(value, text.trim_ascii());
    }
    if parse::is_token(text) {
        let (name, _) = lines(text, b"x").expect("one header line");
        assert_eq!(name.as_bytes(), text);
    }
}

/// Case and parameters do not change what a body is.
fn content_type(text: &[u8]) {
    let is_form = parse::is_form(text);
    assert_eq!(parse::is_form(&text.to_ascii_uppercase()), is_form);
    assert_eq!(
        parse::is_form(&[text, b" ; charset=utf-8"].concat()),
        is_form
    );
}

/// A message is one line of the error log, in how many pieces it is written.
fn log_line(message: &str) {
    let line = OneLine(message).to_string();
    assert!(!line.contains(char::is_control), "{line:?}");
    if !message.contains(char::is_control) {
        assert_eq!(line, message);
    }
    let middle = message.chars().count() / 2;
    let at = message.char_indices().nth(middle).map_or(0, |(at, _)| at);
    let (one, other) = message.split_at(at);
    assert_eq!(OneLine(format_args!("{one}{other}")).to_string(), line);
}
