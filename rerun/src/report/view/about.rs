//! The machine, the run, and the contenders as they ran.

use std::time::{Duration, UNIX_EPOCH};

use super::megabytes;
use crate::client::ceiling;
use crate::gates::n;
use crate::report::lang::Speech;
use crate::result::{self, Run};

/// A contender as it ran.
pub struct Contender<'a> {
    pub name: &'a str,
    pub title: &'a str,
    /// What it is, and what limits it: a name and a text each.
    pub facts: Vec<(String, String)>,
    /// Commands and files by name, word for word.
    pub texts: Vec<(String, &'a str)>,
}

pub(super) fn facts(run: &Run, speech: &Speech) -> Vec<(String, String)> {
    let machine = &run.machine;
    let budget = &run.budget;
    let mut facts = Vec::new();
    let mut add = |name: &str, text: String| facts.push((speech.say(name), speech.say(&text)));
    let kind = match machine.virtual_machine {
        true => ", a virtual machine",
        false => "",
    };
    let cores = machine.cpus.len();
    let cpu = &machine.cpu;
    add("machine", format!("{cpu}, {cores} cores{kind}"));
    add("memory", format!("{} MB", megabytes(machine.memory_bytes)));
    add(
        "operating system",
        format!("{}; {}", machine.system, machine.kernel),
    );
    let shared = match budget.shared() {
        true => ": SHARED",
        false => "",
    };
    let (server, client) = (list(&budget.server_cpus), list(&budget.client_cpus));
    add(
        "cores",
        format!("server on core {server}, client on core {client}{shared}"),
    );
    add(
        "limits",
        format!(
            "{} open files, local ports {} to {}, listen queues of {}",
            n(machine.open_files as f64),
            machine.local_ports.0,
            machine.local_ports.1,
            n(machine.listen_queue as f64)
        ),
    );
    let began = UNIX_EPOCH + Duration::from_secs(run.started_s);
    let began = humantime::format_rfc3339_seconds(began);
    let took = n(run.took_s.round());
    add("measured", format!("{began}, in {took} s"));
    add("rerun", run.version.clone());
    if let Some(quick) = &run.quick {
        add("quick", quick.clone());
    }
    if let Some(measured) = &run.ceiling {
        for line in ceiling::words(measured).lines() {
            add("client", line.into());
        }
    }
    facts
}

pub(super) fn contender<'a>(
    name: &'a str,
    contender: &'a result::Contender,
    speech: &Speech,
) -> Contender<'a> {
    let mut facts = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            facts.push((speech.say(name), speech.say(text)));
        }
    };
    add("notes", &contender.notes);
    add("stands for", &contender.stands_for);
    add("limited by", contender.limited_by.as_deref().unwrap_or(""));
    add("missing", contender.missing.as_deref().unwrap_or(""));
    let versions = contender.versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    add("versions", &versions.join(", "));
    let commands = [("build", &contender.build), ("start", &contender.start)];
    let commands = commands.iter().flat_map(|(name, commands)| {
        let commands = commands.iter();
        commands.map(|command| (speech.say(name), command.as_str()))
    });
    let files = contender.files.iter();
    let files = files.map(|(name, text)| (name.clone(), text.as_str()));
    Contender {
        name,
        title: &contender.title,
        facts,
        texts: commands.chain(files).collect(),
    }
}

/// The command line, wherever the program was.
pub(super) fn again(command: &[String]) -> String {
    let arguments = command.iter().skip(1).map(String::as_str);
    let words = std::iter::once("rerun").chain(arguments);
    // Only a NUL cannot be quoted, and no argument of a process has one.
    shlex::try_join(words).unwrap_or_default()
}

fn list(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    cpus.join(", ")
}
