//! What the right answer is.

use std::time::Duration;

/// The only answer that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    pub status: u16,
    pub body: Vec<u8>,
    /// No right answer can come sooner.
    pub delay: Duration,
}

impl Expect {
    /// Status 200 with this body, at once.
    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            body: body.into(),
            delay: Duration::ZERO,
        }
    }

    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}
