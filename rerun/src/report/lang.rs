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

    fn find(&self, english: &str) -> Option<String> {
        if let Some(translation) = self.whole.get(english) {
            return Some(translation.clone());
        }
        // Some sentences are lists of others.
        let list = english
            .split_once("; ")
            .and_then(|(first, rest)| Some(format!("{}；{}", self.find(first)?, self.find(rest)?)));
        if list.is_some() {
            return list;
        }
        for (pattern, translation) in &self.holed {
            let Some(found) = pattern.captures(english) else {
                continue;
            };
            return Some(fill(translation, |hole| {
                let filling = found.name(hole);
                filling.map_or_else(String::new, |filling| self.say(filling.as_str()))
            }));
        }
        None
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
}
