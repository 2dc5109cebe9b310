//! The author's own command, run against every contender of a table.

use std::time::Duration;

use anyhow::Result;

use super::data::{Article, Replay as Spec};
use crate::gates::published;
use crate::progress::Progress;
use crate::result::Table;
use crate::rival::Rival;
use crate::stop;

pub struct Replayed<'a> {
    pub article: &'a Article,
    pub spec: &'a Spec,
    pub quick: bool,
    pub cpus: &'a [usize],
}

/// A run of another generator is ended after this, in full and quick.
const LIMIT: Duration = Duration::from_secs(600);
const QUICK_LIMIT: Duration = Duration::from_secs(30);
/// A server that answers one at a time is asked no more than this takes it, seconds.
const SERIAL: f64 = 6.0;

impl Replayed<'_> {
    /// Adds what the generator printed to each row that was measured.
    pub fn run(&self, table: &mut Table, rivals: &mut [Rival], progress: &Progress) -> Result<()> {
        let tool = self.spec.tool;
        if !tool.is_here() {
            let note = format!("{} is not installed: its runs are left out", tool.name());
            if !table.notes.contains(&note) {
                table.notes.push(note);
            }
            return Ok(());
        }
        let task = self.article.tables[self.spec.table].task;
        for row in &mut table.rows {
            let Some(rival) = rivals.iter_mut().find(|rival| rival.name == row.contender) else {
                continue;
            };
            let (Ok(started), Some((path, _))) = (&rival.state, rival.endpoint(task)) else {
                continue;
            };
            progress.say(&format!(
                "{} as the author ran it: {}",
                tool.name(),
                rival.name
            ));
            let path = self.spec.path.as_ref().unwrap_or(&path);
            let url = format!("http://{}{path}", started.address);
            let arguments = self.arguments(rival.about.at_once, table.task.delay_ms);
            let limit = if self.quick { QUICK_LIMIT } else { LIMIT };
            match tool.run(&arguments, &url, self.cpus, limit) {
                Ok(mut replay) => {
                    let files = rival.about.files.iter();
                    let files: Vec<(&str, &str)> = files
                        .map(|(name, text)| (name.as_str(), text.as_str()))
                        .collect();
                    let meant = published::Meant {
                        body: Some(&table.task.body),
                        delay_ms: table.task.delay_ms,
                        at_once: rival.about.at_once,
                        files: &files,
                    };
                    replay.verdicts = published::judge(&replay.figures, &meant);
                    row.replays.push(replay);
                }
                Err(error) => {
                    stop::check()?;
                    table.notes.push(format!("{}: {error:#}", rival.name));
                }
            }
            rival.look();
        }
        Ok(())
    }

    fn arguments(&self, at_once: Option<u32>, delay_ms: f64) -> Vec<String> {
        let spec = self.spec;
        let quick = |full: Option<u64>, quick: Option<u64>| match self.quick {
            true => quick.or(full),
            false => full,
        };
        let mut requests = quick(spec.requests, spec.quick_requests).unwrap_or(1000);
        if let (Some(at_once), true) = (at_once, delay_ms > 0.0) {
            let most = f64::from(at_once) / delay_ms * 1e3 * SERIAL;
            requests = requests.min(most as u64);
        }
        let seconds = quick(spec.seconds, spec.quick_seconds).unwrap_or(1);
        let fill = |word: &String| {
            word.replace("{requests}", &requests.to_string())
                .replace("{seconds}", &seconds.to_string())
        };
        spec.arguments.iter().map(fill).collect()
    }
}
