//! The page: what was measured, what it means, and what hosts carry by it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::capacity::{self, Cost, Host};
use super::data::{Protocol, Round, Row, Scale};
use super::tables;
use crate::compare::busy;
use crate::gates::n;
use crate::report::markdown;
use crate::report::svg::{self, Curve, Growth, Label};
use crate::report::view::{Cell, Grid, GridRow, number};
use crate::stats::median;

const FRAME: &str = include_str!("page.md");

/// The contender that the calculation is for.
const OURS: &str = "nginx-rust";

/// Writes `scale.md` and the plots that it shows.
pub fn write(scale: &Scale, folder: &Path) -> Result<()> {
    let plots = folder.join("scale");
    fs::create_dir_all(&plots).with_context(|| format!("creating {}", plots.display()))?;
    for figure in FIGURES {
        for protocol in PROTOCOLS {
            let file = folder.join(figure.file(protocol));
            let text = svg::file(&figure.draw(scale, protocol));
            fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
        }
    }
    let file = folder.join("scale.md");
    fs::write(&file, page(scale)).with_context(|| format!("writing {}", file.display()))?;
    eprintln!("wrote {} and what it is made of", file.display());
    Ok(())
}

const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

/// One that has a plot for each protocol.
struct Figure {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    of: fn(&Round) -> Option<f64>,
}

const FIGURES: [Figure; 3] = [
    Figure {
        name: "memory",
        title: "Memory for each waiting request",
        unit: "bytes",
        of: |round| round.memory_bytes,
    },
    Figure {
        name: "cpu",
        title: "CPU time for each request",
        unit: "µs",
        of: |round| Some(round.cpu_us),
    },
    Figure {
        name: "lateness",
        title: "Lateness, 99th percentile",
        unit: "ms",
        of: |round| Some(round.lateness.p99),
    },
];

impl Figure {
    fn file(&self, protocol: Protocol) -> String {
        let protocol = match protocol {
            Protocol::Http1 => "http1",
            Protocol::Http2 => "http2",
        };
        format!("scale/{}-{protocol}.svg", self.name)
    }

    fn draw(&self, scale: &Scale, protocol: Protocol) -> maud::Markup {
        let mut curves: Vec<Curve> = Vec::new();
        for table in scale.of(protocol) {
            for row in &table.rows {
                let Some(figures) = row.figures(self.of) else {
                    continue;
                };
                let point = (f64::from(table.waiting), median(&figures));
                match curves.iter_mut().find(|curve| curve.name == row.contender) {
                    Some(curve) => curve.points.push(point),
                    None => curves.push(Curve {
                        name: row.contender.clone(),
                        points: vec![point],
                    }),
                }
            }
        }
        let words = curves.iter().map(|curve| {
            let points = curve
                .points
                .iter()
                .map(|(many, figure)| format!("{}: {}", n(*many), number(*figure)));
            format!("{}, {}", curve.name, points.collect::<Vec<_>>().join(", "))
        });
        let label = Label {
            id: self.name.into(),
            title: format!("{}, {protocol}", self.title),
            description: words.collect::<Vec<_>>().join("; "),
        };
        Growth {
            label,
            up: format!("{protocol}, {}", self.unit),
            right: "waiting at once".into(),
            curves,
        }
        .draw()
    }

    fn image(&self, protocol: Protocol) -> String {
        format!("![{}, {protocol}]({})", self.title, self.file(protocol))
    }
}

fn page(scale: &Scale) -> String {
    let machine = &scale.machine;
    let plots = FIGURES.iter().map(|figure| {
        let images = PROTOCOLS.map(|protocol| figure.image(protocol));
        format!(
            "**{}**, {}\n\n{}\n",
            figure.title,
            figure.unit,
            images.join("\n")
        )
    });
    let mut growth = String::new();
    markdown::grid(&mut growth, &tables::growth(scale));
    let holes = [
        ("{cpu}", machine.cpu.clone()),
        ("{cores}", machine.cpus.len().to_string()),
        ("{memory}", n(machine.memory_bytes as f64 / 1024.0 / 1024.0)),
        ("{system}", machine.system.clone()),
        ("{kernel}", machine.kernel.clone()),
        ("{load}", number(machine.load_average)),
        ("{files}", n(machine.open_files as f64)),
        ("{rate}", n(scale.rate)),
        ("{due}", n((scale.rate / 1e3).round())),
        ("{rounds}", scale.rounds.to_string()),
        ("{minutes}", n((scale.took_s / 60.0).ceil())),
        (
            "{busy}",
            busy(machine).map_or_else(String::new, |text| format!("**!** {text}.\n\n")),
        ),
        ("{nginx}", nginx(scale)),
        ("{http1}", tables::markdown(scale, Protocol::Http1)),
        ("{http2}", tables::markdown(scale, Protocol::Http2)),
        (
            "{plots}",
            plots.collect::<Vec<_>>().join("\n").trim_end().to_owned(),
        ),
        ("{growth}", growth.trim_end().to_owned()),
        ("{memory_part}", percent(capacity::MEMORY_PART)),
        ("{cpu_part}", percent(capacity::CPU_PART)),
        ("{descriptors}", n(capacity::DESCRIPTORS)),
        ("{ports}", n(capacity::PORTS)),
        ("{costs}", costs(scale)),
        ("{carries}", carries(scale)),
    ];
    let fill = |text: String, (hole, filling): (&str, String)| text.replace(hole, &filling);
    holes.into_iter().fold(FRAME.to_owned(), fill)
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// What nginx says of its version.
fn nginx(scale: &Scale) -> String {
    let ours = scale.contenders.get(OURS);
    let version = ours.and_then(|contender| contender.versions.get("nginx"));
    version.cloned().unwrap_or_default()
}

/// What a request costs where the most wait at once.
fn cost(scale: &Scale, protocol: Protocol) -> Option<Cost> {
    let table = scale.of(protocol).last()?;
    let row: &Row = table.rows.iter().find(|row| row.contender == OURS)?;
    Some(Cost {
        bytes: median(&row.figures(|round| round.memory_bytes)?),
        cpu_us: median(&row.figures(|round| Some(round.cpu_us))?),
        per_connection: f64::from(table.waiting) / f64::from(table.connections),
    })
}

fn costs(scale: &Scale) -> String {
    let lines = PROTOCOLS.iter().filter_map(|protocol| {
        let cost = cost(scale, *protocol)?;
        Some(format!(
            "- {protocol}: {} bytes and {} µs for each, {} to a connection",
            n(cost.bytes.round()),
            number(cost.cpu_us),
            n(cost.per_connection)
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Hosts that are calculated with, beside the one that was measured on.
const HOSTS: [(&str, Host); 2] = [
    (
        "8 cores, 32 GB",
        Host {
            memory_bytes: 32e9,
            cores: 8.0,
        },
    ),
    (
        "32 cores, 256 GB",
        Host {
            memory_bytes: 256e9,
            cores: 32.0,
        },
    ),
];

/// Hosts of a fleet, one of which may fail.
const FLEET: u32 = 10;

fn carries(scale: &Scale) -> String {
    let here = Host {
        memory_bytes: scale.machine.memory_bytes as f64,
        cores: scale.machine.cpus.len() as f64,
    };
    let heads = [
        "each waits",
        "by memory",
        "by cores",
        "by descriptors",
        "one host",
        "requests/s",
        "addresses",
        "ten hosts",
    ];
    let mut rows = Vec::new();
    for protocol in PROTOCOLS {
        let Some(cost) = cost(scale, protocol) else {
            continue;
        };
        for (name, host) in [("this machine", here)].into_iter().chain(HOSTS) {
            for seconds in [1.0, 10.0, 60.0] {
                let carries = host.carries(&cost, seconds);
                let cells = [
                    format!("{seconds} s"),
                    n(host.by_memory(&cost)),
                    n(host.by_cores(&cost, seconds)),
                    n(host.by_descriptors(&cost)),
                    n(carries),
                    n((carries / seconds).floor()),
                    n(capacity::addresses(carries, &cost)),
                    n(host.fleet(FLEET, &cost, seconds)),
                ];
                rows.push(GridRow {
                    contender: format!("{protocol}, {name}"),
                    cells: Ok(cells.map(Cell::Figure).into()),
                });
            }
        }
    }
    let grid = Grid {
        title: "so many wait at once".into(),
        columns: heads.map(tables::column).into(),
        rows,
    };
    let mut out = String::new();
    markdown::grid(&mut out, &grid);
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::data::examples::{round, row, scale, table};

    fn measured() -> Scale {
        let of = |protocol, waiting| {
            table(
                protocol,
                waiting,
                vec![row(OURS, &[round(10_000.0, 14.0, 2.0)])],
            )
        };
        scale(vec![
            of(Protocol::Http1, 100),
            of(Protocol::Http2, 100),
            of(Protocol::Http2, 1_000),
        ])
    }

    #[test]
    fn all_holes_of_the_page_are_filled() {
        let page = page(&measured());
        assert!(!page.contains('{') && !page.contains('}'), "{page}");
        for figure in FIGURES {
            assert!(
                PROTOCOLS
                    .iter()
                    .all(|protocol| page.contains(&figure.file(*protocol)))
            );
        }
    }

    #[test]
    fn a_busy_machine_is_called_so() {
        let mut measured = measured();
        assert!(!page(&measured).contains("kept this machine busy"));
        measured.machine.load_average = 5.0;
        assert!(page(&measured).contains("load average 5.0 on 2 cores"));
    }

    #[test]
    fn the_calculation_is_of_what_was_measured() {
        let mut measured = measured();
        // 2 cores of 70 %, 14 µs each.
        assert!(carries(&measured).contains("| HTTP/2, this machine | 1 s | 858,993 | 100,000 |"));
        measured.tables[2].rows[0].rounds[0].cpu_us = 28.0;
        assert!(carries(&measured).contains("| HTTP/2, this machine | 1 s | 858,993 | 50,000 |"));
        measured.tables[2].rows[0].fault = Some("wrong".into());
        assert!(!carries(&measured).contains("HTTP/2"));
    }

    #[test]
    fn only_what_was_measured_is_drawn() {
        let mut measured = measured();
        let drawn = |scale: &Scale| FIGURES[0].draw(scale, Protocol::Http2).into_string();
        assert!(drawn(&measured).contains("nginx-rust, 100: 10,000, 1,000: 10,000"));
        measured.tables[2].rows[0].fault = Some("wrong".into());
        assert!(!drawn(&measured).contains("1,000: 10,000"));
    }
}
