//! Compiles the fault that only C can have.

fn main() {
    println!("cargo::rerun-if-changed=src/shift.c");
    cc::Build::new().file("src/shift.c").compile("shift");
}
