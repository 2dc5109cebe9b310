//! `$TEST_NGINX_*` in the text of a test.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::port;

/// The `TEST_NGINX_*` variables of one server.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    vars: BTreeMap<String, String>,
    random: Mutex<BTreeMap<String, u16>>,
}

impl Variables {
    pub fn new(vars: BTreeMap<String, String>) -> Variables {
        Variables {
            vars,
            random: Mutex::default(),
        }
    }

    /// Replaces each `$TEST_NGINX_NAME`; a name that nothing defines is an error.
    ///
    /// `$TEST_NGINX_RAND_PORT_N` is a free port, the same one each time.
    pub fn expand(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        const START: &[u8] = b"$TEST_NGINX_";
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = find(rest, START) {
            let tail = &rest[at + 1..];
            let len = tail.iter().take_while(|&&c| is_name(c)).count();
            if len < START.len() {
                out.extend_from_slice(&rest[..at + START.len()]);
                rest = &rest[at + START.len()..];
                continue;
            }
            let name = std::str::from_utf8(&tail[..len]).expect("the name is ASCII");
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(self.value(name)?.as_bytes());
            rest = &tail[len..];
        }
        out.extend_from_slice(rest);
        Ok(out)
    }

    fn value(&self, name: &str) -> Result<String, String> {
        let number = name.strip_prefix("TEST_NGINX_RAND_PORT_").unwrap_or("");
        if !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()) {
            let mut random = self.random.lock().unwrap_or_else(|e| e.into_inner());
            if let Some(port) = random.get(name) {
                return Ok(port.to_string());
            }
            let port = port::free().map_err(|e| format!("${name}: no free port: {e}"))?;
            random.insert(name.to_owned(), port);
            return Ok(port.to_string());
        }
        self.vars.get(name).cloned().ok_or_else(|| {
            format!(
                "${name} is not defined; the file may set it before run_tests(), as in \
                 $ENV{{{name}}} ||= ...;"
            )
        })
    }
}

fn is_name(c: u8) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_'
}

/// Where `needle` starts in `hay`.
pub(crate) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    hay.windows(needle.len())
        .position(|window| window == needle)
}

/// Replaces `$name` where no word character follows.
pub(crate) fn replace_word(text: &[u8], name: &str, with: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find(rest, name.as_bytes()) {
        let end = at + name.len();
        out.extend_from_slice(&rest[..at]);
        let goes_on = rest
            .get(end)
            .is_some_and(|&c| c.is_ascii_alphanumeric() || c == b'_');
        out.extend_from_slice(if goes_on {
            name.as_bytes()
        } else {
            with.as_bytes()
        });
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::new(BTreeMap::from([(
            "TEST_NGINX_PORT".to_owned(),
            "81".to_owned(),
        )]))
    }

    #[test]
    fn names_are_replaced() {
        let text = variables()
            .expand(b"a:$TEST_NGINX_PORT; $TEST_NGINX_PORT/b $TEST_NGINX_")
            .unwrap();
        assert_eq!(text, b"a:81; 81/b $TEST_NGINX_");
    }

    #[test]
    fn a_name_is_as_long_as_it_can_be() {
        let error = variables().expand(b"$TEST_NGINX_PORT_B").unwrap_err();
        assert!(
            error.starts_with("$TEST_NGINX_PORT_B is not defined"),
            "{error}"
        );
        assert_eq!(variables().expand(b"$TEST_NGINX_PORTa").unwrap(), b"81a");
    }

    #[test]
    fn a_random_port_keeps_its_number() {
        let vars = variables();
        let one = vars.expand(b"$TEST_NGINX_RAND_PORT_1").unwrap();
        assert_eq!(vars.expand(b"$TEST_NGINX_RAND_PORT_1").unwrap(), one);
        assert_ne!(vars.expand(b"$TEST_NGINX_RAND_PORT_2").unwrap(), one);
    }

    #[test]
    fn a_word_ends_at_a_boundary() {
        assert_eq!(
            replace_word(
                b"$ServerPort $ServerPortForClient:$ServerPort",
                "$ServerPort",
                "1"
            ),
            b"1 $ServerPortForClient:1"
        );
    }
}
