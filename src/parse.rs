//! Texts of a configuration or a request, and what they mean. No FFI.

use std::time::Duration;

/// Reads nginx's time syntax, as it is documented for milliseconds: numbers with the units `M`,
/// `w`, `d`, `h`, `m`, `s` and `ms`, each at most once and in this order, with or without spaces
/// between; a last number without a unit counts seconds. nginx's own directives in milliseconds
/// refuse `M`, and take some more that is not documented, such as `20ms20`.
/// <https://nginx.org/en/docs/syntax.html>
pub(crate) fn time(text: &[u8]) -> Option<Duration> {
    const UNITS: [(&[u8], u64); 7] = [
        (b"M", 30 * 24 * 60 * 60 * 1000),
        (b"w", 7 * 24 * 60 * 60 * 1000),
        (b"d", 24 * 60 * 60 * 1000),
        (b"h", 60 * 60 * 1000),
        (b"m", 60 * 1000),
        (b"s", 1000),
        (b"ms", 1),
    ];

    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut units = UNITS.as_slice();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let value = unsigned(take_while(&mut rest, u8::is_ascii_digit))?;
        let letters = take_while(&mut rest, u8::is_ascii_alphabetic);
        take_while(&mut rest, |c| *c == b' ');
        let name = match letters {
            b"" if rest.is_empty() => b"s",
            b"" => return None,
            letters => letters,
        };
        let unit = units.iter().position(|(unit, _)| *unit == name)?;
        total = total.checked_add(value.checked_mul(units[unit].1)?)?;
        units = &units[unit + 1..];
    }
    // nginx counts in a signed word.
    (total <= i64::MAX as u64).then(|| Duration::from_millis(total))
}

/// Reads a decimal number without a sign.
pub(crate) fn unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, c| {
        let digit = c.is_ascii_digit().then(|| u64::from(c - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn take_while<'a>(text: &mut &'a [u8], matches: impl Fn(&u8) -> bool) -> &'a [u8] {
    let len = text.iter().take_while(|c| matches(c)).count();
    let (taken, rest) = text.split_at(len);
    *text = rest;
    taken
}

/// Splits `NAME=VALUE` at its first `=`; `None` where there is no name in front of one.
pub(crate) fn named(arg: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = arg.iter().position(|&c| c == b'=').filter(|&at| at > 0)?;
    Some((&arg[..at], &arg[at + 1..]))
}

/// The arguments of a query in their order, neither names nor values decoded.
pub(crate) fn args(query: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let pairs = query.split(|&c| c == b'&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| match pair.iter().position(|&c| c == b'=') {
        Some(at) => (&pair[..at], &pair[at + 1..]),
        None => (pair, &b""[..]),
    })
}

/// Whether a content type is a form's, with parameters or without.
pub(crate) fn is_form(content_type: &[u8]) -> bool {
    let end = content_type.iter().position(|&c| c == b';');
    let essence = &content_type[..end.unwrap_or(content_type.len())];
    essence
        .trim_ascii()
        .eq_ignore_ascii_case(b"application/x-www-form-urlencoded")
}

/// Whether a text may stand in a header line: no control characters, which could end the line.
pub(crate) fn is_header_value(text: &[u8]) -> bool {
    text.iter().all(|&c| c == b'\t' || (c >= b' ' && c != 0x7f))
}

/// Whether a text may be a header's name: a token of RFC 9110, section 5.6.2.
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|c| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_nginx_times() {
        for (text, msec) in [
            ("0", 0),
            ("0ms", 0),
            ("20ms", 20),
            ("20", 20_000),
            ("1s", 1_000),
            ("1s500ms", 1_500),
            ("1m30s", 90_000),
            ("1m 30s", 90_000),
            ("1h 30", 3_630_000),
            ("1h30m ", 5_400_000),
            ("1d", 86_400_000),
            ("1w", 604_800_000),
            ("1M", 2_592_000_000),
            ("9223372036854775807ms", i64::MAX as u64),
        ] {
            let expected = Some(Duration::from_millis(msec));
            assert_eq!(time(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            " ",
            "ms",
            "s",
            "-1",
            "+1",
            "-1s",
            "1.5s",
            "1,5s",
            "20msec",
            "20 ms",
            "20MS",
            "1s1m",
            "1s1s",
            "1ms1s",
            "20ms20",
            "20 30",
            "1y",
            "abc",
            "1sx",
            "0x10",
            "1s\n",
            "\u{661}s",
            "9223372036854775808ms",
            "18446744073709551616ms",
            "106751991168d",
            "99999999999999999999999999s",
            "$arg_delay",
            "1h;",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(unsigned(b"0"), Some(0));
        assert_eq!(unsigned(b"00200"), Some(200));
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        for text in [
            "",
            "18446744073709551616",
            "-1",
            "+1",
            " 1",
            "1 ",
            "1.0",
            "a",
            "1_000",
        ] {
            assert_eq!(unsigned(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn header_lines_cannot_be_split() {
        assert!(is_header_value(b"text/plain; charset=utf-8"));
        assert!(is_header_value("größer\t".as_bytes()));
        assert!(is_header_value(b""));
        for text in ["a\r\nSet-Cookie: b", "a\nb", "a\rb", "a\0b", "a\x7fb"] {
            assert!(!is_header_value(text.as_bytes()), "{text:?}");
        }
        assert!(is_token(b"X-Request-Id"));
        for text in ["", "a b", "a:b", "a\r\n", "größe"] {
            assert!(!is_token(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn an_argument_has_a_name() {
        assert_eq!(named(b"a=b=c"), Some((&b"a"[..], &b"b=c"[..])));
        assert_eq!(named(b"a="), Some((&b"a"[..], &b""[..])));
        assert_eq!(named(b"=a"), None);
        assert_eq!(named(b"a"), None);
    }

    #[test]
    fn a_forms_type_with_parameters_and_in_any_case() {
        assert!(is_form(b"application/x-www-form-urlencoded"));
        assert!(is_form(
            b"Application/X-WWW-Form-URLencoded ; charset=utf-8"
        ));
        assert!(!is_form(b""));
        assert!(!is_form(b"multipart/form-data; boundary=x"));
        assert!(!is_form(b"application/x-www-form-urlencoded2"));
    }
}
