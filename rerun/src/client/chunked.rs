//! A chunked body (RFC 9112, section 7.1) compared with the expected one, without copying either.

#[derive(Debug, PartialEq)]
pub enum Compared {
    /// Right so far, and not whole.
    More,
    /// Equal; the body with its framing is so many bytes long.
    Equal(usize),
    /// Other bytes.
    Differs,
    /// Too many bytes, or too few.
    Length,
    /// No chunks.
    Broken(&'static str),
}

/// A line of the framing that is longer than this is none.
const LONGEST_LINE: usize = 4096;

pub fn compare(body: &[u8], expected: &[u8]) -> Compared {
    let mut at = 0;
    let mut left = expected;
    loop {
        let Some(line) = line(&body[at..]) else {
            return unfinished(&body[at..]);
        };
        let Some(size) = size(line) else {
            return Compared::Broken("a chunk without its size");
        };
        at += line.len() + 2;
        if size == 0 {
            break;
        }
        if size > left.len() as u64 {
            return Compared::Length;
        }
        let (chunk, rest) = left.split_at(size as usize);
        let seen = &body[at..body.len().min(at + chunk.len())];
        if seen != &chunk[..seen.len()] {
            return Compared::Differs;
        }
        left = rest;
        at += chunk.len();
        match body.get(at..at + 2) {
            Some(b"\r\n") => at += 2,
            Some(_) => return Compared::Broken("a chunk longer than its size"),
            None => return Compared::More,
        }
    }
    if !left.is_empty() {
        return Compared::Length;
    }
    // Trailer fields, up to an empty line.
    loop {
        let Some(line) = line(&body[at..]) else {
            return unfinished(&body[at..]);
        };
        at += line.len() + 2;
        if line.is_empty() {
            return Compared::Equal(at);
        }
    }
}

fn unfinished(rest: &[u8]) -> Compared {
    if rest.len() > LONGEST_LINE {
        Compared::Broken("a line of more than 4 KiB between chunks")
    } else {
        Compared::More
    }
}

/// Up to the first line end, without it.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(2).position(|two| two == b"\r\n")?;
    Some(&bytes[..end])
}

/// The number before any chunk extension.
fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii_end();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
