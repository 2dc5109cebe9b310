//! Takes the Rust programs out of `docs/from-lua.md`.

#[path = "src/page.rs"]
mod page;

use page::Part;
use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    const PAGE: &str = "../../docs/from-lua.md";
    println!("cargo::rerun-if-changed={PAGE}");
    let text = std::fs::read_to_string(PAGE).expect("the page can be read");
    let parts = Part::all(&text);

    let mut programs = String::new();
    for part in &parts {
        let _ = writeln!(programs, "// {}\n{}", part.title, part.block("rust"));
    }
    let tasks = parts.iter().flat_map(Part::tasks);
    let mut entries: Vec<String> = tasks.map(|task| format!("background {task}")).collect();
    entries.extend(parts.iter().map(|part| part.handler().to_owned()));
    let _ = writeln!(
        programs,
        "content_by_rust::module! {{ {} }}",
        entries.join(", ")
    );

    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("programs.rs"), programs).expect("OUT_DIR can be written");
}
