//! `make results`: the three articles run again on this machine, and two pages of what came out, English and Chinese,
//! both from the same kept data.
//!
//! `rerun article` measures and keeps a RESULT.json of each in `docs/results/`; `rerun report` makes Markdown of that. A
//! page is the frame of its language (`results/en.md`, `results/zh-CN.md`), which is written by hand, and the three
//! reports below it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::install::{self, Need};
use crate::nginx::{self, Choice};
use crate::{build, project, rerun, shell};

/// Names that `rerun article` knows, in the order of the page.
const ARTICLES: [&str; 3] = ["go-vs-openresty", "lua-vs-php", "concurrency"];

/// A page in one language.
struct Page {
    file: &'static str,
    /// What `rerun report --lang` takes.
    lang: &'static str,
    frame: &'static str,
    /// In place of an empty list.
    none: &'static str,
}

const PAGES: [Page; 2] = [
    Page {
        file: "docs/results.md",
        lang: "en",
        frame: include_str!("results/en.md"),
        none: "none",
    },
    Page {
        file: "docs/results.zh-CN.md",
        lang: "zh",
        frame: include_str!("results/zh-CN.md"),
        none: "无",
    },
];

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
    /// Shorter rounds and fewer requests, as `rerun article --quick`
    #[arg(long)]
    quick: bool,
    /// Measure nothing: write the pages again, from the results that are kept
    #[arg(long)]
    pages: bool,
}

pub fn run(options: &Options) -> Result<()> {
    if !options.pages {
        prepare(options)?;
    }
    // Once: a run of hours is made by one program, whatever becomes of its source meanwhile.
    let program = rerun::compile()?;
    if !options.pages {
        measure(&program, options.quick)?;
    }
    let results = ARTICLES.iter().map(|article| load(article));
    let results: Vec<Value> = results.collect::<Result<_>>()?;
    for page in PAGES {
        let mut text = page.frame(&results)?;
        for article in ARTICLES {
            let report = ["report", &kept(article), "--markdown", "-"];
            let mut command = rerun::command(&program);
            command.args(report).args(["--lang", page.lang]);
            let report = shell::quiet(&mut command)?.stdout;
            // Headings are of a language, a link to an article is of both.
            text += &format!("\n<a id=\"{article}\"></a>\n\n{}", deeper(&report));
        }
        let text = text.trim_end().to_owned() + "\n";
        fs::write(project::root().join(page.file), text)
            .with_context(|| format!("writing {}", page.file))?;
        eprintln!("wrote {}", page.file);
    }
    Ok(())
}

fn prepare(options: &Options) -> Result<()> {
    install::install(&[Need::Toolchain, Need::Comparing])?;
    let nginx = nginx::prepare(&options.choice)?;
    // It leaves behind which nginx this is and which modules there are, for rerun to find.
    build::shipped(&nginx)?;
    Ok(())
}

fn measure(program: &Path, quick: bool) -> Result<()> {
    for article in ARTICLES {
        let mut command = rerun::command(program);
        command.args(["article", article]);
        if quick {
            command.arg("--quick");
        }
        shell::run(command.args(["--output", &kept(article)]))?;
    }
    Ok(())
}

fn kept(article: &str) -> String {
    format!("docs/results/{article}.json")
}

fn load(article: &str) -> Result<Value> {
    let file = project::root().join(kept(article));
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", file.display()))
}

impl Page {
    /// The frame with its `{holes}` filled.
    fn frame(&self, results: &[Value]) -> Result<String> {
        let machine = &results[0]["machine"];
        // The load on it may be another, the machine may not.
        let same = ["cpu", "cpus", "memory_bytes", "system", "kernel"];
        for result in results {
            ensure!(
                same.iter()
                    .all(|key| result["machine"][key] == machine[key]),
                "the results in docs/results/ are of different machines: measure all three again"
            );
        }
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let megabytes = (machine["memory_bytes"].as_f64().unwrap_or(0.0) / 1024.0 / 1024.0).round();
        let quick = results.iter().any(|result| !result["quick"].is_null());
        let command = ["make results", "make results QUICK=1"][usize::from(quick)];
        let missing = missing(results);
        let missing = match missing.is_empty() {
            true => self.none.to_owned(),
            false => missing.into_iter().collect::<Vec<_>>().join(", "),
        };
        let holes = [
            ("{command}", command.to_owned()),
            ("{cpu}", word(&machine["cpu"])),
            (
                "{cores}",
                machine["cpus"].as_array().map_or(0, Vec::len).to_string(),
            ),
            ("{memory}", megabytes.to_string()),
            ("{system}", word(&machine["system"])),
            ("{kernel}", word(&machine["kernel"])),
            ("{missing}", missing),
        ];
        let fill = |text: String, (hole, filling): (&str, String)| text.replace(hole, &filling);
        Ok(holes.into_iter().fold(self.frame.to_owned(), fill))
    }
}

/// Contenders that could not run, as this machine lacks what they need.
fn missing(results: &[Value]) -> BTreeSet<String> {
    let contenders = results
        .iter()
        .filter_map(|run| run["contenders"].as_object());
    let missing = contenders
        .flatten()
        .filter(|(_, about)| !about["missing"].is_null());
    missing.map(|(name, _)| format!("`{name}`")).collect()
}

/// Markdown whose headings are one level lower.
fn deeper(markdown: &str) -> String {
    let mut out = String::new();
    let mut fence = "";
    for line in markdown.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        if fence.is_empty() {
            if ticks.len() >= 3 {
                fence = ticks;
            } else if line.starts_with('#') {
                out.push('#');
            }
        } else if line == fence {
            fence = "";
        }
        out += line;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(kernel: &str, missing: Value) -> Value {
        json!({
            "quick": null,
            "machine": {
                "cpu": "a processor", "cpus": [0, 1], "memory_bytes": 3_u64 << 30, "system": "a system",
                "kernel": kernel, "load_average": 0.1,
            },
            "contenders": { "here": { "missing": null }, "absent": { "missing": missing } },
        })
    }

    #[test]
    fn headings_go_down_and_code_stays() {
        let report = "# a\n\n## b\n````sh\n# no heading\n```\n# nor this\n````\n### c\ntext # d\n";
        let lower =
            "## a\n\n### b\n````sh\n# no heading\n```\n# nor this\n````\n#### c\ntext # d\n";
        assert_eq!(deeper(report), lower);
    }

    #[test]
    fn a_frame_says_which_machine_and_what_is_missing() {
        let results = [
            result("Linux 6", json!(null)),
            result("Linux 6", json!("needs x")),
        ];
        for page in PAGES {
            let text = page.frame(&results).unwrap();
            for said in [
                "make results\n",
                "a processor",
                "3072 MB",
                "a system",
                "Linux 6",
                "`absent`",
            ] {
                assert!(text.contains(said), "{said}\n{text}");
            }
            assert!(!text.contains("`here`") && !text.contains('{'), "{text}");
            let all_here = page.frame(&results[..1]).unwrap();
            assert!(all_here.contains(page.none) && !all_here.contains("`absent`"));
        }
    }

    #[test]
    fn a_quick_run_says_so() {
        let mut quick = result("Linux 6", json!(null));
        quick["quick"] = json!("--quick: shorter");
        for page in PAGES {
            assert!(
                page.frame(&[quick.clone()])
                    .unwrap()
                    .contains("make results QUICK=1\n")
            );
        }
    }

    #[test]
    fn one_page_is_of_one_machine() {
        let results = [
            result("Linux 6", json!(null)),
            result("Linux 7", json!(null)),
        ];
        for page in PAGES {
            let error = page.frame(&results).unwrap_err().to_string();
            assert!(error.contains("different machines"), "{error}");
        }
    }
}
