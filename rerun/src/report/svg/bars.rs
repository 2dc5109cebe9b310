//! One bar a row.

use maud::{Markup, html};

use super::{LINE, Label, WIDTH, lines, plot, r, short};

/// One bar a row, under the row's name.
pub struct Bars {
    pub label: Label,
    pub rows: Vec<Bar>,
    /// A limit that no bar can pass, and its name.
    pub limit: Option<(f64, String)>,
}

pub struct Bar {
    pub name: String,
    /// A figure, or why there is none: then there is no bar either.
    pub figure: Result<Figure, String>,
}

pub struct Figure {
    pub value: f64,
    pub text: String,
    pub interval: Option<(f64, f64)>,
}

impl Bars {
    pub fn draw(&self) -> Markup {
        let figures = self.rows.iter().filter_map(|row| row.figure.as_ref().ok());
        let ends = figures.map(|figure| figure.interval.map_or(figure.value, |(_, high)| high));
        let most = ends
            .chain(self.limit.as_ref().map(|(at, _)| *at))
            .fold(0.0, f64::max);
        let ticks = ticks(most);
        let end = ticks.last().copied().unwrap_or(1.0).max(most);
        // Half of the last tick's number hangs over.
        let x = |value: f64| (value / end).clamp(0.0, 1.0) * (WIDTH - 24.0);
        let top = if self.limit.is_some() {
            LINE + 6.0
        } else {
            0.0
        };
        let mut y = top;
        let rows: Vec<(f64, &Bar, Vec<String>)> = self
            .rows
            .iter()
            .map(|row| {
                let at = y;
                let reason = row.figure.as_ref().err().map(|reason| lines(reason));
                let reason = reason.unwrap_or_default();
                y += match row.figure {
                    Ok(_) => 2.0 * LINE + 4.0,
                    Err(_) => (1.0 + reason.len() as f64) * LINE + 6.0,
                };
                (at, row, reason)
            })
            .collect();
        let bottom = y + 4.0;
        let drawing = html! {
            @for tick in &ticks {
                line.grid x1=(r(x(*tick))) x2=(r(x(*tick))) y1=(r(top)) y2=(r(bottom)) {}
                text.muted x=(r(x(*tick))) y=(r(bottom + LINE)) text-anchor=(anchor(*tick)) { (short(*tick)) }
            }
            @if let Some((at, name)) = &self.limit {
                line.limit x1=(r(x(*at))) x2=(r(x(*at))) y1=(LINE) y2=(r(bottom)) {}
                text.muted x=(WIDTH) y="12" text-anchor="end" { (name) }
            }
            @for (y, row, reason) in &rows {
                text.name x="0" y=(r(y + 12.0)) { (row.name) }
                @match &row.figure {
                    Ok(figure) => {
                        text.figure x=(WIDTH) y=(r(y + 12.0)) text-anchor="end" { (figure.text) }
                        rect.bar x="0" y=(r(y + LINE + 2.0)) width=(r(x(figure.value))) height="10" {}
                        @if let Some((low, high)) = figure.interval {
                            path.interval d=(interval(x(low), x(high), y + LINE + 7.0)) {}
                        }
                    }
                    Err(_) => @for (index, line) in reason.iter().enumerate() {
                        text.reason x="8" y=(r(y + 12.0 + (index as f64 + 1.0) * LINE)) { (line) }
                    }
                }
            }
        };
        plot(&self.label, bottom + LINE + 2.0, &drawing)
    }
}

/// The first number stands at the edge, the others under the middle of their lines.
fn anchor(tick: f64) -> &'static str {
    if tick == 0.0 { "start" } else { "middle" }
}

fn interval(low: f64, high: f64, y: f64) -> String {
    let (low, high, above, below, y) = (r(low), r(high), r(y - 4.0), r(y + 4.0), r(y));
    format!("M{low} {above}V{below}M{low} {y}H{high}M{high} {above}V{below}")
}

/// From zero to at least `most` in three to six steps of 1, 2 or 5 by a power of ten.
pub fn ticks(most: f64) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let power = 10_f64.powf((most / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps
        .into_iter()
        .find(|step| most / step <= 5.0)
        .unwrap_or(most);
    let count = (most / step).ceil() as u32;
    (0..=count).map(|tick| f64::from(tick) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label() -> Label {
        Label {
            id: "a".into(),
            title: "title".into(),
            description: "description".into(),
        }
    }

    #[test]
    fn ticks_are_round_and_enough() {
        assert_eq!(ticks(9.7), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(5000.0), [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
        assert_eq!(ticks(0.03).len(), 4);
        for most in [1e-9, 0.9, 1.0, 33.8, 120.0, 99_999.0, 3.3e9] {
            let ticks = ticks(most);
            assert!((3..=7).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(
                ticks.last().unwrap() * 1.000_001 >= most,
                "{most}: {ticks:?}"
            );
        }
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ticks(nothing), [0.0, 1.0]);
        }
    }

    #[test]
    fn only_a_figure_has_a_bar() {
        let figure = Figure {
            value: 5.0,
            text: "5.00 us".into(),
            interval: Some((4.0, 10.0)),
        };
        let row = |name: &str, figure| Bar {
            name: name.into(),
            figure,
        };
        let bars = Bars {
            label: label(),
            rows: vec![
                row("good", Ok(figure)),
                row("bad", Err("gate <2>, wrong".into())),
            ],
            limit: None,
        };
        let drawn = bars.draw().into_string();
        assert_eq!(drawn.matches("<rect").count(), 1);
        assert!(drawn.contains("gate &lt;2&gt;, wrong"), "{drawn}");
        // Half of the way to the greatest number, which is the interval's end.
        assert!(drawn.contains("width=\"168\""), "{drawn}");
    }
}
