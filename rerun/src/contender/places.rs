//! `{placeholders}` in a manifest's commands and in the files that are copied for a start.

use std::collections::BTreeMap;
use std::fmt::Display;

use anyhow::{Result, bail};

/// Known from the beginning. `{nginx}`, `{modules}` and `{modules-dir}` are what `make build` left behind.
pub const ALWAYS: [&str; 5] = ["dir", "built", "nginx", "modules", "modules-dir"];

/// Known for a start.
pub const RUNNING: [&str; 5] = ["port", "cpus", "work", "user", "group"];

/// What each placeholder stands for.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, String>);

impl Places {
    pub fn set(&mut self, name: &str, value: impl Display) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The word with its placeholders filled in. One that stands for nothing on this machine is an error.
    pub fn fill(&self, word: &str) -> Result<String> {
        if let Some(name) = names(word).find(|name| !self.has(name)) {
            bail!("this machine has no {name}");
        }
        Ok(self.fill_known(word))
    }

    /// Leaves alone what it does not know: a configuration has braces of its own.
    pub fn fill_known(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            filled.push_str(&rest[..start]);
            rest = &rest[start..];
            let value = placeholder(rest).and_then(|name| Some((name, self.0.get(name)?)));
            match value {
                Some((name, value)) => {
                    filled.push_str(value);
                    rest = &rest[name.len() + 2..];
                }
                None => {
                    filled.push('{');
                    rest = &rest[1..];
                }
            }
        }
        filled + rest
    }

    /// The text with this machine's own folders turned into placeholders again: it means something elsewhere too.
    pub fn without_folders(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in ["work", "built", "dir", "modules-dir"] {
            if let Some(folder) = self.0.get(name) {
                text = text.replace(folder, &format!("{{{name}}}"));
            }
        }
        text
    }

    pub fn fill_all(&self, words: &[String]) -> Result<Vec<String>> {
        words.iter().map(|word| self.fill(word)).collect()
    }
}

/// The names in braces.
pub fn names(word: &str) -> impl Iterator<Item = &str> {
    word.match_indices('{')
        .filter_map(|(start, _)| placeholder(&word[start..]))
}

/// The name, if the text begins with `{name}`.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split('}').next()?;
    let ended = text.as_bytes().get(name.len() + 1) == Some(&b'}');
    let named = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    (ended && named).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in() {
        let mut places = Places::default();
        places.set("port", 8080);
        assert_eq!(places.fill("127.0.0.1:{port}").unwrap(), "127.0.0.1:8080");
        assert_eq!(
            places.fill("{dir}").unwrap_err().to_string(),
            "this machine has no dir"
        );
    }

    #[test]
    fn folders_become_placeholders_again() {
        let mut places = Places::default();
        places.set("built", "/home/me/target/rerun/x");
        places.set("dir", "/home/me/rerun/contenders/x");
        places.set("port", 8080);
        let words = "/home/me/target/rerun/x/server /home/me/rerun/contenders/x/conf 8080";
        assert_eq!(
            places.without_folders(words),
            "{built}/server {dir}/conf 8080"
        );
    }

    #[test]
    fn other_braces_are_left_alone() {
        let mut places = Places::default();
        places.set("port", 8080);
        let conf = "http { listen {port}; { ngx.say(\"{}\") {x} {Y} }";
        assert_eq!(
            places.fill_known(conf),
            "http { listen 8080; { ngx.say(\"{}\") {x} {Y} }"
        );
        assert_eq!(places.fill("{ {} {A} {").unwrap(), "{ {} {A} {");
    }
}
