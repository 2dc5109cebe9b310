//! `status`: what the module's workers have counted, for an operator.

use crate::{Arg, ArgError, Args, Counts, FromArg, Handler, Report, Request, Response, Result};
use crate::{Stats, WorkerStats};
use std::fmt::{self, Display, Write};

/// Answers with counts: `content_by_rust status format=…;`
pub struct StatusPage {
    stats: Stats,
    format: Option<Arg<Format>>,
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Prometheus,
}

impl FromArg for Format {
    const MUST_BE: &'static str = "\"json\" or \"prometheus\"";

    fn parse(text: &[u8]) -> Option<Format> {
        match text {
            b"json" => Some(Format::Json),
            b"prometheus" => Some(Format::Prometheus),
            _ => None,
        }
    }
}

impl Handler for StatusPage {
    const USES_TOKIO: bool = false;

    fn configure(args: &mut Args<'_>) -> Result<StatusPage, ArgError> {
        Ok(StatusPage {
            stats: args.stats(),
            format: args.get("format")?,
        })
    }

    async fn handle(&self, request: &mut Request) -> Result<Response> {
        let format = match &self.format {
            Some(format) => format.get(request)?.unwrap_or(Format::Json),
            None => Format::Json,
        };
        let report = self.stats.read()?;
        Ok(match format {
            Format::Json => Response::json(json(&report)),
            Format::Prometheus => Response::body(prometheus(&report))
                .content_type("text/plain; version=0.0.4; charset=utf-8"),
        })
    }
}

/// A figure, as both formats name it.
struct Figure {
    name: &'static str,
    /// The ending of its name in Prometheus, by which counters are known.
    suffix: &'static str,
    kind: &'static str,
    help: &'static str,
    of: fn(&Counts) -> u64,
}

const FIGURES: [Figure; 5] = [
    Figure {
        name: "pending",
        suffix: "",
        kind: "gauge",
        help: "Requests whose handlers wait.",
        of: |counts| counts.pending,
    },
    Figure {
        name: "answered",
        suffix: "_total",
        kind: "counter",
        help: "Requests whose handlers came to an end.",
        of: |counts| counts.answered,
    },
    Figure {
        name: "aborted",
        suffix: "_total",
        kind: "counter",
        help: "Requests that ended before their handlers did.",
        of: |counts| counts.aborted,
    },
    Figure {
        name: "panicked",
        suffix: "_total",
        kind: "counter",
        help: "Requests whose handlers panicked.",
        of: |counts| counts.panicked,
    },
    Figure {
        name: "refused",
        suffix: "_total",
        kind: "counter",
        help: "Requests that rust_max_pending refused.",
        of: |counts| counts.refused,
    },
];

/// Handlers' names are identifiers, so nothing has to be escaped.
fn json(report: &Report) -> String {
    let handlers = report.handlers.iter();
    let handlers =
        handlers.map(|handler| format!("\"{}\":{{{}}}", handler.name, Members(&handler.counts)));
    let workers = report.workers.iter().map(|worker| {
        let WorkerStats {
            worker,
            pid,
            is_exiting,
            counts,
            ..
        } = worker;
        let counts = Members(counts);
        format!("{{\"worker\":{worker},\"pid\":{pid},\"exiting\":{is_exiting},{counts}}}")
    });
    format!(
        "{{\"total\":{{{total}}},\"handlers\":{{{handlers}}},\"workers\":[{workers}]}}\n",
        total = Members(&report.total()),
        handlers = handlers.collect::<Vec<_>>().join(","),
        workers = workers.collect::<Vec<_>>().join(","),
    )
}

/// Counts as members of a JSON object.
struct Members<'a>(&'a Counts);

impl Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, figure) in FIGURES.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}\"{}\":{}", figure.name, (figure.of)(self.0))?;
        }
        Ok(())
    }
}

/// The text format of <https://prometheus.io/docs/instrumenting/exposition_formats/>, 0.0.4.
fn prometheus(report: &Report) -> String {
    let mut text = String::new();
    for figure in &FIGURES {
        let values = report.handlers.iter().map(|handler| {
            let label = format!("handler=\"{}\"", handler.name);
            (label, (figure.of)(&handler.counts))
        });
        let name = format!("{}{}", figure.name, figure.suffix);
        family(&mut text, &name, figure.kind, figure.help, values);
    }
    for figure in &FIGURES {
        let workers = report.workers.iter();
        let values = workers.map(|worker| (labels(worker), (figure.of)(&worker.counts)));
        let name = format!("worker_{}{}", figure.name, figure.suffix);
        family(&mut text, &name, figure.kind, figure.help, values);
    }
    family(
        &mut text,
        "worker_exiting",
        "gauge",
        "Whether the worker shuts down.",
        report
            .workers
            .iter()
            .map(|worker| (labels(worker), worker.is_exiting.into())),
    );
    text
}

fn labels(worker: &WorkerStats) -> String {
    format!("worker=\"{}\",pid=\"{}\"", worker.worker, worker.pid)
}

/// A metric with its values, by their labels.
fn family(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    values: impl Iterator<Item = (String, u64)>,
) {
    let _ = writeln!(text, "# HELP content_by_rust_{name} {help}");
    let _ = writeln!(text, "# TYPE content_by_rust_{name} {kind}");
    for (labels, value) in values {
        let _ = writeln!(text, "content_by_rust_{name}{{{labels}}} {value}");
    }
}
