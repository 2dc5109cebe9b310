//! The language of a report.
//!
//! A result is written in English, and so is everything that the report says itself. Chinese comes out of `zh.toml`,
//! sentence by sentence, as gettext has it: an English sentence with `{holes}` stands beside its translation with the
//! same holes. What fills a hole is translated in its turn, if there is a translation. What has none stays English.

use std::collections::HashMap;

use regex_lite::Regex;
use serde::Deserialize;

/// In which language a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// Chinese, simplified
    Zh,
}

impl Lang {
    /// The tag of BCP 47, for `<html lang>`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    pub fn speech(self) -> Speech {
        match self {
            Self::En => Speech::default(),
            Self::Zh => Speech::read(include_str!("zh.toml")),
        }
    }
}

/// Says English sentences in another language, or as they are.
#[derive(Default)]
pub struct Speech {
    whole: HashMap<String, String>,
    /// Sentences with holes, in the order of the file: the first that fits is taken.
    holed: Vec<(Regex, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalog {
    /// English and its translation.
    sentences: Vec<(String, String)>,
}

impl Speech {
    fn read(catalog: &str) -> Self {
        let catalog: Catalog =
            toml::from_str(catalog).expect("a test reads the catalogs that are built in");
        let mut speech = Self::default();
        for (english, translation) in catalog.sentences {
            match pattern(&english) {
                Some(pattern) => speech.holed.push((pattern, translation)),
                None => drop(speech.whole.insert(english, translation)),
            }
        }
        speech
    }

    /// The sentence, translated as far as there are words for it.
    pub fn say(&self, english: &str) -> String {
        self.find(english).unwrap_or_else(|| english.to_owned())
    }

    /// A list of sentences, or one.
    fn find(&self, english: &str) -> Option<String> {
        let mut ends = english.match_indices("; ");
        let list = ends.find_map(|(end, separator)| {
            let first = self.sentence(&english[..end])?;
            let rest = self.find(&english[end + separator.len()..])?;
            Some(format!("{first}；{rest}"))
        });
        list.or_else(|| self.sentence(english))
    }

    fn sentence(&self, english: &str) -> Option<String> {
        if let Some(translation) = self.whole.get(english) {
            return Some(translation.clone());
        }
        self.holed.iter().find_map(|(pattern, translation)| {
            let found = pattern.captures(english)?;
            Some(fill(translation, |hole| {
                let filling = found.name(hole);
                filling.map_or_else(String::new, |filling| self.say(filling.as_str()))
            }))
        })
    }
}

/// The template with its holes filled; what fills them is not looked at again.
fn fill(template: &str, filling: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, (hole, after))) = rest
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        filled += before;
        filled += &filling(hole);
        rest = after;
    }
    filled + rest
}

/// None of a sentence without holes.
fn pattern(english: &str) -> Option<Regex> {
    let mut pattern = String::from("(?s)^");
    let mut rest = english;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        pattern += &regex_lite::escape(before);
        pattern += &format!("(?P<{name}>.+?)");
        rest = after;
    }
    if rest.len() == english.len() {
        return None;
    }
    pattern += &regex_lite::escape(rest);
    Regex::new(&(pattern + "$")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOG: &str = r#"sentences = [
        ["server", "服务器"],
        ["cannot rank: {part} of {limit}", "无法排名：达到 {limit} 的 {part}"],
        ["the {side} is busy", "{side}忙"],
    ]"#;

    #[test]
    fn sentences_with_holes() {
        let speech = Speech::read(CATALOG);
        assert_eq!(
            speech.say("cannot rank: 99 % of 5,000 requests/s"),
            "无法排名：达到 5,000 requests/s 的 99 %"
        );
        assert_eq!(speech.say("the server is busy"), "服务器忙");
        assert_eq!(
            speech.say("the server is busy; the {x} is busy"),
            "服务器忙；{x}忙"
        );
        for untranslated in ["the server is idle", "the server is busy; or not", ""] {
            assert_eq!(speech.say(untranslated), untranslated);
        }
        assert_eq!(Speech::default().say("server"), "server");
    }

    #[test]
    fn translations_have_the_holes_of_their_sentences() {
        let catalog: Catalog = toml::from_str(include_str!("zh.toml")).unwrap();
        let holes = |text: &str| {
            let holes = text.split('{').skip(1);
            let mut holes: Vec<String> = holes
                .map(|rest| rest.split('}').next().unwrap_or_default().to_owned())
                .collect();
            holes.sort();
            holes
        };
        for (english, chinese) in &catalog.sentences {
            assert_eq!(holes(english), holes(chinese), "{english}");
            assert!(!chinese.is_empty() && chinese != english, "{english}");
            let with_holes = !holes(english).is_empty();
            assert_eq!(pattern(english).is_some(), with_holes, "{english}");
        }
    }

    /// A word that no name has, but every English sentence.
    fn english(text: &str) -> bool {
        let unquoted: String = text.split('"').step_by(2).collect();
        let words = [
            "the", "of", "is", "are", "was", "were", "and", "not", "a", "each", "to", "cannot",
            "wrong",
        ];
        let mut found = unquoted.split(|c: char| !c.is_ascii_alphabetic() && c != '_');
        found.any(|word| words.contains(&word))
    }

    #[test]
    fn every_reason_of_the_gates_is_translated() {
        use crate::gates::*;
        use crate::result::*;
        let mut failed = ClientSample::default();
        let kinds = [
            Failure::Connect,
            Failure::Ports,
            Failure::Reset,
            Failure::Timeout,
            Failure::EarlyClose,
            Failure::WrongStatus,
            Failure::WrongBody,
            Failure::WrongLength,
            Failure::Malformed,
            Failure::ExtraBytes,
            Failure::TooEarly,
        ];
        for kind in kinds {
            failed.failures.insert(kind, 2);
            failed.examples.insert(kind, "x".into());
        }
        let unsent = ClientSample {
            unsent: 3,
            ..ClientSample::default()
        };
        let overflow = |own_drops| NetworkSample {
            listen_overflows: 2,
            own_drops,
            ..NetworkSample::default()
        };
        let machine = |open_files| Machine {
            open_files,
            local_ports: (1, 1000),
            ..Machine::default()
        };
        let budget = |server_cpus| Budget {
            server_cpus,
            client_cpus: vec![0],
        };
        let busy = limiter::Facts {
            server_busy: 0.2,
            client_busy: 0.5,
            client_wanted: 1.0,
            ..limiter::Facts::default()
        };
        let nginx = "timer_resolution 1s; worker_rlimit_nofile 9; events { worker_connections 9; } http { \
                     keepalive_requests 9; lua_code_cache off; }";
        let files = [
            ("nginx.conf", nginx),
            ("php-fpm.conf", "pm.max_children = 5"),
            ("Server.java", "setExecutor(null)"),
        ];
        let load = traps::Load {
            connections: 100,
            per_connection: 1000,
            delay_ms: 20.0,
        };
        let page = |bytes| bodies::by_bytes(Some(bytes), Some(10), "OK\n");
        let fits = |mean, percentiles: &[(f64, f64)]| {
            percentiles::judge(Some(1.0), Some(mean), percentiles, Some(10.0))
        };
        let verdicts = [
            page(190),
            page(140),
            page(500),
            page(1530),
            page(6120),
            page(6150),
            page(20),
            page(25),
            bodies::rivals(&[("go", "x"), ("lua", "y")]),
            verified::by_counts(Some(10), None, Some(3), None),
            verified::by_counts(Some(10), Some(3), None, None),
            verified::by_counts(Some(10), None, None, Some(3)),
            verified::by_rounds([&failed]),
            verified::by_rounds([&unsent]),
            verified::by_rounds([&ClientSample::default()]),
            delay::judge(20.0, Some(3.0), None, None),
            delay::judge(20.0, None, Some(3.0), None),
            delay::judge(20.0, None, None, Some(3.0)),
            ceiling::judge(Some(5000.0), Some(100), 20.0, None),
            ceiling::judge(Some(9000.0), Some(100), 20.0, None),
            little::judge(Some(100.0), Some(20.0), Some(100)),
            little::judge(Some(100.0), Some(20.0), Some(1)),
            limiter::judge(&busy),
            fits(5.0, &[(50.0, 9.0), (90.0, 3.0)]),
            fits(0.1, &[(50.0, 9.0)]),
            fits(9.9, &[(90.0, 2.0)]),
            connections::by_tool(Some("wrk"), Some(100), Some(8)),
            connections::by_counts(100, 99, 100, 100, true, 0),
            connections::by_counts(100, 100, 100, 99, true, 0),
            connections::by_counts(100, 100, 100, 100, true, 9),
            queues::before(&machine(100), 100, None),
            queues::before(&machine(10_000), 100, Some(10)),
            queues::before(&machine(10_000), 2000, None),
            queues::after([&overflow(None)]),
            queues::after([&overflow(Some(2))]),
            traps::judge(&traps::find(files, load)),
            budget::judge(&budget(Vec::new())),
            budget::judge(&budget(vec![0])),
            rounds::judge(&[1], 2),
            rounds::judge(&[1, 2, 3, 4, 5], 3),
            rounds::published(),
            complete::judge(&Machine::default(), &Contender::default(), &[]),
        ];
        let chinese = Lang::Zh.speech();
        for verdict in &verdicts {
            assert!(verdict.outcome >= Outcome::Warn, "{}", verdict.text);
            let (gate, text) = (verdict.gate, &verdict.text);
            let said = chinese.say(&format!("gate {gate}, {text}"));
            assert!(!english(&said), "{text}\n{said}");
            assert_ne!(chinese.say(&verdict.name), verdict.name);
        }
    }
}
