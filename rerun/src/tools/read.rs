//! The runs in a paste: which generator printed which lines, and what they say.

use std::collections::VecDeque;

use super::Tool;
use super::cmdline::{self, Command};
use super::lines::{Line, Weight};
use super::paste;
use super::printed::Printed;

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    pub tool: Tool,
    /// The command line above it.
    pub command: Option<Command>,
    /// Numbers of its lines in the paste.
    pub lines: (usize, usize),
    pub printed: Printed,
    pub unread: Vec<Unread>,
}

/// A line that looks like a generator's, and cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unread {
    pub line: usize,
    pub text: String,
    pub tool: Tool,
    /// As the generator prints such a line.
    pub expected: &'static str,
}

impl Unread {
    /// A figure less than nothing: a counter that has overflowed.
    pub fn is_negative(&self) -> bool {
        let rest = self
            .text
            .split_once(':')
            .map_or("", |(_, rest)| rest.trim_start());
        let digits = rest.strip_prefix('-');
        digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Paste {
    pub runs: Vec<Run>,
    /// Lines outside of any run.
    pub unread: Vec<Unread>,
}

/// Rows of one kind that a generator prints are fewer. Each is read into a copy of those before it.
const LONGEST_TABLE: usize = 1000;

/// A generator that may have printed the run, and how far it is.
struct Candidate {
    tool: Tool,
    /// The line of its table that was seen last, and how often in a row.
    at: Option<usize>,
    times: usize,
    printed: Printed,
    unread: Vec<Unread>,
}

enum Fit {
    Read(usize, Box<Printed>),
    Noise,
    Unread(&'static Line),
    No,
}

impl Candidate {
    fn new(tool: Tool) -> Self {
        Self {
            tool,
            at: None,
            times: 0,
            printed: Printed::default(),
            unread: Vec::new(),
        }
    }

    /// A line that comes no earlier in the output than the last one.
    fn fit(&self, text: &str) -> Fit {
        let mut unread = None;
        for (index, line) in self.tool.lines().iter().enumerate() {
            let is_behind = self.at.is_none_or(|at| {
                index > at || (index == at && line.repeats && self.times < LONGEST_TABLE)
            });
            let Some(rest) = line.rest(text) else {
                continue;
            };
            if line.weight == Weight::Noise {
                return Fit::Noise;
            }
            if !is_behind {
                continue;
            }
            let mut printed = self.printed.clone();
            if (line.read)(&mut printed, rest).is_some() {
                return Fit::Read(index, Box::new(printed));
            }
            unread = unread.or(Some(line));
        }
        unread.map_or(Fit::No, Fit::Unread)
    }

    fn take(&mut self, index: usize, printed: Printed) {
        self.times = if self.at == Some(index) {
            self.times + 1
        } else {
            1
        };
        self.at = Some(index);
        self.printed = printed;
    }
}

/// What one generator printed, of which nothing else is known.
pub fn one(tool: Tool, text: &str) -> Printed {
    let mut candidate = Candidate::new(tool);
    for (_, line) in paste::lines(text) {
        if let Fit::Read(index, printed) = candidate.fit(&line) {
            candidate.take(index, *printed);
        }
    }
    candidate.printed
}

/// Everything in a paste.
pub fn all(text: &str) -> Paste {
    let mut reader = Reader::default();
    let boundaries = text.split('\n').enumerate();
    let boundaries = boundaries.filter(|(_, line)| is_boundary(line));
    reader.boundaries = boundaries.map(|(at, _)| at + 1).collect();
    for (number, line) in paste::lines(text) {
        reader.line(number, &line);
    }
    reader.close();
    reader.paste
}

/// A fence or a heading of Markdown: no run goes on behind it.
fn is_boundary(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ']);
    let hashes = line.len() - line.trim_start_matches('#').len();
    line.starts_with("```")
        || line.starts_with("~~~")
        || ((1..=6).contains(&hashes) && line[hashes..].starts_with(' '))
}

#[derive(Default)]
struct Reader {
    paste: Paste,
    /// Lines at which a run ends, in order.
    boundaries: VecDeque<usize>,
    candidates: Vec<Candidate>,
    lines: (usize, usize),
    /// The last command line, and the run's own.
    next: Option<Command>,
    command: Option<Command>,
}

impl Reader {
    fn line(&mut self, number: usize, text: &str) {
        while self.boundaries.front().is_some_and(|at| *at <= number) {
            self.boundaries.pop_front();
            self.close();
        }
        if text.is_empty() {
            return;
        }
        if let Some(command) = cmdline::find(text) {
            self.close();
            self.next = Some(command);
            return;
        }
        if self.goes_on(number, text) || self.begins(number, text) {
            return;
        }
        self.unread(number, text);
    }

    fn goes_on(&mut self, number: usize, text: &str) -> bool {
        let candidates = self.candidates.iter();
        let fits: Vec<Fit> = candidates.map(|candidate| candidate.fit(text)).collect();
        if !fits
            .iter()
            .any(|fit| matches!(fit, Fit::Read(..) | Fit::Noise))
        {
            return false;
        }
        let mut fits = fits.into_iter();
        self.candidates.retain_mut(|candidate| match fits.next() {
            Some(Fit::Read(index, printed)) => {
                candidate.take(index, *printed);
                true
            }
            Some(Fit::Noise) => true,
            _ => false,
        });
        self.lines.1 = number;
        true
    }

    fn begins(&mut self, number: usize, text: &str) -> bool {
        let mut candidates = Vec::new();
        for tool in Tool::ALL {
            let mut candidate = Candidate::new(tool);
            if let Fit::Read(index, printed) = candidate.fit(text)
                && tool.lines()[index].weight == Weight::Strong
            {
                candidate.take(index, *printed);
                candidates.push(candidate);
            }
        }
        if candidates.is_empty() {
            return false;
        }
        self.close();
        self.command = self.next.take();
        self.candidates = candidates;
        self.lines = (number, number);
        true
    }

    /// Keeps a line that has a generator's mark and not its figures. What looks like prose is prose.
    fn unread(&mut self, number: usize, text: &str) {
        let keep = |tool: Tool, line: &Line| Unread {
            line: number,
            text: text.to_owned(),
            tool,
            expected: line.example,
        };
        let few_words = text.split_whitespace().count() <= 3;
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        let mut inside = false;
        for candidate in &mut self.candidates {
            if let Fit::Unread(line) = candidate.fit(text)
                && (few_words || (line.weight == Weight::Strong && has_digit))
            {
                candidate.unread.push(keep(candidate.tool, line));
                inside = true;
            }
        }
        if inside || !has_digit {
            return;
        }
        let found = Tool::ALL
            .into_iter()
            .find_map(|tool| match Candidate::new(tool).fit(text) {
                Fit::Unread(line) if line.weight == Weight::Strong => Some(keep(tool, line)),
                _ => None,
            });
        self.paste.unread.extend(found);
    }

    fn close(&mut self) {
        let command = self.command.take();
        let candidates = std::mem::take(&mut self.candidates);
        // wrk before wrk2, unless the command line tells.
        let told = command.as_ref().map(|command| command.tool);
        let best = candidates
            .iter()
            .position(|candidate| Some(candidate.tool) == told)
            .unwrap_or(0);
        let Some(candidate) = candidates.into_iter().nth(best) else {
            return;
        };
        let Candidate {
            tool,
            printed,
            unread,
            ..
        } = candidate;
        let says_nothing = printed.rate.is_none()
            && printed.requests.is_none()
            && printed.seconds.is_none()
            && printed.mean.is_none()
            && printed.percentiles.is_empty()
            && printed.gave_up.is_none();
        if says_nothing {
            self.paste.unread.extend(unread);
            return;
        }
        let fits = |command: &Command| {
            command.tool == tool
                && (command.connections.is_none()
                    || printed.connections.is_none()
                    || command.connections == printed.connections)
        };
        self.paste.runs.push(Run {
            tool,
            command: command.filter(fits),
            lines: self.lines,
            printed,
            unread,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "  2 threads and 10 connections\n";
    const OTHER: &str = "Requests/sec:  5.00\n";

    #[test]
    fn no_run_goes_on_behind_a_fence_or_a_heading() {
        let runs = |between: &str| all(&format!("{OTHER}{ONE}{between}{OTHER}")).runs.len();
        assert_eq!(runs(""), 2);
        let cut = |between: &str| {
            let text = format!("100 requests in 10.00s, 1.00MB read\n{between}{OTHER}");
            all(&text).runs.len()
        };
        assert_eq!(cut("and then\n"), 1);
        assert_eq!(cut("```\n"), 2);
        assert_eq!(cut("## Go\n"), 2);
        assert_eq!(cut("wrk -t2 -c10 http://localhost/\n"), 2);
    }

    #[test]
    fn a_table_ends() {
        let rows = "  50%      1\n".repeat(2 * LONGEST_TABLE);
        let printed = one(Tool::Ab, &format!("Complete requests:      5\n{rows}"));
        assert_eq!(printed.percentiles.len(), LONGEST_TABLE);
    }

    #[test]
    fn a_command_line_is_of_the_run_below_it() {
        let text = format!(
            "$ wrk -R50 -c10 http://localhost/\n{OTHER}\nwrk -t1 -c9 http://localhost/\n{OTHER}{OTHER}"
        );
        let runs = all(&text).runs;
        let told: Vec<(Tool, Option<u32>)> = runs
            .iter()
            .map(|run| {
                (
                    run.tool,
                    run.command.as_ref().and_then(|command| command.connections),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (Tool::Wrk2, Some(10)),
                (Tool::Wrk, Some(9)),
                (Tool::Wrk, None)
            ]
        );
    }
}
