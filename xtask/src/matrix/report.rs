//! What came out: kept as data, and shown in a page of all rows and in the READMEs' tables of versions.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::trial::{Counts, Outcome, Trial};
use crate::project;

const DATA: &str = "docs/matrix.json";
const PAGE: &str = "docs/matrix.md";

/// A README, with the first line of its table.
struct Readme {
    file: &'static str,
    head: &'static str,
}

const READMES: [Readme; 2] = [
    Readme {
        file: "README.md",
        head: "| nginx | from | configurations that pass | static ones of them | blocks of `t/`: passed | failed | skipped |",
    },
    Readme {
        file: "README.zh-CN.md",
        head: "| nginx | 来自 | 通过的配置 | 其中静态的 | `t/` 的测试块：通过 | 失败 | 跳过 |",
    },
];

/// Between these two lines, the README is the command's.
const BEGIN: &str = "<!-- written by make matrix -->";
const END: &str = "<!-- end of what make matrix writes -->";

/// The rows of one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    rows: Vec<Trial>,
}

impl Report {
    pub fn add(&mut self, row: Trial) {
        self.rows.push(row);
    }

    pub fn all_passed(&self) -> bool {
        self.rows.iter().all(Trial::passed)
    }

    /// Keeps the data, and writes the page and the READMEs' tables of it.
    pub fn publish(&self) -> Result<()> {
        let data = serde_json::to_string_pretty(self)? + "\n";
        write(DATA, &data)?;
        write(PAGE, &self.page())?;
        for readme in READMES {
            let text = read(readme.file)?;
            let text = with_table(&text, &self.versions(readme.head));
            write(readme.file, &text.with_context(|| no_place(readme.file))?)?;
        }
        Ok(())
    }

    /// All rows.
    pub fn page(&self) -> String {
        let mut page = String::from(
            "# The module in every nginx\n\n`make matrix` wrote this page; its data is in [matrix.json](matrix.json). \
             \"bare\" is nginx as `configure` makes it by default, less PCRE, zlib, the rewrite module and the cache; \
             the others have most of nginx's modules. A block of `t/` is skipped where it uses a directive of a module that this nginx does not have.\n\n\
             | nginx | from | linked by | configured | `t/`: passed | failed | skipped | seconds |\n\
             | --- | --- | --- | --- | --: | --: | --: | --: |\n",
        );
        for row in &self.rows {
            let outcome = match row.outcome {
                Outcome::DoesNotBuild => "does not build | | |".into(),
                Outcome::DoesNotLoad => "does not load | | |".into(),
                Outcome::Tested(counts) => cells(counts),
            };
            page += &format!(
                "| {} | {} | `{}` | {} | {outcome} {} |\n",
                row.nginx, row.origin, row.linked, row.configured, row.seconds
            );
        }
        page
    }

    /// A line for each nginx.
    fn versions(&self, head: &str) -> String {
        let mut table = format!("{head}\n| --- | --- | --: | --: | --: | --: | --: |\n");
        let of = |row: &Trial| (row.nginx.clone(), row.origin.clone());
        for rows in self.rows.chunk_by(|one, other| of(one) == of(other)) {
            let tested = rows.iter().filter_map(|row| match row.outcome {
                Outcome::Tested(counts) => Some(counts),
                _ => None,
            });
            let counts = tested.fold(Counts::default(), |sum, counts| Counts {
                passed: sum.passed + counts.passed,
                failed: sum.failed + counts.failed,
                skipped: sum.skipped + counts.skipped,
            });
            table += &format!(
                "| {} | {} | {} | {} | {}\n",
                rows[0].nginx,
                rows[0].origin,
                of_all(rows, |_| true),
                of_all(rows, Trial::is_static),
                cells(counts)
            );
        }
        table
    }
}

/// How many of those rows passed: `6/6`.
fn of_all(rows: &[Trial], is_meant: impl Fn(&Trial) -> bool) -> String {
    let meant: Vec<_> = rows.iter().filter(|row| is_meant(row)).collect();
    let passed = meant.iter().filter(|row| row.passed()).count();
    format!("{passed}/{}", meant.len())
}

fn cells(counts: Counts) -> String {
    format!(
        "{} | {} | {} |",
        counts.passed, counts.failed, counts.skipped
    )
}

/// The README with this table where its table is.
fn with_table(readme: &str, table: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

fn no_place(file: &str) -> String {
    format!("{file} has no lines {BEGIN} and {END}")
}

fn path(file: &str) -> PathBuf {
    project::root().join(file)
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(path(file)).with_context(|| format!("reading {file}"))
}

fn write(file: &str, text: &str) -> Result<()> {
    fs::write(path(file), text).with_context(|| format!("writing {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(nginx: &str, linked: &str, outcome: Outcome) -> Trial {
        Trial {
            nginx: nginx.into(),
            origin: "nginx-src".into(),
            linked: linked.into(),
            configured: "--with-debug".into(),
            outcome,
            seconds: 60,
        }
    }

    fn report() -> Report {
        let tested = |failed| {
            Outcome::Tested(Counts {
                passed: 300,
                failed,
                skipped: 20,
            })
        };
        Report {
            rows: vec![
                row("nginx/1.30.4", "make build", tested(0)),
                row("nginx/1.30.4", "--add-module", tested(2)),
                row("nginx/1.28.3", "--add-module", Outcome::DoesNotBuild),
                row("nginx/1.28.3", "make build", Outcome::DoesNotLoad),
            ],
        }
    }

    #[test]
    fn a_line_for_each_version() {
        let table = report().versions("| head |");
        let lines: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| nginx/1.30.4 | nginx-src | 1/2 | 0/1 | 600 | 2 | 40 |",
                "| nginx/1.28.3 | nginx-src | 0/2 | 0/1 | 0 | 0 | 0 |",
            ]
        );
        assert!(!report().all_passed());
    }

    #[test]
    fn a_line_for_each_row_on_the_page() {
        let page = report().page();
        for line in [
            "| nginx/1.30.4 | nginx-src | `--add-module` | --with-debug | 300 | 2 | 20 | 60 |\n",
            "| nginx/1.28.3 | nginx-src | `--add-module` | --with-debug | does not build | | | 60 |\n",
            "| nginx/1.28.3 | nginx-src | `make build` | --with-debug | does not load | | | 60 |\n",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }

    #[test]
    fn a_table_takes_the_place_of_the_last_one() {
        let once = with_table(&format!("a\n{BEGIN}\n{END}\nb\n"), "| x |\n").unwrap();
        assert_eq!(once, format!("a\n{BEGIN}\n| x |\n{END}\nb\n"));
        let twice = with_table(&once, "| y |\n").unwrap();
        assert_eq!(twice, once.replace("| x |", "| y |"));
        assert_eq!(with_table("a\n", "| x |\n"), None);
    }

    #[test]
    fn the_documents_show_what_the_command_last_wrote() {
        let report: Report = serde_json::from_str(&read(DATA).unwrap()).unwrap();
        assert!(!report.rows.is_empty() && report.all_passed());
        assert_eq!(read(PAGE).unwrap(), report.page());
        for readme in READMES {
            let text = read(readme.file).unwrap();
            let table = report.versions(readme.head);
            assert_eq!(with_table(&text, &table).unwrap(), text, "{}", readme.file);
        }
    }
}
