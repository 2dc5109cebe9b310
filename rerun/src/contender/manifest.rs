//! `contender.toml`: what one contender is, needs, and answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::places;

/// The wait of every `delay` endpoint.
pub const DELAY: Duration = Duration::from_millis(20);

/// A program and its arguments, with `{placeholders}`.
pub type Words = Vec<String>;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// What a reader calls it.
    pub title: String,
    /// Article and the row of it that this stands for.
    #[serde(default)]
    pub stands_for: BTreeMap<String, String>,
    /// What a reader must know to judge it.
    #[serde(default)]
    pub notes: String,
    /// It keeps connections for further requests.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// Programs that it cannot do without: a name, and where to look for it, the first that is there. Words without a
    /// slash are looked up in PATH. The name is a placeholder for what was found.
    #[serde(default)]
    pub programs: BTreeMap<String, OneOrMore>,
    /// What shows its version, by what it is the version of.
    #[serde(default)]
    pub versions: BTreeMap<String, Words>,
    /// Distribution (`ID` of /etc/os-release), and its packages by the program that they bring: where that is here
    /// already, however it came, they are not needed.
    #[serde(default)]
    pub packages: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    #[serde(default)]
    pub needs: Needs,
    #[serde(default)]
    pub install: Commands,
    #[serde(default)]
    pub build: Commands,
    pub start: Start,
    pub hello: Endpoint,
    pub delay: Option<Endpoint>,
    #[serde(default)]
    pub limits: Limits,
}

/// What it takes beyond programs and packages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Needs {
    /// In words, for a machine that does not have it.
    #[serde(default)]
    pub what: String,
    /// Commands that succeed where it is there.
    #[serde(default)]
    pub check: Vec<Words>,
}

/// Commands, one after the other.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Commands {
    pub run: Vec<Words>,
}

/// How it is started.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Start {
    /// Files of the folder that are copied into `{work}` with their placeholders filled in.
    #[serde(default)]
    pub files: Vec<Spanned<String>>,
    /// Commands that all run at the same time, in the foreground.
    pub run: Vec<Words>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How long it may take until it answers for the first time.
    #[serde(default = "twenty")]
    pub seconds: u32,
}

/// One address and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Endpoint {
    pub path: Spanned<String>,
    /// The exact body, where it is not the usual one.
    pub body: Option<String>,
    /// The media type, where it is not the usual one.
    #[serde(rename = "type")]
    pub media_type: Option<String>,
}

/// What limits it by its nature.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// So many requests can wait at the same time.
    pub at_once: Option<u32>,
    /// In words.
    pub by: Option<String>,
}

fn twenty() -> u32 {
    20
}

fn yes() -> bool {
    true
}

/// `"go"` or `["kotlinc", "{built}/kotlinc"]`.
#[derive(Clone, Debug)]
pub struct OneOrMore(Vec<String>);

impl std::ops::Deref for OneOrMore {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a program's name or a list of such names")]
        enum Either {
            One(String),
            More(Vec<String>),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::One(word) => vec![word],
            Either::More(words) => words,
        }))
    }
}

impl Manifest {
    /// Reads `contender.toml` of the folder. Errors name the file, the line, and what was expected there.
    pub fn load(dir: &Path) -> Result<Self> {
        let file = dir.join("contender.toml");
        let text = fs::read_to_string(&file).with_context(|| {
            format!("{}: a contender is a folder with this file", file.display())
        })?;
        Self::parse(&text, dir).map_err(|error| anyhow!("{}:{error}", file.display()))
    }

    /// The error begins with the number of the line.
    pub fn parse(text: &str, dir: &Path) -> Result<Self> {
        let manifest: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line(text, span.start));
            anyhow!("{line}: {}", error.message())
        })?;
        manifest.check(text, dir)?;
        Ok(manifest)
    }

    fn check(&self, text: &str, dir: &Path) -> Result<()> {
        for endpoint in [Some(&self.hello), self.delay.as_ref()]
            .into_iter()
            .flatten()
        {
            let path = endpoint.path.get_ref();
            if !path.starts_with('/')
                || path.contains(|c: char| c.is_whitespace() || c.is_control())
            {
                let line = line(text, endpoint.path.span().start);
                bail!(
                    "{line}: path {path:?}: expected a path that starts with \"/\", without spaces"
                );
            }
        }
        for name in &self.start.files {
            if !dir.join(name.get_ref()).is_file() {
                let line = line(text, name.span().start);
                bail!(
                    "{line}: file {:?}: expected a file in this folder",
                    name.get_ref()
                );
            }
        }
        let commands = [
            ("needs.check", &self.needs.check),
            ("install.run", &self.install.run),
            ("build.run", &self.build.run),
            ("start.run", &self.start.run),
        ];
        for (key, commands) in commands {
            if commands.iter().any(Vec::is_empty) {
                let line = line_of_key(text, key);
                bail!("{line}: {key}: expected a program and its arguments in each command");
            }
        }
        if self.start.run.is_empty() {
            let line = line_of_key(text, "start.run");
            bail!("{line}: start.run: expected at least one command");
        }
        if self.limits.at_once == Some(0) {
            let line = line_of_key(text, "limits.at-once");
            bail!("{line}: limits.at-once: expected 1 or more");
        }
        self.check_placeholders(text)
    }

    fn check_placeholders(&self, text: &str) -> Result<()> {
        let before: Vec<&str> = places::ALWAYS
            .iter()
            .copied()
            .chain(self.programs.keys().map(String::as_str))
            .collect();
        let running: Vec<&str> = before.iter().copied().chain(places::RUNNING).collect();
        let words = |commands: &[Words]| commands.iter().flatten().cloned().collect::<Vec<_>>();
        let programs = self
            .programs
            .values()
            .flat_map(|names| names.iter().cloned());
        let cases = [
            ("programs", programs.collect(), &before),
            (
                "versions",
                self.versions.values().flatten().cloned().collect(),
                &before,
            ),
            ("needs.check", words(&self.needs.check), &before),
            ("install.run", words(&self.install.run), &before),
            ("build.run", words(&self.build.run), &before),
            ("start.run", words(&self.start.run), &running),
            (
                "start.env",
                self.start.env.values().cloned().collect(),
                &running,
            ),
        ];
        for (key, words, known) in cases {
            for name in words.iter().flat_map(|word| places::names(word)) {
                if !known.contains(&name) {
                    // The line that holds the word, or else the key.
                    let written = format!("{{{name}}}");
                    let line = text
                        .lines()
                        .position(|line| line.contains(&written))
                        .map_or_else(|| line_of_key(text, key), |index| index + 1);
                    bail!(
                        "{line}: {key}: unknown {written}; here there are: {}",
                        list(known)
                    );
                }
            }
        }
        Ok(())
    }

    /// `article: row; article: row`.
    pub fn stands_for(&self) -> String {
        let rows = self.stands_for.iter();
        let rows: Vec<String> = rows
            .map(|(article, row)| format!("{article}: {row}"))
            .collect();
        rows.join("; ")
    }

    /// What `hello` must answer: the body and the media type.
    pub fn hello(&self) -> (&str, &str) {
        self.hello.answer("<h1>HelloWorld</h1>\n", "text/html")
    }

    /// What `delay` must answer, where it has such an endpoint.
    pub fn delay(&self) -> Option<(&str, &str)> {
        Some(self.delay.as_ref()?.answer("OK\n", "text/plain"))
    }
}

impl Endpoint {
    fn answer<'a>(&'a self, body: &'a str, media_type: &'a str) -> (&'a str, &'a str) {
        (
            self.body.as_deref().unwrap_or(body),
            self.media_type.as_deref().unwrap_or(media_type),
        )
    }
}

fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
    names.join(" ")
}

/// The number of the line that holds this byte.
fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

/// The line of `table.key`, or of its table, or the first.
fn line_of_key(text: &str, key: &str) -> usize {
    let (table, name) = key.split_once('.').unwrap_or((key, ""));
    let header = format!("[{table}]");
    let Some(start) = text.lines().position(|line| line.trim() == header) else {
        return 1;
    };
    let is_key = |line: &str| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines()
        .enumerate()
        .skip(start + 1)
        .take_while(|(_, line)| !line.starts_with('['))
        .find(|(_, line)| !name.is_empty() && is_key(line.trim()))
        .map_or(start, |(index, _)| index)
        + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        "title = \"x\"\n[start]\nrun = [[\"x\", \"{port}\"]]\n[hello]\npath = \"/\"\n";

    fn error(text: &str) -> String {
        Manifest::parse(text, Path::new("/nowhere"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_smallest_manifest() {
        let manifest = Manifest::parse(SMALL, Path::new("/nowhere")).unwrap();
        assert_eq!(manifest.title, "x");
        assert_eq!(manifest.hello(), ("<h1>HelloWorld</h1>\n", "text/html"));
        assert_eq!(manifest.delay(), None);
        assert!(manifest.keep_alive);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let missing = error("title = \"x\"\n");
        assert!(missing.contains("missing field `start`"), "{missing}");

        let typo = error(&SMALL.replace("title", "titel"));
        assert!(
            typo.starts_with("1: unknown field `titel`, expected one of `title`"),
            "{typo}"
        );

        let kind = error(&SMALL.replace("\"/\"", "7"));
        assert!(kind.starts_with("5: invalid type: integer"), "{kind}");

        let path = error(&SMALL.replace("\"/\"", "\"hello\""));
        assert_eq!(
            path,
            "5: path \"hello\": expected a path that starts with \"/\", without spaces"
        );

        let syntax = error("title = \"x\"\nstart =\n");
        assert!(syntax.starts_with("2: "), "{syntax}");

        let programs = error(&format!("{SMALL}[programs]\ngo = 7\n"));
        assert_eq!(programs, "7: a program's name or a list of such names");
    }

    #[test]
    fn unknown_placeholders_are_errors() {
        assert_eq!(
            error(&SMALL.replace("{port}", "{prot}")).split(';').next(),
            Some("3: start.run: unknown {prot}")
        );
        // The port is not known before it is started.
        let build = format!("{SMALL}[build]\nrun = [[\"cc\", \"{{port}}\"]]\n");
        assert!(error(&build).contains("build.run: unknown {port}"));
    }

    #[test]
    fn commands_and_files_must_be_there() {
        assert!(error(&SMALL.replace("[\"x\", \"{port}\"]", "[]")).starts_with("3: start.run"));
        assert!(error(&SMALL.replace("[[\"x\", \"{port}\"]]", "[]")).starts_with("3: start.run"));
        let files = SMALL.replace("[start]", "[start]\nfiles = [\"nginx.conf\"]");
        assert_eq!(
            error(&files),
            "3: file \"nginx.conf\": expected a file in this folder"
        );
        let limits = format!("{SMALL}[limits]\nat-once = 0\n");
        assert!(error(&limits).starts_with("7: limits.at-once"));
    }
}
