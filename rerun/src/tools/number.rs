//! Numbers as generators print them, each with how far the truth may be from what was printed.

/// A printed number. Printing rounds it, or cuts it off: the truth is less than one in its last place away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// One in the last place that was printed.
    pub step: f64,
}

/// Counts above this cannot be true, and are not exact as `f64`.
const MOST: f64 = 1e15;

impl Number {
    pub fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }

    pub fn low(self) -> f64 {
        (self.value - self.step).max(0.0)
    }

    pub fn high(self) -> f64 {
        self.value + self.step
    }

    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            step: self.step * factor,
        }
    }

    /// For a generator that keeps its figures no more exactly than this part of them.
    pub fn within(self, part: f64) -> Self {
        Self {
            step: self.step + self.value * part,
            ..self
        }
    }
}

/// A number, with commas between thousands or without, and what follows it.
pub fn number(text: &str) -> Option<(Number, &str)> {
    let text = text.trim_start();
    let whole = digits(text);
    if whole == 0 || text.starts_with(',') {
        return None;
    }
    let (head, rest) = text.split_at(whole);
    let (places, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let places = after.bytes().take_while(u8::is_ascii_digit).count();
            (places, &after[places..])
        }
        None => (0, rest),
    };
    // `4,68` and `1.2.3` are no numbers that a generator prints.
    let mut after = rest.bytes();
    if matches!(after.next(), Some(b',' | b'.')) && after.next().is_some_and(|c| c.is_ascii_digit())
    {
        return None;
    }
    let all = &text[..text.len() - rest.len()];
    let value: f64 = all.replace(',', "").parse().ok()?;
    let exact = places == 0 && !head.is_empty();
    let number = Number {
        value,
        step: if exact {
            1.0
        } else {
            0.1_f64.powi(places as i32)
        },
    };
    (value < MOST).then_some((number, rest))
}

/// Bytes of the digits at the start; a comma belongs to them where three digits follow.
fn digits(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while is_digit(at)
        || (bytes.get(at) == Some(&b',')
            && (1..=3).all(|next| is_digit(at + next))
            && !is_digit(at + 4))
    {
        at += 1;
    }
    at
}

/// A number without a unit, and what follows it.
pub fn plain(text: &str) -> Option<(Number, &str)> {
    number(text).filter(|(_, rest)| !rest.starts_with(char::is_alphabetic))
}

/// A whole number that was counted, and what follows it.
pub fn count(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = plain(text)?;
    (number.step == 1.0).then_some((number.value as u64, rest))
}

/// A time in milliseconds: `31us`, `14.29ms`, `0.0123 secs`, `1.50m`; and what follows it.
pub fn time(text: &str) -> Option<(Number, &str)> {
    let (number, rest) = number(text)?;
    let (unit, rest) = word(rest);
    let ms = match unit {
        "ns" => 1e-6,
        "us" | "µs" | "μs" => 1e-3,
        "ms" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
        "m" | "min" => 60e3,
        "h" => 3600e3,
        _ => return None,
    };
    Some((number.times(ms), rest))
}

/// A size in bytes: `8.46MB`, `1.17 MiB`, `615 bytes`, all by 1024; and what follows it.
pub fn size(text: &str) -> Option<(Number, &str)> {
    let (number, rest) = number(text)?;
    let (unit, rest) = word(rest);
    let power = match unit {
        "B" | "byte" | "bytes" => {
            return Some((
                Number {
                    step: step_of_bytes(number),
                    ..number
                },
                rest,
            ));
        }
        "KB" | "KiB" => 1,
        "MB" | "MiB" => 2,
        "GB" | "GiB" => 3,
        "TB" | "TiB" => 4,
        "PB" | "PiB" => 5,
        _ => return None,
    };
    Some((number.times(1024_f64.powi(power)), rest))
}

/// Whole bytes are counted and not rounded.
fn step_of_bytes(number: Number) -> f64 {
    if number.step == 1.0 { 0.0 } else { number.step }
}

/// A number of a thread's requests: `26.57k`.
pub fn metric(text: &str) -> Option<(Number, &str)> {
    let (number, rest) = number(text)?;
    let (unit, after) = word(rest);
    let factor = match unit {
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return Some((number, rest)),
    };
    Some((number.times(factor), after))
}

/// The letters at the start, after spaces.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphabetic());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Option<(f64, f64)> {
        number(text).map(|(number, _)| (number.value, number.step))
    }

    #[test]
    fn numbers_and_their_last_places() {
        assert_eq!(all("4685.5 [#/sec]"), Some((4685.5, 0.1)));
        assert_eq!(all("  12"), Some((12.0, 1.0)));
        assert_eq!(all("1,234,567"), Some((1_234_567.0, 1.0)));
        assert_eq!(number("10, 20").unwrap().1, ", 20");
        for text in [
            "", "x", "-5", "nan", ".5", "inf", ",123", "4,68", "1,2345", "1.2.3",
        ] {
            assert_eq!(all(text), None, "{text}");
        }
        assert_eq!(plain("4685x"), None);
        assert_eq!(all(&"9".repeat(400)), None);
    }

    #[test]
    fn times() {
        let ms = |text: &str| time(text).map(|(number, _)| number.value);
        let close = |text: &str, want: f64| (ms(text).unwrap() - want).abs() < 1e-9;
        assert!(close("31us", 0.031) && close("14.29ms", 14.29) && close("1.5m", 90e3));
        assert!(close("0.0123 secs", 12.3) && close("7 µs", 0.007));
        assert_eq!(ms("5"), None);
        assert_eq!(ms(""), None);
    }

    #[test]
    fn sizes() {
        let bytes = |text: &str| size(text).map(|(number, _)| (number.value, number.step));
        assert_eq!(bytes("615 bytes"), Some((615.0, 0.0)));
        assert_eq!(bytes("1.5KB"), Some((1536.0, 102.4)));
        assert_eq!(bytes("1.5 MiB").unwrap().0, 1_572_864.0);
        assert_eq!(bytes("5 apples"), None);
    }
}
