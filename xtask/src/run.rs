//! `make run`: nginx in the foreground with the module, beside Lua and echo where it has them.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Result;

use crate::nginx::{self, Choice, Nginx};
use crate::{build, project, shell};

pub fn run(choice: &Choice) -> Result<()> {
    let nginx = nginx::prepare(choice)?;
    build::shipped(&nginx)?;
    let conf = conf(&nginx);
    println!(
        "{} with {conf}: http://127.0.0.1:8080/ tells what there is, Ctrl-C ends it",
        nginx.name
    );
    // nginx takes this process's place, and so the terminal's signals.
    Err(command(&nginx, conf).exec().into())
}

/// The comparison, where this nginx can run it.
pub fn conf(nginx: &Nginx) -> &'static str {
    if nginx.knows("content_by_lua_block") && nginx.knows("echo_sleep") {
        "nginx-conf/compare.conf"
    } else {
        "nginx-conf/rust.conf"
    }
}

/// nginx on a configuration of nginx-conf/, as one would start it by hand.
pub fn command(nginx: &Nginx, conf: &str) -> Command {
    let mut command = shell::command(&nginx.binary);
    command
        .arg("-p")
        .arg(project::root())
        .args(["-c", conf, "-e", "stderr"]);
    command
}
