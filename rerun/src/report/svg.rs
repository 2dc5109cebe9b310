//! Bars and curves as inline SVG. Colours are the page's: CSS classes, and `currentColor` for text.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

/// Width of every plot in its own units. It is that of the text on a phone, so that there a letter of a plot is as
/// large as one of the page.
const WIDTH: f64 = 360.0;
/// Height of a line of text.
const LINE: f64 = 16.0;
/// So many columns of letters are as wide as a plot; a Chinese one takes two.
const COLUMNS: usize = 54;
/// A reason in a plot has so many lines; its table has all of it.
const REASON: usize = 3;

/// What a plot is to those who do not see it.
pub struct Label {
    /// Unique on the page.
    pub id: String,
    pub title: String,
    /// The figures in words.
    pub description: String,
}

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

/// Percentile curves: from left to right ever rarer answers, from bottom to top ever later ones, both logarithmic.
pub struct Curves {
    pub label: Label,
    /// What goes upwards.
    pub up: String,
    /// What goes to the right.
    pub right: String,
    pub curves: Vec<Curve>,
    /// Rows without a curve, and why.
    pub without: Vec<(String, String)>,
    /// The ends of the upward axis.
    pub least: f64,
    pub most: f64,
}

pub struct Curve {
    pub name: String,
    /// Part of the answers (0 to 1) and the value that they are not above.
    pub points: Vec<(f64, f64)>,
}

/// Colours and dashes there are: more curves than that nobody can tell apart.
pub const CURVES: usize = 6;

impl Curves {
    pub fn draw(&self) -> Markup {
        let (left, top, height) = (40.0, 24.0, 210.0);
        let bottom = top + height;
        let parts = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|(part, _)| *part);
        let rarest = parts.fold(0.9, f64::max);
        let x = |part: f64| left + nines(part) / nines(rarest) * (WIDTH - left - 16.0);
        let (low, high) = (self.least.log10().floor(), self.most.log10().ceil());
        let y = |value: f64| {
            let at = (value.max(self.least).log10() - low) / (high - low).max(1.0);
            bottom - at * height
        };
        let decades: Vec<f64> = (low as i32..=high as i32).map(|e| 10_f64.powi(e)).collect();
        let marks = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
        let marks: Vec<f64> = marks.into_iter().filter(|part| *part <= rarest).collect();
        let legend = bottom + 3.5 * LINE;
        let rows = self.curves.len().div_ceil(2) as f64;
        let without: Vec<(f64, &str, Vec<String>)> = self
            .without
            .iter()
            .scan(legend + rows * LINE + 4.0, |y, (name, reason)| {
                let (at, reason) = (*y, lines(reason));
                *y += (1.0 + reason.len() as f64) * LINE + 4.0;
                Some((at, name.as_str(), reason))
            })
            .collect();
        let end = without
            .last()
            .map_or(legend + rows * LINE, |(at, _, reason)| {
                at + (1.0 + reason.len() as f64) * LINE
            });
        let drawing = html! {
            text.muted x="0" y="12" { (self.up) }
            @for decade in &decades {
                line.grid x1=(left) x2=(WIDTH) y1=(r(y(*decade))) y2=(r(y(*decade))) {}
                text.muted x=(left - 6.0) y=(r(y(*decade) + 4.0)) text-anchor="end" { (short(*decade)) }
            }
            @for part in &marks {
                line.grid x1=(r(x(*part))) x2=(r(x(*part))) y1=(top) y2=(bottom) {}
            }
            @for part in apart(&marks, x) {
                text.muted x=(r(x(part))) y=(bottom + LINE) text-anchor="middle" { (percent(part)) }
            }
            text.muted x=(WIDTH) y=(bottom + 2.0 * LINE) text-anchor="end" { (self.right) }
            @for (index, curve) in self.curves.iter().enumerate() {
                path class=(format!("curve s{index}")) d=(steps(&curve.points, x, y)) {}
            }
            @for (index, curve) in self.curves.iter().enumerate() {
                @let (x, y) = ((index % 2) as f64 * WIDTH / 2.0, legend + (index / 2) as f64 * LINE);
                path class=(format!("curve s{index}")) d=(format!("M{x} {}h26", y - 4.0)) {}
                text.name x=(x + 32.0) y=(y) { (curve.name) }
            }
            @for (y, name, reason) in &without {
                text.name x="0" y=(r(*y)) { (name) }
                @for (index, line) in reason.iter().enumerate() {
                    text.reason x="8" y=(r(y + (index as f64 + 1.0) * LINE)) { (line) }
                }
            }
        };
        plot(&self.label, end, &drawing)
    }
}

/// Those of some marks, ascending, whose numbers have room beside each other.
fn apart(marks: &[f64], x: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for mark in marks {
        if kept.last().is_none_or(|last| x(*mark) - x(*last) >= 38.0) {
            kept.push(*mark);
        }
    }
    kept
}

/// How rare what is above a part is, in powers of ten: 0.9 is 1, 0.99 is 2.
fn nines(part: f64) -> f64 {
    -(1.0 - part).log10()
}

/// A value holds until the next one begins.
fn steps(points: &[(f64, f64)], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let mut path = String::new();
    for (index, (part, value)) in points.iter().enumerate() {
        path += &match index {
            0 => format!("M{} {}", r(x(*part)), r(y(*value))),
            _ => format!("H{}V{}", r(x(*part)), r(y(*value))),
        };
    }
    path
}

fn plot(label: &Label, height: f64, inside: &Markup) -> Markup {
    let (title, description) = (format!("{}-t", label.id), format!("{}-d", label.id));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", r(height))) role="img"
            aria-labelledby=(format!("{title} {description}"))
        {
            title id=(title) { (label.title) }
            desc id=(description) { (label.description) }
            (inside)
        }
    }
}

/// A reason as lines of a plot.
fn lines(reason: &str) -> Vec<String> {
    let all = textwrap::wrap(reason, COLUMNS - 2);
    let mut lines: Vec<String> = all
        .iter()
        .take(REASON)
        .map(|line| line.to_string())
        .collect();
    if let (Some(last), true) = (lines.last_mut(), all.len() > REASON) {
        while last.width() > COLUMNS - 4 {
            last.pop();
        }
        last.push('…');
    }
    lines
}

/// From zero to at least `most` in three to six steps of 1, 2 or 5 by a power of ten.
fn ticks(most: f64) -> Vec<f64> {
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

/// A round number for an axis.
fn short(number: f64) -> String {
    match number {
        1e6.. => format!("{}M", number / 1e6),
        1e3.. => format!("{}k", number / 1e3),
        _ => format!("{}", (number * 1e6).round() / 1e6),
    }
}

fn percent(part: f64) -> String {
    format!("{}%", (part * 1e5).round() / 1e3)
}

/// A coordinate to a tenth.
fn r(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
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
    fn numbers_of_an_axis() {
        assert_eq!(
            [0.0, 0.1, 200.0, 5000.0, 2.5e6].map(short),
            ["0", "0.1", "200", "5k", "2.5M"]
        );
        assert_eq!(
            [0.5, 0.999, 0.99999].map(percent),
            ["50%", "99.9%", "99.999%"]
        );
        assert!((nines(0.99) - 2.0).abs() < 1e-9 && nines(0.0) == 0.0);
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

    #[test]
    fn a_curve_goes_in_steps() {
        let path = steps(
            &[(0.0, 1.0), (0.5, 2.0)],
            |part| part * 100.0,
            |value| value,
        );
        assert_eq!(path, "M0 1H50V2");
    }

    #[test]
    fn numbers_of_an_axis_do_not_overlap() {
        let marks = [0.0, 0.5, 0.9, 0.99];
        assert_eq!(apart(&marks, |part| nines(part) * 60.0), [0.0, 0.9, 0.99]);
    }

    #[test]
    fn a_reason_has_an_end() {
        let reason = lines(&"words and ".repeat(50));
        assert_eq!(reason.len(), REASON);
        assert!(reason[REASON - 1].ends_with('…'));
        assert!(reason.iter().all(|line| line.width() <= COLUMNS));
        assert_eq!(lines("short"), ["short"]);
    }
}
