//! Quotes behind the `=` of an argument: `body="two words"`.
//!
//! nginx knows quotes at the start of an argument alone. It splits `body="two words"` at the
//! space, and what kind of space that was is lost. So a directive that has such quotes is read
//! once more, from the file's text. What nginx ends an argument or a directive with even there
//! (`;`, `{`, a `#` behind a space) still does; quoting the whole argument, `"body=a; b"`, helps.
//!
//! No FFI.

use crate::parse;

/// Whether an argument opens a quote behind its `=`.
pub(crate) fn opens_quote(arg: &[u8]) -> bool {
    parse::named(arg).is_some_and(|(_, value)| matches!(value.first(), Some(b'"' | b'\'')))
}

/// Splits the last directive of `source`, which ends with its `;`, into its words. nginx split it
/// into `args`.
///
/// Returns `None` where a quote is not closed, or something other than space follows one.
pub(crate) fn split(source: &[u8], args: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let name = *args.first()?;
    // The directive's name may stand in a comment before it, or in an argument: only its true
    // beginning, which may be a quote, gives the words that nginx saw.
    let starts = (0..source.len()).filter(|&at| source[at..].starts_with(name));
    let text = starts
        .flat_map(|at| [at, at.saturating_sub(1)])
        .map(|at| &source[at..])
        .find(|text| words(text, Quotes::AsNginx).is_some_and(|words| words == args))?;
    words(text, Quotes::BehindEquals)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// At the start of a word alone.
    AsNginx,
    /// Behind a word's first `=`, too.
    BehindEquals,
}

/// The words of a directive that ends with the text.
fn words(text: &[u8], quotes: Quotes) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'#' => at += text[at..].iter().position(|&c| c == b'\n')?,
            b';' => return (at + 1 == text.len()).then_some(words),
            b'{' | b'}' => return None,
            quote @ (b'"' | b'\'') => {
                let len = quoted_len(&text[at + 1..], quote)?;
                words.push(unescape(&text[at + 1..at + 1 + len]));
                at += len + 2;
                ends_word(text, at)?;
            }
            _ => {
                let (word, len) = word(&text[at..], quotes)?;
                words.push(word);
                at += len;
            }
        }
    }
}

/// A word that does not start with a quote, and its length in the text.
fn word(text: &[u8], quotes: Quotes) -> Option<(Vec<u8>, usize)> {
    let mut at = 0;
    let mut equals = false;
    loop {
        match *text.get(at)? {
            b' ' | b'\t' | b'\r' | b'\n' | b';' => return Some((unescape(&text[..at]), at)),
            b'\\' => {
                equals |= text.get(at + 1) == Some(&b'=');
                at += 2;
            }
            // Braces behind a dollar are a variable's, however many.
            b'$' => at += 1 + text[at + 1..].iter().take_while(|&&c| c == b'{').count(),
            b'{' => return None,
            b'=' if !equals => {
                equals = true;
                at += 1;
                if let Some(&quote @ (b'"' | b'\'')) = text.get(at)
                    && quotes == Quotes::BehindEquals
                    && at > 1
                {
                    let len = quoted_len(&text[at + 1..], quote)?;
                    let mut word = unescape(&text[..at]);
                    word.extend(unescape(&text[at + 1..at + 1 + len]));
                    at += len + 2;
                    ends_word(text, at)?;
                    return Some((word, at));
                }
            }
            _ => at += 1,
        }
    }
}

/// How many bytes stand before the quote that closes.
fn quoted_len(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            c if c == quote => return Some(at),
            _ => at += 1,
        }
    }
}

fn ends_word(text: &[u8], at: usize) -> Option<()> {
    matches!(text.get(at)?, b' ' | b'\t' | b'\r' | b'\n' | b';').then_some(())
}

/// nginx's escapes; a backslash before anything else stands for itself.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut word = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [c, tail @ ..] = rest {
        let (c, len) = match (c, tail) {
            (b'\\', [c @ (b'"' | b'\'' | b'\\'), ..]) => (*c, 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            _ => (*c, 1),
        };
        word.push(c);
        rest = &rest[len..];
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, args: &[&str], expected: Option<&[&str]>) {
        let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
        let expected = expected.map(|words| {
            let words = words.iter().map(|word| word.as_bytes().to_vec());
            words.collect::<Vec<_>>()
        });
        assert_eq!(split(source.as_bytes(), &args), expected, "{source}");
    }

    #[test]
    fn quotes_behind_the_equals_sign_hold_a_value_together() {
        check(
            r#"location / { c reply body="hi $arg_name\n" delay=1s;"#,
            &["c", "reply", "body=\"hi", "$arg_name\n\"", "delay=1s"],
            Some(&["c", "reply", "body=hi $arg_name\n", "delay=1s"]),
        );
        check(
            "c r a=\"two  spaces\tand\na line\" b='single \"x\" quotes';",
            &[
                "c",
                "r",
                "a=\"two",
                "spaces",
                "and",
                "a",
                "line\"",
                "b='single",
                "\"x\"",
                "quotes'",
            ],
            None,
        );
        check(
            "c r a=\"two  spaces\tand\na line\";",
            &["c", "r", "a=\"two", "spaces", "and", "a", "line\""],
            Some(&["c", "r", "a=two  spaces\tand\na line"]),
        );
        check(
            r#"c r a="say \"hi\" now" b="" c="x=\"y\\";"#,
            &[
                "c",
                "r",
                "a=\"say",
                "\"hi\"",
                "now\"",
                "b=\"\"",
                "c=\"x=\"y\\\"",
            ],
            Some(&["c", "r", "a=say \"hi\" now", "b=", "c=x=\"y\\"]),
        );
        check(
            "c r a='it is' b=\"<h1>${arg_x}</h1>\";",
            &["c", "r", "a='it", "is'", "b=\"<h1>${arg_x}</h1>\""],
            Some(&["c", "r", "a=it is", "b=<h1>${arg_x}</h1>"]),
        );
    }

    #[test]
    fn the_directive_is_found_among_others_like_it() {
        check(
            "c r a=\"1 2\"; # c r a=\"3 4\";\n c # why\n r a=\"see c r x\";",
            &["c", "r", "a=\"see", "c", "r", "x\""],
            Some(&["c", "r", "a=see c r x"]),
        );
    }

    #[test]
    fn the_directives_name_may_be_quoted() {
        check(
            "x; \"c\" r a=\"b  c\";",
            &["c", "r", "a=\"b", "c\""],
            Some(&["c", "r", "a=b  c"]),
        );
    }

    #[test]
    fn words_without_such_quotes_stay_as_they_are() {
        check(
            r#"c r "body=a; b" 'x=y z' a\=b d=\q;"#,
            &["c", "r", "body=a; b", "x=y z", "a\\=b", "d=\\q"],
            Some(&["c", "r", "body=a; b", "x=y z", "a\\=b", "d=\\q"]),
        );
    }

    #[test]
    fn an_escaped_equals_sign_is_the_first_all_the_same() {
        check(
            r#"c r \=="b" a="b c";"#,
            &["c", "r", "\\==\"b\"", "a=\"b", "c\""],
            Some(&["c", "r", "\\==\"b\"", "a=b c"]),
        );
    }

    #[test]
    fn braces_behind_a_dollar_do_not_begin_a_block() {
        check(
            r#"c r x=${{ a="b c";"#,
            &["c", "r", "x=${{", "a=\"b", "c\""],
            Some(&["c", "r", "x=${{", "a=b c"]),
        );
        check(
            "c r a=\"b c\" x={;",
            &["c", "r", "a=\"b", "c\"", "x="],
            None,
        );
    }

    #[test]
    fn a_quote_must_close_and_end_the_word() {
        check("c r a=\"b;", &["c", "r", "a=\"b"], None);
        check("c r a=\"b\"x;", &["c", "r", "a=\"b\"x"], None);
        check("c r a=\"b 'c;", &["c", "r", "a=\"b", "'c"], None);
    }

    #[test]
    fn nothing_is_found_in_another_text() {
        check("c r a=\"1 2\";", &["c", "r", "a=\"1", "3\""], None);
        check("", &["c"], None);
        check("c r a=\"1 2\"", &["c", "r", "a=\"1", "2\""], None);
    }

    #[test]
    fn only_a_named_argument_opens_a_quote() {
        assert!(opens_quote(b"a=\"b"));
        assert!(opens_quote(b"a='"));
        for arg in ["", "=\"b", "a=b\"", "\"a=b", "a", "a==\"b"] {
            assert!(!opens_quote(arg.as_bytes()), "{arg}");
        }
    }
}
