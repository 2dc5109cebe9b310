//! The directory of one server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory with the server root in it, removed when dropped unless kept.
#[derive(Debug)]
pub(crate) struct Room {
    dir: TempDir,
}

impl Room {
    pub fn new() -> io::Result<Room> {
        let room = Room {
            dir: tempfile::Builder::new().prefix("test-nginx-").tempdir()?,
        };
        for part in ["logs", "html", "conf"] {
            fs::create_dir_all(room.root().join(part))?;
        }
        let page = "<html><head><title>It works!</title></head><body>It works!</body></html>";
        fs::write(room.html().join("index.html"), page)?;
        Ok(room)
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// What nginx takes for its prefix.
    pub fn root(&self) -> PathBuf {
        self.dir().join("servroot")
    }

    pub fn html(&self) -> PathBuf {
        self.root().join("html")
    }

    pub fn conf(&self) -> PathBuf {
        self.root().join("conf/nginx.conf")
    }

    pub fn error_log(&self) -> PathBuf {
        self.root().join("logs/error.log")
    }

    pub fn access_log(&self) -> PathBuf {
        self.root().join("logs/access.log")
    }

    pub fn pid_file(&self) -> PathBuf {
        self.root().join("logs/nginx.pid")
    }

    pub fn stderr(&self) -> PathBuf {
        self.dir().join("nginx.stderr")
    }

    /// Leaves the directory behind for someone to look into.
    pub fn keep(&mut self) {
        self.dir.disable_cleanup(true);
    }
}
