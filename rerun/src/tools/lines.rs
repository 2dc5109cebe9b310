//! The lines that a generator prints, as a table in their order.

use super::printed::Printed;

/// Reads what follows the mark; `None` if that is not what the generator prints there.
pub type Read = fn(&mut Printed, &str) -> Option<()>;

/// How a line is known.
pub enum Mark {
    Starts(&'static str),
    /// Gives what is to be read.
    Like(fn(&str) -> Option<&str>),
}

/// How much a line by itself says that a generator has printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nothing else prints it.
    Strong,
    /// Only beside others: prose may look like it.
    Weak,
    /// It says nothing, and may stand anywhere between others.
    Noise,
}

/// One kind of line.
pub struct Line {
    pub mark: Mark,
    pub weight: Weight,
    /// It may follow itself.
    pub repeats: bool,
    /// As the generator prints it.
    pub example: &'static str,
    pub read: Read,
}

impl Line {
    /// What is to be read of `text`, if it is such a line.
    pub fn rest<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self.mark {
            Mark::Starts(start) => text.strip_prefix(start),
            Mark::Like(like) => like(text),
        }
    }

    pub const fn repeated(mut self) -> Self {
        self.repeats = true;
        self
    }
}

const fn line(mark: Mark, weight: Weight, example: &'static str, read: Read) -> Line {
    Line {
        mark,
        weight,
        repeats: false,
        example,
        read,
    }
}

pub const fn strong(start: &'static str, example: &'static str, read: Read) -> Line {
    line(Mark::Starts(start), Weight::Strong, example, read)
}

pub const fn weak(start: &'static str, example: &'static str, read: Read) -> Line {
    line(Mark::Starts(start), Weight::Weak, example, read)
}

pub const fn like(
    like: fn(&str) -> Option<&str>,
    weight: Weight,
    example: &'static str,
    read: Read,
) -> Line {
    line(Mark::Like(like), weight, example, read)
}

pub const fn noise(start: &'static str) -> Line {
    line(Mark::Starts(start), Weight::Noise, "", skip)
}

/// A line without figures that are of use.
pub fn skip(_: &mut Printed, _: &str) -> Option<()> {
    Some(())
}

/// A line that begins with a rank: `50%`, `99.9%`.
pub fn rank(text: &str) -> Option<&str> {
    let end = text.find('%')?;
    let is_number = text[..end]
        .parse::<f64>()
        .is_ok_and(|rank| (0.0..=100.0).contains(&rank));
    (is_number && text.starts_with(|c: char| c.is_ascii_digit())).then_some(text)
}

/// A line that begins with `[`, as a status or a count in a distribution does.
pub fn bracket(text: &str) -> Option<&str> {
    text.strip_prefix('[')
}
