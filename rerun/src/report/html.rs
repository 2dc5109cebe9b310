//! A report as one HTML file: its style and its plots are within, nothing is loaded, and there is no script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::plots;
use super::view::{Cell, Contender, Grid, Line, Mark, Published, Reason, Table, View, spaced};

const STYLE: &str = include_str!("style.css");

/// `client` is the rate that the client can do at most, where it was measured.
pub fn render(view: &View, client: Option<f64>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(view.lang.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (view.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (view.title) }
                    @for warning in &view.warnings {
                        p.warning { (warning) }
                    }
                    (contents(view))
                }
                main {
                    @if let Some(shown) = &view.published {
                        (published(view, shown))
                    }
                    @for (index, shown) in view.tables.iter().enumerate() {
                        (table(view, shown, index, client))
                    }
                    (legend(view))
                    (run(view))
                    (contenders(view))
                }
            }
        }
    };
    page.into_string()
}

fn contents(view: &View) -> Markup {
    html! {
        nav aria-label=(view.say("Contents")) {
            ul {
                @if view.published.is_some() {
                    li { a href="#published" { (view.say("As published")) " / " (view.say("As meant")) } }
                }
                @for (index, table) in view.tables.iter().enumerate() {
                    li { a href=(format!("#table-{index}")) { (table.title) } " " small { (table.load) } }
                }
                li { a href="#legend" { (view.say("How to read it")) } }
                li { a href="#run" { (view.say("Machine and run")) } }
                li { a href="#contenders" { (view.say("Contenders")) } }
            }
        }
    }
}

/// Cards on a phone: each cell brings its column's head along.
fn published(view: &View, published: &Published) -> Markup {
    let heads =
        ["As published", "Why nobody can vouch for it", "As meant"].map(|head| view.say(head));
    html! {
        section #published {
            h2 { (heads[0]) " / " (heads[2]) }
            p lang="zh-CN" { (published.source) }
            p { (published.meant) }
            table.cards {
                thead { tr { th scope="col" { (view.say("System")) } @for head in &heads { th scope="col" { (head) } } } }
                tbody {
                    @for row in &published.rows {
                        tr {
                            th scope="row" { (row.label) }
                            td data-head=(heads[0]) { (row.connections) " " s { (row.rate) } }
                            td.refused data-head=(heads[1]) { (row.reason) }
                            td data-head=(heads[2]) {
                                @if let Some(meant) = &row.meant {
                                    b { (spaced(&[&meant.contender, &meant.connections])) } br;
                                    @match &meant.figures {
                                        Ok(figures) => (figures),
                                        Err(reason) => span.refused { (reason) },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn table(view: &View, table: &Table, index: usize, client: Option<f64>) -> Markup {
    html! {
        section id=(format!("table-{index}")) {
            h2 { (table.title) }
            p.load { (table.load) }
            @for shown in &table.grids {
                (grid(shown))
            }
            (lines(table, &[Mark::Refused, Mark::Warn, Mark::Result]))
            div.plots {
                @for plot in plots::of(view, table, index, client) {
                    figure {
                        h3 { (plot.title) }
                        (plot.drawing)
                        figcaption { (plot.caption) }
                    }
                }
            }
            (replays(view, table))
            (lines(table, &[Mark::Note]))
        }
    }
}

/// A table that is too wide moves within its own box, which the keyboard reaches too.
fn grid(grid: &Grid) -> Markup {
    html! {
        div.scroll role="region" aria-label=(grid.title) tabindex="0" {
            table {
                caption { (grid.title) }
                thead {
                    tr {
                        td {}
                        @for column in &grid.columns {
                            th scope="col" title=[some(&column.means)] { (column.head) }
                        }
                    }
                }
                tbody {
                    @for row in &grid.rows {
                        tr {
                            th scope="row" { (row.contender) }
                            @match &row.cells {
                                Ok(cells) => @for shown in cells { (cell(shown)) },
                                Err(Reason { full, .. }) => td.refused colspan=(grid.columns.len()) {
                                    span { (full) }
                                },
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Refused(gate) => td.refused { (gate) },
            Cell::Figure(_) | Cell::Empty => td { (cell.text()) },
        }
    }
}

fn lines(table: &Table, marks: &[Mark]) -> Markup {
    let lines = table.lines.iter();
    let lines: Vec<&Line> = lines.filter(|line| marks.contains(&line.mark)).collect();
    html! {
        @if !lines.is_empty() {
            ul.lines {
                @for line in lines {
                    li class=(class(line.mark)) { (line.text) }
                }
            }
        }
    }
}

fn replays(view: &View, table: &Table) -> Markup {
    html! {
        @if table.lines.iter().any(|line| line.mark == Mark::Replay) {
            details {
                summary { (view.say("What other generators print, run as the author ran them")) }
                (lines(table, &[Mark::Replay]))
            }
        }
    }
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Refused => "refused",
        Mark::Warn => "warn",
        Mark::Result => "result",
        Mark::Replay => "replay",
        Mark::Note => "note",
    }
}

fn legend(view: &View) -> Markup {
    html! {
        section #legend {
            h2 { (view.say("How to read it")) }
            dl {
                @for (head, means) in view.legend() {
                    dt { (head) }
                    dd { (means) }
                }
            }
        }
    }
}

fn run(view: &View) -> Markup {
    html! {
        section #run {
            h2 { (view.say("Machine and run")) }
            dl {
                @for (name, text) in &view.facts {
                    dt { (name) }
                    dd { (text) }
                }
                dt { (view.say("To measure it again")) }
                dd { code { (view.again) } }
            }
        }
    }
}

fn contenders(view: &View) -> Markup {
    html! {
        section #contenders {
            h2 { (view.say("Contenders")) }
            @for Contender { name, title, facts, texts } in &view.contenders {
                article {
                    h3 { (name) (view.colon) (title) }
                    dl {
                        @for (name, text) in facts {
                            dt { (name) }
                            dd { (text) }
                        }
                    }
                    @if !texts.is_empty() {
                        details.texts {
                            summary { (view.say("Commands, configurations and sources")) }
                            @for (name, text) in texts {
                                h4 { (name) }
                                pre tabindex="0" { (text) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
