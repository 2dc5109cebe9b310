//! What a failed test says.

use similar::TextDiff;

const MOST: usize = 4000;

/// `expected` and `got`, in the shape that shows best where they differ.
pub(crate) fn difference(expected: &[u8], got: &[u8]) -> String {
    let lines = expected.iter().filter(|&&c| c == b'\n').count();
    if lines < 2 && expected.len() < 200 {
        return format!(
            "    expected: {}\n         got: {}",
            shown(expected),
            shown(got)
        );
    }
    let (expected, got) = (escaped(expected), escaped(got));
    let diff = TextDiff::from_lines(&expected, &got);
    let text = diff
        .unified_diff()
        .context_radius(2)
        .header("expected", "got")
        .to_string();
    indent(&cut(&text))
}

/// Text in quotes on one line.
pub(crate) fn shown(text: &[u8]) -> String {
    let text = escaped(text).replace('\n', "\\n").replace('"', "\\\"");
    format!("\"{}\"", cut(&text))
}

fn escaped(text: &[u8]) -> String {
    let mut out = String::new();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push(c),
                c if c.is_control() => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}... ({} bytes in all)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

pub(crate) fn indent(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_shown_side_by_side() {
        assert_eq!(
            difference(b"a\n", b"b\r\x80\n"),
            "    expected: \"a\\n\"\n         got: \"b\\r\\x80\\n\""
        );
    }

    #[test]
    fn long_texts_are_shown_as_a_diff() {
        let text = difference(b"a\nb\nc\nd\ne\nf\n", b"a\nb\nc\nD\ne\nf\n");
        assert!(text.contains("    -d\n    +D"), "{text}");
        assert!(!text.contains("    a"), "{text}");
    }

    #[test]
    fn endless_texts_are_cut() {
        assert!(shown(&[b'a'; 10000]).len() < 5000);
    }
}
