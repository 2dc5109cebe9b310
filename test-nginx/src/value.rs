//! Perl values, and how they travel between this process and the perl that
//! reads a test file.
//!
//! A message is one value: a letter, a number, a line feed, then what the
//! number counts.
//!
//! ```text
//! U                undef
//! S5\nhello        a string of five bytes
//! A2\n...          an array: two values follow
//! H1\n...          a hash: one string and one value follow
//! R0\nS4\n(?^)     qr// number 0 of the perl process, and its text
//! C0\n             sub {} number 0 of the perl process
//! E...             an error: its message follows
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};

/// A Perl value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Undef,
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
    Regex { id: usize, text: Vec<u8> },
    Code(usize),
}

impl Value {
    pub fn text(text: impl AsRef<[u8]>) -> Value {
        Value::Bytes(text.as_ref().to_vec())
    }

    /// The bytes of a string, or what a regex looks like in a string.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bytes(bytes) | Value::Regex { text: bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    pub fn str(&self) -> Option<Cow<'_, str>> {
        self.bytes().map(String::from_utf8_lossy)
    }

    pub fn list(&self) -> Option<&[Value]> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn map(&self) -> Option<&BTreeMap<String, Value>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The entry of a hash; undef when there is none.
    pub fn get(&self, key: &str) -> &Value {
        self.map()
            .and_then(|map| map.get(key))
            .unwrap_or(&Value::Undef)
    }

    /// Whether Perl would take the value for true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Undef => false,
            Value::Bytes(bytes) => !bytes.is_empty() && bytes != b"0",
            _ => true,
        }
    }
}

/// Values within values that a test file has a use for are fewer.
const DEEPEST: usize = 100;

/// Reads one value; the inner error is the message of an `E`.
pub fn read(from: &mut impl BufRead) -> io::Result<Result<Value, String>> {
    read_within(from, DEEPEST)
}

/// Reads one value that may hold values `depth` deep.
fn read_within(from: &mut impl BufRead, depth: usize) -> io::Result<Result<Value, String>> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| bad("values too deep within others"))?;
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    Ok(Ok(match kind[0] {
        b'U' => Value::Undef,
        b'S' => {
            let length = number(from)?;
            let mut bytes = Vec::new();
            from.take(length as u64).read_to_end(&mut bytes)?;
            if bytes.len() < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Value::Bytes(bytes)
        }
        b'A' => {
            let count = number(from)?;
            let mut list = Vec::with_capacity(count.min(1024));
            for _ in 0..count {
                match read_within(from, depth)? {
                    Ok(value) => list.push(value),
                    error => return Ok(error),
                }
            }
            Value::List(list)
        }
        b'H' => {
            let mut map = BTreeMap::new();
            for _ in 0..number(from)? {
                let key = read_within(from, depth)?
                    .ok()
                    .and_then(|key| key.str().map(Cow::into_owned));
                let key = key.ok_or_else(|| bad("a key that is no string"))?;
                match read_within(from, depth)? {
                    Ok(value) => map.insert(key, value),
                    error => return Ok(error),
                };
            }
            Value::Map(map)
        }
        b'R' => {
            let id = number(from)?;
            let text = read_within(from, depth)?
                .ok()
                .and_then(|text| text.bytes().map(<[u8]>::to_vec));
            Value::Regex {
                id,
                text: text.ok_or_else(|| bad("a regex without text"))?,
            }
        }
        b'C' => Value::Code(number(from)?),
        b'E' => {
            return Ok(Err(match read_within(from, depth)? {
                Ok(message) => message.str().unwrap_or_default().trim_end().to_owned(),
                Err(message) => message,
            }));
        }
        other => return Err(bad(&format!("a value of kind {:?}", other as char))),
    }))
}

/// Writes a string, a list or a regex: all that perl is ever sent.
pub fn write(to: &mut impl Write, value: &Value) -> io::Result<()> {
    match value {
        Value::Bytes(bytes) => {
            writeln!(to, "S{}", bytes.len())?;
            to.write_all(bytes)
        }
        Value::List(list) => {
            writeln!(to, "A{}", list.len())?;
            list.iter().try_for_each(|value| write(to, value))
        }
        Value::Regex { id, .. } => writeln!(to, "R{id}"),
        other => Err(bad(&format!("{other:?}, which is not sent"))),
    }
}

fn number(from: &mut impl BufRead) -> io::Result<usize> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    line.trim_end()
        .parse()
        .map_err(|_| bad(&format!("the number {line:?}")))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the message holds {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_kind() {
        let mut from = &b"A5\nUS2\na\nH1\nS1\nkS1\nvR3\nS2\nxyC7\n"[..];
        let map = BTreeMap::from([("k".to_owned(), Value::text("v"))]);
        assert_eq!(
            read(&mut from).unwrap(),
            Ok(Value::List(vec![
                Value::Undef,
                Value::text("a\n"),
                Value::Map(map),
                Value::Regex {
                    id: 3,
                    text: b"xy".to_vec()
                },
                Value::Code(7),
            ]))
        );
    }

    #[test]
    fn an_error_is_its_message() {
        assert_eq!(
            read(&mut &b"ES5\nwhy?\n"[..]).unwrap(),
            Err("why?".to_owned())
        );
    }

    #[test]
    fn a_broken_message_is_an_error() {
        assert!(read(&mut &b"S9\nabc"[..]).is_err());
        assert!(read(&mut &b"Sx\nabc"[..]).is_err());
        assert!(read(&mut &b"?"[..]).is_err());
        assert!(read(&mut &b""[..]).is_err());
        assert!(read(&mut &b"S9223372036854775807\nabc"[..]).is_err());
        assert!(read(&mut &b"A1\n".repeat(100_000)[..]).is_err());
    }

    #[test]
    fn writes_what_perl_reads() {
        let mut out = Vec::new();
        let value = Value::List(vec![
            Value::text("match"),
            Value::Regex {
                id: 1,
                text: vec![],
            },
        ]);
        write(&mut out, &value).unwrap();
        assert_eq!(out, b"A2\nS5\nmatchR1\n");
    }
}
