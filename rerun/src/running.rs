//! A contender that has been started: all that measuring needs to know of it.

use std::net::SocketAddr;
use std::time::Duration;

use crate::result;

/// A server that answers, until its owner ends it.
#[derive(Clone, Debug)]
pub struct Running {
    /// The name of its folder.
    pub name: String,
    pub address: SocketAddr,
    /// The root of its process tree: what it uses is the sum over this process and all that descend from it.
    pub root: u32,
    /// Answers at once.
    pub hello: Endpoint,
    /// Answers after a delay.
    pub delay: Endpoint,
    /// What the result file says of it.
    pub about: result::Contender,
}

/// One address of a contender, and what it must answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    pub path: String,
    pub body: Vec<u8>,
    pub delay: Duration,
}
