//! Percentile curves.

use maud::{Markup, html};

use super::{LINE, Label, WIDTH, lines, plot, r, short};

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

fn percent(part: f64) -> String {
    format!("{}%", (part * 1e5).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_axis() {
        assert_eq!(
            [0.5, 0.999, 0.99999].map(percent),
            ["50%", "99.9%", "99.999%"]
        );
        assert!((nines(0.99) - 2.0).abs() < 1e-9 && nines(0.0) == 0.0);
    }

    #[test]
    fn numbers_of_an_axis_do_not_overlap() {
        let marks = [0.0, 0.5, 0.9, 0.99];
        assert_eq!(apart(&marks, |part| nines(part) * 60.0), [0.0, 0.9, 0.99]);
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
}
