//! One test block: its sections and the settings of its file.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sections::{FOREIGN, KNOWN, MOOT};
use crate::value::Value;

/// A block, filtered and preprocessed.
#[derive(Debug)]
pub(crate) struct Block {
    pub line: usize,
    pub skip: Option<String>,
    /// The line of the block whose configuration this one goes on with.
    pub inherited: Option<usize>,
    pub env: BTreeMap<String, String>,
    sections: BTreeMap<String, Value>,
    settings: Value,
    own: Vec<String>,
    lines: Value,
}

impl Block {
    /// Reads what perl says of a block.
    pub fn new(value: &Value) -> Block {
        let str = |value: &Value| value.str().map(|text| text.into_owned());
        let line = |value: &Value| str(value).and_then(|line| line.parse().ok());
        let env = value.get("env").map().into_iter().flatten();
        Block {
            line: line(value.get("line")).unwrap_or_default(),
            skip: str(value.get("skip")),
            inherited: line(value.get("inherited")),
            env: env
                .filter_map(|(name, value)| Some((name.clone(), str(value)?)))
                .collect(),
            sections: value.get("sections").map().cloned().unwrap_or_default(),
            settings: value.get("settings").clone(),
            own: value
                .get("own")
                .list()
                .into_iter()
                .flatten()
                .filter_map(str)
                .collect(),
            lines: value.get("lines").clone(),
        }
    }

    /// What is wrong with the sections that nobody knows how to act upon, with
    /// the line of each. Those that the file's own preprocessors read are the
    /// file's affair.
    pub fn unknown_sections(&self) -> Vec<(usize, String)> {
        let known = |name: &str| {
            KNOWN.contains(&name)
                || MOOT.contains(&name)
                || self.own.iter().any(|own| own == name) && !FOREIGN.contains(&name)
        };
        let unknown = self
            .sections
            .keys()
            .filter(|name| !known(name))
            .map(|name| {
                let line = self
                    .lines
                    .get(name)
                    .str()
                    .and_then(|line| line.parse().ok());
                let message = match FOREIGN.contains(&name.as_str()) {
                    true => format!("section \"{name}\" is not supported"),
                    false => format!("unknown section \"{name}\""),
                };
                (line.unwrap_or(self.line), message)
            });
        unknown.collect()
    }

    /// The value of a section; undef if the block has none of this name.
    pub fn section(&self, name: &str) -> &Value {
        self.sections.get(name).unwrap_or(&Value::Undef)
    }

    pub fn has(&self, name: &str) -> bool {
        *self.section(name) != Value::Undef
    }

    /// The text of a section that holds a string.
    pub fn text(&self, name: &str) -> Option<String> {
        self.section(name).str().map(|text| text.into_owned())
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.section(name).bytes().unwrap_or_default().to_vec()
    }

    /// A section that holds a time: seconds, or with a suffix `s` or `ms`.
    pub fn time(&self, name: &str) -> Result<Option<Duration>, String> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match parse_time(&text) {
            Some(time) => Ok(Some(time)),
            None if text.trim().is_empty() => Ok(None),
            None => Err(format!("--- {name}: {:?} is not a time", text.trim())),
        }
    }

    /// A setting of the file.
    pub fn setting(&self, name: &str) -> &Value {
        self.settings.get(name)
    }

    pub fn setting_text(&self, name: &str) -> String {
        self.setting(name).str().unwrap_or_default().into_owned()
    }

    pub fn setting_time(&self, name: &str) -> Duration {
        parse_time(&self.setting_text(name)).unwrap_or_default()
    }
}

pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1e-3),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What a section that may hold a value for each request holds for number `i`.
/// If there are several, an array is due.
pub(crate) fn indexed<'a>(
    name: &str,
    value: &'a Value,
    i: usize,
    several: bool,
) -> Result<&'a Value, String> {
    match value {
        Value::List(list) => Ok(list.get(i).unwrap_or(&Value::Undef)),
        _ if several => Err(format!(
            "--- {name} must be an array, as the block has several requests"
        )),
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(sections: &[(&str, &str)], own: &[&str]) -> Block {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::text(value));
        let own = own.iter().map(Value::text).collect();
        Block::new(&Value::Map(BTreeMap::from([
            ("line".to_owned(), Value::text("7")),
            (
                "sections".to_owned(),
                Value::Map(sections.iter().map(text).collect()),
            ),
            ("own".to_owned(), Value::List(own)),
        ])))
    }

    #[test]
    fn an_unknown_section_is_found() {
        let unknown = |sections, own| block(sections, own).unknown_sections();
        let confg = [("config", ""), ("confg", "")];
        assert_eq!(
            unknown(&confg, &[]),
            [(7, "unknown section \"confg\"".to_owned())]
        );
        assert_eq!(unknown(&confg, &["confg"]), []);
        let stap = [(7, "section \"stap\" is not supported".to_owned())];
        assert_eq!(unknown(&[("stap", "")], &["stap"]), stap);
    }

    #[test]
    fn times_have_units() {
        for (text, millis) in [("3", 3000), ("0.2", 200), ("150ms", 150), ("2s\n", 2000)] {
            assert_eq!(
                parse_time(text),
                Some(Duration::from_millis(millis)),
                "{text}"
            );
        }
        assert_eq!(parse_time("soon"), None);
        assert!(block(&[("wait", "soon")], &[]).time("wait").is_err());
        assert_eq!(block(&[("abort", "")], &[]).time("abort"), Ok(None));
    }

    #[test]
    fn several_requests_need_an_array() {
        let list = Value::List(vec![Value::text("a"), Value::text("b")]);
        assert_eq!(indexed("x", &list, 1, true), Ok(&Value::text("b")));
        assert_eq!(indexed("x", &list, 2, true), Ok(&Value::Undef));
        assert_eq!(
            indexed("x", &Value::text("a"), 0, false),
            Ok(&Value::text("a"))
        );
        assert!(indexed("x", &Value::text("a"), 0, true).is_err());
    }
}
