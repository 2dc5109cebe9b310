//! Bars and curves as inline SVG. Colours are the page's: CSS classes, and `currentColor` for text.

mod bars;
mod curves;
mod growth;

pub use bars::{Bar, Bars, Figure};
pub use curves::{CURVES, Curve, Curves};
pub use growth::Growth;

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

fn plot(label: &Label, height: f64, inside: &Markup) -> Markup {
    let (title, description) = (format!("{}-t", label.id), format!("{}-d", label.id));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {}", r(height))) role="img"
            aria-labelledby=(format!("{title} {description}"))
        {
            title id=(title) { (label.title) }
            desc id=(description) { (label.description) }
            (inside)
        }
    }
}

/// A plot as a file of its own, with the page's style in it, its colour of text and the one behind it.
pub fn file(plot: &Markup) -> String {
    let style = include_str!("style.css");
    let own =
        "svg { font-family: system-ui, sans-serif; color: var(--text); background: var(--page); }";
    let (tag, inside) = plot.0.split_once('>').unwrap_or((&plot.0, ""));
    format!("{tag}><style>{style}{own}</style>{inside}\n")
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

/// A round number for an axis.
fn short(number: f64) -> String {
    match number {
        1e6.. => format!("{}M", number / 1e6),
        1e3.. => format!("{}k", number / 1e3),
        _ => format!("{}", (number * 1e6).round() / 1e6),
    }
}

/// A coordinate to a tenth.
fn r(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis() {
        let numbers = [0.0, 0.1, 200.0, 5000.0, 2.5e6];
        assert_eq!(numbers.map(short), ["0", "0.1", "200", "5k", "2.5M"]);
    }

    #[test]
    fn a_file_has_its_style_with_it() {
        let label = Label {
            id: "a".into(),
            title: "t".into(),
            description: "d".into(),
        };
        let file = file(&plot(&label, 10.0, &html! { path.curve d="M0 0" {} }));
        assert!(
            file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "),
            "{file}"
        );
        assert_eq!(file.matches("<style>").count(), 1);
        assert!(
            file.contains("--line:") && file.ends_with("</path></svg>\n"),
            "{file}"
        );
        // Without it names are black in the dark, too.
        let own = file.rsplit("svg {").next().unwrap();
        assert!(own.contains(" color: var(--text);"), "{own}");
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
