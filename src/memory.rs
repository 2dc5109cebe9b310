//! Memory of Rust's that may not be there. What the standard library takes for itself ends the
//! process then, and the worker with it; what the module takes ends a request.

use std::fmt::{self, Write};

/// A value on the heap, as the only one of an array: the standard library has no box that can fail.
pub(crate) fn boxed<T>(value: T) -> Option<Box<[T; 1]>> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).ok()?;
    one.push(value);
    one.into_boxed_slice().try_into().ok()
}

/// A copy of some bytes.
pub(crate) fn copied(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).ok()?;
    copy.extend_from_slice(bytes);
    Some(copy)
}

/// What a message says.
pub(crate) fn text(message: impl fmt::Display) -> Option<String> {
    let mut text = Text(String::new());
    write!(text, "{message}").ok()?;
    Some(text.0)
}

struct Text(String);

impl Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.0.try_reserve(more.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_memory_for_is_the_same() {
        assert_eq!(*boxed("value".to_owned()).unwrap(), ["value"]);
        assert_eq!(*boxed(()).unwrap(), [()]);
        assert_eq!(copied(b"bytes").unwrap(), b"bytes");
        assert_eq!(copied(b"").unwrap(), b"");
        assert_eq!(text(format_args!("{}, {}", 1, "two")).unwrap(), "1, two");
    }

    #[test]
    fn what_cannot_be_shown_is_no_text() {
        struct Unshown;
        impl fmt::Display for Unshown {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        assert_eq!(text(Unshown), None);
    }
}
