//! Where an HTTP/1 answer's body ends.

/// How the end of a body is told, and how much of it is to come (RFC 9112, section 6).
#[derive(Debug, PartialEq, Eq)]
pub enum Framing {
    Length(usize),
    Chunked(Chunk),
    Close,
}

/// What comes next in a chunked body.
#[derive(Debug, PartialEq, Eq)]
pub enum Chunk {
    Size,
    Data(usize),
    /// The line end behind the data; behind that of no data nothing comes.
    End {
        last: bool,
    },
}

impl Framing {
    /// Moves what belongs to the body from `unread` to `body`, and says whether that was all of it.
    pub fn take(&mut self, unread: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<bool, String> {
        match self {
            Framing::Length(left) => {
                let some = unread.len().min(*left);
                body.extend(unread.drain(..some));
                *left -= some;
                Ok(*left == 0)
            }
            Framing::Close => {
                body.append(unread);
                Ok(false)
            }
            Framing::Chunked(next) => next.take(unread, body),
        }
    }
}

impl Chunk {
    fn take(&mut self, unread: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<bool, String> {
        loop {
            match self {
                Chunk::Size => match httparse::parse_chunk_size(unread) {
                    Ok(httparse::Status::Complete((length, 0))) => {
                        unread.drain(..length);
                        *self = Chunk::End { last: true };
                    }
                    Ok(httparse::Status::Complete((length, size))) => {
                        unread.drain(..length);
                        *self = Chunk::Data(size as usize);
                    }
                    Ok(httparse::Status::Partial) => return Ok(false),
                    Err(_) => {
                        return Err(format!("no chunk's size: \"{}\"", unread.escape_ascii()));
                    }
                },
                Chunk::Data(left) => {
                    let some = unread.len().min(*left);
                    body.extend(unread.drain(..some));
                    *left -= some;
                    if *left > 0 {
                        return Ok(false);
                    }
                    *self = Chunk::End { last: false };
                }
                Chunk::End { last } => {
                    if unread.len() < 2 {
                        return Ok(false);
                    }
                    if !unread.starts_with(b"\r\n") {
                        return Err("a chunk longer than its size".to_owned());
                    }
                    unread.drain(..2);
                    if *last {
                        return Ok(true);
                    }
                    *self = Chunk::Size;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(mut framing: Framing, bytes: &[u8]) -> (Vec<u8>, bool, Vec<u8>) {
        let (mut unread, mut body, mut end) = (Vec::new(), Vec::new(), false);
        for byte in bytes {
            unread.push(*byte);
            if !end {
                end = framing.take(&mut unread, &mut body).unwrap();
            }
        }
        (body, end, unread)
    }

    #[test]
    fn bodies_end_where_they_say() {
        assert_eq!(
            whole(Framing::Length(3), b"abcd"),
            (b"abc".to_vec(), true, b"d".to_vec())
        );
        let chunks = b"3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\nHTTP";
        let expected = (b"abc0123456789".to_vec(), true, b"HTTP".to_vec());
        assert_eq!(whole(Framing::Chunked(Chunk::Size), chunks), expected);
        assert_eq!(
            whole(Framing::Close, b"abc"),
            (b"abc".to_vec(), false, vec![])
        );
    }

    #[test]
    fn broken_chunks_are_no_body() {
        let take =
            |bytes: &[u8]| Framing::Chunked(Chunk::Size).take(&mut bytes.to_vec(), &mut vec![]);
        assert!(take(b"x\r\n").is_err());
        assert!(take(b"1\r\nabc").is_err());
        assert_eq!(take(b"3\r\nab"), Ok(false));
    }
}
