//! How a figure grows.

use maud::{Markup, html};

use super::bars::ticks;
use super::{Curve, LINE, Label, WIDTH, plot, r, short};

/// From left to right ever more of something, logarithmic; upwards a figure, from zero.
pub struct Growth {
    pub label: Label,
    /// What goes upwards.
    pub up: String,
    /// What goes to the right.
    pub right: String,
    /// How many there are and the figure then, ascending. Not more than [`CURVES`](super::CURVES).
    pub curves: Vec<Curve>,
}

impl Growth {
    pub fn draw(&self) -> Markup {
        let (left, top, height) = (46.0, 24.0, 210.0);
        let bottom = top + height;
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let many = points().map(|(many, _)| *many);
        let (least, most) = (
            many.clone().fold(f64::INFINITY, f64::min),
            many.fold(1.0, f64::max),
        );
        let wide = (most / least).log10().max(1.0);
        let x = |many: f64| left + (many / least).log10() / wide * (WIDTH - left - 24.0);
        let ticks = ticks(points().map(|(_, figure)| *figure).fold(0.0, f64::max));
        let highest = ticks.last().copied().unwrap_or(1.0);
        let y = |figure: f64| bottom - figure.max(0.0) / highest * height;
        let powers = least.log10().ceil() as i32..=most.log10().floor() as i32;
        let mut marks: Vec<f64> = powers.map(|power| 10_f64.powi(power)).collect();
        // The end is named, too, where its name has room beside the last.
        if marks.last().is_none_or(|last| most > last * 1.7) {
            marks.push(most);
        }
        let legend = bottom + 3.5 * LINE;
        let rows = self.curves.len().div_ceil(2) as f64;
        let drawing = html! {
            text.muted x="0" y="12" { (self.up) }
            @for tick in &ticks {
                line.grid x1=(left) x2=(WIDTH) y1=(r(y(*tick))) y2=(r(y(*tick))) {}
                text.muted x=(left - 6.0) y=(r(y(*tick) + 4.0)) text-anchor="end" { (short(*tick)) }
            }
            @for mark in &marks {
                line.grid x1=(r(x(*mark))) x2=(r(x(*mark))) y1=(top) y2=(bottom) {}
                text.muted x=(r(x(*mark))) y=(bottom + LINE) text-anchor="middle" { (short(*mark)) }
            }
            text.muted x=(WIDTH) y=(bottom + 2.0 * LINE) text-anchor="end" { (self.right) }
            @for (index, curve) in self.curves.iter().enumerate() {
                path class=(format!("curve s{index}")) d=(path(&curve.points, x, y)) {}
                @for (many, figure) in &curve.points {
                    circle class=(format!("point s{index}")) cx=(r(x(*many))) cy=(r(y(*figure))) r="2.5" {}
                }
            }
            @for (index, curve) in self.curves.iter().enumerate() {
                @let (x, y) = ((index % 2) as f64 * WIDTH / 2.0, legend + (index / 2) as f64 * LINE);
                path class=(format!("curve s{index}")) d=(format!("M{x} {}h26", y - 4.0)) {}
                text.name x=(x + 32.0) y=(y) { (curve.name) }
            }
        };
        plot(&self.label, legend + rows * LINE, &drawing)
    }
}

/// Straight from point to point.
fn path(points: &[(f64, f64)], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let mut path = String::new();
    for (index, (many, figure)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        path += &format!("{command}{} {}", r(x(*many)), r(y(*figure)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        Curve {
            name: name.into(),
            points: points.into(),
        }
    }

    fn growth(curves: Vec<Curve>) -> Growth {
        Growth {
            label: Label {
                id: "a".into(),
                title: "title".into(),
                description: "words".into(),
            },
            up: "bytes".into(),
            right: "waiting".into(),
            curves,
        }
    }

    #[test]
    fn what_stays_level_is_drawn_level() {
        let growth = growth(vec![
            curve("level", &[(100.0, 10.0), (1e5, 10.0)]),
            curve("half", &[(100.0, 5.0), (1e5, 10.0)]),
        ]);
        let drawn = growth.draw().into_string();
        // The greatest figure is at the top, half of it in the middle, and both ends are at the sides.
        assert!(drawn.contains("d=\"M46 24L336 24\""), "{drawn}");
        assert!(drawn.contains("d=\"M46 129L336 24\""), "{drawn}");
        assert_eq!(drawn.matches("<circle class=\"point").count(), 4, "{drawn}");
        assert!(
            drawn.contains(">100k<") && drawn.contains(">100<"),
            "{drawn}"
        );
    }

    #[test]
    fn the_end_has_its_number() {
        let drawn = |most| {
            let growth = growth(vec![curve("one", &[(100.0, 10.0), (most, 10.0)])]);
            growth.draw().into_string()
        };
        assert!(drawn(18_000.0).contains(">10k<") && drawn(18_000.0).contains(">18k<"));
        assert!(!drawn(12_000.0).contains(">12k<"));
        assert_eq!(drawn(1e5).matches(">100k<").count(), 1);
    }
}
