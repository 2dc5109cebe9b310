//! An article as data.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::gates::{bodies, published};
use crate::result::{Figures, Published, PublishedRow};
use crate::rival::Asked;
use crate::tools::Tool;

/// The articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Name {
    /// Go net/http, OpenResty, aiohttp and Java, 20 ms each
    GoVsOpenresty,
    /// A Lua block and php-fpm, hello
    LuaVsPhp,
    /// Web servers in many languages
    Concurrency,
}

impl Name {
    pub fn text(self) -> &'static str {
        match self {
            Self::GoVsOpenresty => "go-vs-openresty",
            Self::LuaVsPhp => "lua-vs-php",
            Self::Concurrency => "concurrency",
        }
    }

    fn data(self) -> &'static str {
        match self {
            Self::GoVsOpenresty => include_str!("../../articles/go-vs-openresty.toml"),
            Self::LuaVsPhp => include_str!("../../articles/lua-vs-php.toml"),
            Self::Concurrency => include_str!("../../articles/concurrency.toml"),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Article {
    pub title: String,
    source: String,
    meant: String,
    /// The body that was meant, where all were to send the same.
    pub body: Option<String>,
    pub delay_ms: f64,
    /// Contenders that are measured beside those of the rows.
    pub extra: Vec<String>,
    pub rows: Vec<Row>,
    /// What is measured here.
    pub tables: Vec<Table>,
    /// The author's own commands.
    pub replays: Vec<Replay>,
}

/// One published row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    label: String,
    pub contender: String,
    command: Option<String>,
    figures: Figures,
    /// The body that this server sends, where the article gives each its own.
    answers: Option<String>,
    /// Where it differs from the article's.
    delay_ms: Option<f64>,
    at_once: Option<u32>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    pub title: String,
    pub task: Asked,
    pub connections: u32,
    pub keep_alive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Replay {
    pub tool: Tool,
    /// `{url}`, `{requests}` and `{seconds}` are filled in.
    pub arguments: Vec<String>,
    pub requests: Option<u64>,
    pub quick_requests: Option<u64>,
    pub seconds: Option<u64>,
    pub quick_seconds: Option<u64>,
    /// The table whose rows it belongs to.
    pub table: usize,
    /// The address, where it is another than the one that was meant.
    pub path: Option<String>,
}

impl Article {
    pub fn load(name: Name) -> Result<Self> {
        toml::from_str(name.data()).with_context(|| format!("rerun/articles/{}.toml", name.text()))
    }

    /// The rows as published, each with what the gates find.
    pub fn published(&self) -> Published {
        let answers = self.rows.iter();
        let answers: Vec<(&str, &str)> = answers
            .filter_map(|row| Some((row.label.as_str(), row.answers.as_deref()?)))
            .collect();
        let rows = self.rows.iter().map(|row| {
            let files = row.files.iter();
            let files: Vec<(&str, &str)> = files
                .map(|(name, text)| (name.as_str(), text.as_str()))
                .collect();
            let meant = published::Meant {
                body: self.body.as_deref(),
                delay_ms: row.delay_ms.unwrap_or(self.delay_ms),
                at_once: row.at_once,
                files: &files,
            };
            let mut verdicts = published::judge(&row.figures, &meant);
            if row.answers.is_some() {
                verdicts[0] = bodies::rivals(&answers);
            }
            PublishedRow {
                label: row.label.clone(),
                contender: row.contender.clone(),
                command: row.command.clone(),
                figures: row.figures.clone(),
                verdicts,
            }
        });
        Published {
            title: self.title.clone(),
            source: self.source.clone(),
            meant: self.meant.clone(),
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Contenders;
    use crate::gates::{gravest, reason};
    use crate::result::Outcome;

    const ALL: [Name; 3] = [Name::GoVsOpenresty, Name::LuaVsPhp, Name::Concurrency];

    #[test]
    fn every_row_has_its_contender() {
        let contenders = Contenders::load().unwrap();
        for name in ALL {
            let article = Article::load(name).unwrap();
            let rows = article.rows.iter().map(|row| &row.contender);
            for name in rows.chain(&article.extra) {
                contenders.get(name).unwrap();
            }
            let tables = article.tables.len();
            assert!(article.replays.iter().all(|replay| replay.table < tables));
        }
    }

    #[test]
    fn no_published_row_can_be_vouched_for() {
        for name in ALL {
            for row in Article::load(name).unwrap().published().rows {
                let outcome = gravest(&row.verdicts);
                assert!(outcome >= Outcome::NoRate, "{}", row.label);
            }
        }
    }

    #[test]
    fn the_first_article_never_waited() {
        let published = Article::load(Name::GoVsOpenresty).unwrap().published();
        assert_eq!(published.rows.len(), 9);
        for row in published.rows {
            let reason = reason(&row.verdicts).unwrap();
            assert_eq!((reason.gate, reason.outcome), (1, Outcome::Refuse));
        }
    }

    #[test]
    fn the_second_article_compares_two_bodies() {
        let published = Article::load(Name::LuaVsPhp).unwrap().published();
        let lua = &published.rows[0];
        assert!(reason(&lua.verdicts).unwrap().text.contains("(20 bytes)"));
        let traps = lua.verdicts.iter().find(|verdict| verdict.gate == 10);
        assert!(traps.unwrap().text.contains("access_log is on"));
    }

    #[test]
    fn the_third_article_counts_failures() {
        let published = Article::load(Name::Concurrency).unwrap().published();
        assert_eq!(published.rows.len(), 14 * 3 + 11);
        let of = |label: &str| {
            published
                .rows
                .iter()
                .find(|row| row.label == label)
                .unwrap()
        };
        let text = |label: &str| reason(&of(label).verdicts).unwrap().text.clone();
        assert!(text("Rust tokio: drill, 2000").starts_with("1,000,000 of 1,000,000 failed"));
        assert!(text("Go http: ab, one in ten sleeps 2 s").starts_with("cannot rank: 100 %"));
        let wrk = &of("Undertow: wrk").verdicts;
        assert!(
            wrk.iter()
                .any(|verdict| verdict.text.contains("opens 496 connections"))
        );
    }
}
