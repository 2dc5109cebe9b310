//! Readers of this crate, given any bytes: for the crate `fuzz`.

use std::collections::BTreeMap;

use crate::block::parse_time;
use crate::expand::{Variables, replace_word};
use crate::request::{self, Sections};
use crate::response;
use crate::user_files;
use crate::value::{self, Value};

/// What a test file says that is sent: parts of `data`, which zeros keep apart.
pub fn request(data: &[u8]) {
    let mut parts = data.split(|&c| c == 0);
    let mut part = || parts.next().unwrap_or_default();
    let (request, headers, delay) = (part(), part(), part());
    borders_change_nothing(request, headers);
    delays(request, delay);
    variables(request);
    files(request);
    parse_time(&String::from_utf8_lossy(delay));
}

/// The bytes of all packets, or what is wrong.
fn sent(request: Value, more_headers: &[u8]) -> Result<Vec<u8>, String> {
    let requests = request::build(&Sections {
        request: &Value::List(vec![request]),
        raw_request: &Value::Undef,
        pipelined: &Value::Undef,
        more_headers: &Value::List(vec![Value::text(more_headers)]),
        server_name: "localhost",
    })?;
    let packets = requests.into_iter().flatten();
    Ok(packets.flat_map(|packet| packet.bytes).collect())
}

/// A request in packets is the request in one.
fn borders_change_nothing(request: &[u8], headers: &[u8]) {
    let whole = sent(Value::text(request), headers);
    for size in [1, 3, 16] {
        let packets = request.chunks(size).map(Value::text).collect();
        let sent = sent(Value::List(packets), headers);
        assert_eq!(sent, whole, "in packets of {size}");
    }
    if let Ok(whole) = whole {
        assert!(crate::expand::find(&whole, b"\r\n\r\n").is_some());
    }
}

/// A pause that is none is an error.
fn delays(text: &[u8], delay: &[u8]) {
    let packet = BTreeMap::from([
        ("value".to_owned(), Value::text(text)),
        ("delay_before".to_owned(), Value::text(delay)),
    ]);
    // Whatever is wrong is said, and does not panic.
    let _ = sent(Value::List(vec![Value::Map(packet)]), b"");
}

fn variables(text: &[u8]) {
    let of = |value: &str| {
        let known = BTreeMap::from([("TEST_NGINX_X".to_owned(), value.to_owned())]);
        Variables::new(known).expand(text)
    };
    // A random port takes a free one of this machine.
    if crate::expand::find(text, b"RAND_PORT").is_none()
        && let Ok(expanded) = of("$TEST_NGINX_X")
    {
        assert_eq!(expanded, text);
    }
    assert_eq!(replace_word(text, "$ServerPort", "$ServerPort"), text);
}

/// Files are written as they are read.
fn files(section: &[u8]) {
    let files = user_files::parse(section);
    let mut printed = Vec::new();
    for file in &files {
        let date = file.date.as_deref().unwrap_or_default();
        printed.extend(format!(">>> {} {date}\n", file.name).into_bytes());
        printed.extend(&file.body);
    }
    assert_eq!(user_files::parse(&printed), files);
}

/// What perl says, and what nginx answers.
pub fn response(data: &[u8]) {
    if let Ok(Ok(value)) = value::read(&mut &data[..]) {
        let mut written = Vec::new();
        if value::write(&mut written, &value).is_ok() && !has_regex(&value) {
            assert_eq!(value::read(&mut &written[..]).ok(), Some(Ok(value)));
        }
    }
    let parsed = response::parse(data);
    assert!(data.ends_with(&parsed.left));
    match &parsed.response {
        Some(response) => {
            assert!(response.body.len() + parsed.left.len() <= data.len());
            assert!(data.starts_with(&response.raw_headers));
        }
        None => assert!(parsed.error.is_some()),
    }
}

/// Perl is sent the number of a regex alone.
fn has_regex(value: &Value) -> bool {
    match value {
        Value::Regex { .. } => true,
        Value::List(list) => list.iter().any(has_regex),
        _ => false,
    }
}
