//! `cargo xtask instructions --profile ok`: the module's functions, and what they call outside of it.

use std::fmt::Write;

use anyhow::Result;

use super::callgrind::Profile;
use super::server::Place;
use super::{HELLO_ROW, OK_ROW, Row};

/// Less than this for each request is part of no request, but of a turn of the loop.
const SMALL: f64 = 0.5;

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Handler {
    Ok,
    Hello,
}

impl Handler {
    fn row(self) -> &'static Row {
        match self {
            Self::Ok => &OK_ROW,
            Self::Hello => &HELLO_ROW,
        }
    }
}

pub fn print(place: &Place, handler: Handler) -> Result<()> {
    let row = handler.row();
    let counted = super::count(place, row)?;
    println!(
        "\n`{}`, c = {}: instructions for a request",
        row.name, row.connections
    );
    print!("{}", render(&counted.profile));
    Ok(())
}

fn render(profile: &Profile) -> String {
    let mut own: Vec<_> = profile
        .own
        .iter()
        .filter(|(function, cost)| function.is_of_module() && **cost >= SMALL)
        .map(|(function, cost)| (*cost, function.plain_name()))
        .collect();
    own.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let mut out = String::new();
    for (cost, name) in own {
        let _ = writeln!(out, "{cost:8.0}  {name}");
    }
    let _ = writeln!(
        out,
        "{:8.0}  the module's own, of {:.0}",
        profile.module(),
        profile.total()
    );

    let mut outside: Vec<_> = profile
        .calls
        .iter()
        .filter(|((caller, called), calls)| {
            caller.is_of_module() && !called.is_of_module() && calls.instructions >= SMALL
        })
        .map(|((caller, called), calls)| (calls, caller.plain_name(), called.plain_name()))
        .collect();
    outside.sort_by(|one, other| other.0.instructions.total_cmp(&one.0.instructions));
    let _ = writeln!(out, "\nwhat it calls in nginx and libc, with all below");
    for (calls, caller, called) in outside {
        let _ = writeln!(
            out,
            "{:8.0}  {:.2} x {called}, by {caller}",
            calls.instructions, calls.count
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::callgrind::{Calls, Function};
    use super::*;

    #[test]
    fn the_module_alone_by_cost() {
        let function = |object: &str, name: &str| Function {
            object: object.into(),
            name: name.into(),
        };
        let module = "/m/ngx_http_rust_module.so";
        let (poll, palloc) = (function(module, "poll"), function("/n", "ngx_palloc"));
        let mut profile = Profile::default();
        profile.own.insert(function(module, "start"), 30.0);
        profile.own.insert(poll.clone(), 70.3);
        profile.own.insert(function(module, "once"), 0.1);
        profile.own.insert(palloc.clone(), 900.0);
        let calls = Calls {
            count: 1.0,
            instructions: 14.0,
        };
        profile.calls.insert((poll, palloc), calls);
        assert_eq!(
            render(&profile),
            "      70  poll\n      30  start\n     100  the module's own, of 1000\n\n\
             what it calls in nginx and libc, with all below\n      14  1.00 x ngx_palloc, by poll\n"
        );
    }
}
