//! Runs Test::Nginx::Socket files against a real nginx.
//!
//! A test file (`t/hello.t`) is the Perl that it always was; perl itself reads
//! it. What has to do with nginx and sockets is done here: each block gets an
//! nginx with its own port and directory, and blocks run side by side.
//!
//! A crate that has such files needs a test target with `harness = false`,
//! whose `main` is
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     test_nginx::run(["t"])
//! }
//! ```
//!
//! Then `cargo test` runs all blocks and `cargo test hello.t` those of one file.
//!
//! [`Server`] is for tests written in Rust that need an nginx.

mod block;
mod check;
mod check_log;
mod client;
mod conf;
mod curl;
mod exchange;
mod expand;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod harness;
mod log;
mod missing;
mod mock;
mod nginx;
mod perl;
mod port;
mod process;
mod report;
mod request;
mod response;
mod room;
mod run;
mod sections;
mod server;
mod user_files;
mod value;

use std::path::Path;
use std::process::ExitCode;

pub use harness::Harness;
pub use nginx::{Nginx, Version};
pub use process::spawn;
pub use server::{Server, ServerBuilder, Signal};

/// Runs the `.t` files, and those in the directories, of `paths`.
pub fn run<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> ExitCode {
    paths.into_iter().fold(Harness::new(), Harness::path).run()
}
