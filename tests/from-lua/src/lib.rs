//! The Rust programs of `docs/from-lua.md`.

use content_by_rust::*;
use futures::future::select;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));
