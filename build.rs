//! Compiles the C shim against the headers of the nginx that the module is for, and binds it.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=src/abi/shim.c");
    println!("cargo::rerun-if-changed=src/abi/shim.h");
    for name in ["DEP_NGINX_INCLUDE", "DEP_NGINX_CFLAGS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }

    // nginx-sys says where the headers are and which macros its Makefile defines.
    let include = env::var_os("DEP_NGINX_INCLUDE").expect("nginx-sys sets DEP_NGINX_INCLUDE");
    let includes: Vec<PathBuf> = env::split_paths(&include).collect();
    let defines: Vec<String> = env::var("DEP_NGINX_CFLAGS")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect();

    let mut shim = cc::Build::new();
    shim.file("src/abi/shim.c")
        .includes(&includes)
        .opt_level(2)
        // As rustc does: the shim's functions are the module's own, and calls into nginx go
        // through the table of addresses at once.
        .flag_if_supported("-fvisibility=hidden")
        .flag_if_supported("-fno-plt");
    for define in &defines {
        shim.flag(define);
    }
    shim.compile("content_by_rust_shim");

    let bindings = bindgen::Builder::default()
        .header("src/abi/shim.h")
        .clang_args(includes.iter().map(|dir| format!("-I{}", dir.display())))
        .clang_args(&defines)
        .allowlist_item("cbr_.*")
        .blocklist_type("(ngx|u_char|size_t).*")
        .raw_line("use nginx_sys::*;")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .layout_tests(false)
        .use_core()
        .generate()
        .expect("bindgen reads src/abi/shim.h");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    bindings
        .write_to_file(out.join("shim.rs"))
        .expect("OUT_DIR can be written");

    // nginx defines the symbols that a module uses when it loads it. A test program has no
    // nginx around it, and must link all the same.
    println!("cargo::rustc-link-arg=-Wl,--unresolved-symbols=ignore-all");
}
