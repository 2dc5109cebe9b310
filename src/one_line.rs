//! A message on one line, whatever is in it. No FFI.

use std::fmt::{self, Write};

/// A message whose control characters are written as `\x0A`, as nginx's access log writes them:
/// a text of a client's can neither end a line nor begin one.
pub(crate) struct OneLine<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escape(f), "{}", self.0)
    }
}

struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(char::is_control) {
            let (plain, tail) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut chars = tail.chars();
            if let Some(control) = chars.next() {
                write!(self.0, "\\x{:02X}", u32::from(control))?;
            }
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let text = "a\nb\r\0\x1b[31m\u{85}größer\t\\n\"";
        let line = OneLine(format_args!("{text}!")).to_string();
        assert_eq!(line, r#"a\x0Ab\x0D\x00\x1B[31m\x85größer\x09\n"!"#);
        assert_eq!(OneLine("").to_string(), "");
    }
}
