//! Reading a log while nginx writes it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// A log and how far it has been read.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    position: u64,
}

impl Log {
    pub fn new(path: PathBuf) -> Log {
        Log { path, position: 0 }
    }

    /// What has been written from where the reader is.
    pub fn rest(&self) -> Vec<u8> {
        read_from(&self.path, self.position)
    }

    /// Moves over `len` bytes.
    pub fn skip(&mut self, len: usize) {
        self.position += len as u64;
    }
}

/// The whole text of a log, as far as it can be read.
pub(crate) fn text(path: &Path) -> String {
    String::from_utf8_lossy(&read_from(path, 0)).into_owned()
}

fn read_from(path: &Path, position: u64) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(path) {
        // What could be read is the answer; a log that is not there yet is empty.
        let _ = file
            .seek(SeekFrom::Start(position))
            .and_then(|_| file.read_to_end(&mut text));
    }
    text
}

/// Lines, each with its line feed.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&c| c == b'\n')
}

/// The end of an error log: debug messages only if there is nothing else.
pub(crate) fn tail(text: &str, count: usize) -> String {
    // A message may go on over lines that do not begin with a date.
    let mut debug = false;
    let is_other = |line: &&str| {
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            debug = line.contains("[debug]");
        }
        !debug
    };
    let mut lines: Vec<&str> = text.lines().filter(is_other).collect();
    if lines.is_empty() {
        lines = text.lines().collect();
    }
    let start = lines.len().saturating_sub(count);
    let short = |line: &&str| match line.char_indices().nth(500) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => (*line).to_owned(),
    };
    let lines: Vec<String> = lines[start..].iter().map(short).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_what_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = Log::new(path.clone());
        assert_eq!(log.rest(), b"");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        log.skip(4);
        assert_eq!(log.rest(), b"two\n");
    }

    #[test]
    fn the_tail_leaves_out_debug_messages() {
        assert_eq!(
            tail("1 a\n2 [debug] b\nmore of it\n3 c\nd\n", 3),
            "1 a\n3 c\nd"
        );
        assert_eq!(tail("1 a\n2 b\n3 c\n", 2), "2 b\n3 c");
        assert_eq!(tail("2 [debug] b\n", 2), "2 [debug] b");
        assert_eq!(tail(&"x".repeat(10000), 1).len(), 503);
    }
}
