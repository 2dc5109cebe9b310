//! Every file of the module that has no FFI is run under Miri: by tests of its own, or in `model/`.

mod support;

use std::collections::BTreeMap;
use std::fs;
use support::{root, texts};

/// What a file with FFI says, itself.
const FFI: [&str; 4] = ["nginx_sys", "libc::", "abi::", "extern \"C\""];

/// Without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap();
    let lines = text.lines().filter_map(|line| line.split("//").next());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names behind each `crate::`, of modules and of what the front page exports.
fn uses(code: &str) -> Vec<&str> {
    let names = code
        .split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap().split(',').collect(),
            None => vec![rest],
        });
    names
        .map(|name| {
            name.trim()
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether the file and all that it uses do without FFI. A name that is no file is the front page's.
fn has_no_ffi(name: &str, files: &BTreeMap<String, String>, above: &[&str]) -> bool {
    let code = code(&files[name]);
    let above = [above, &[name]].concat();
    !FFI.iter().any(|sign| code.contains(sign))
        && uses(&code).into_iter().all(|used| {
            let file = [format!("{used}.rs"), format!("{used}/mod.rs")]
                .into_iter()
                .find(|file| files.contains_key(file));
            file.is_some_and(|file| above.contains(&&*file) || has_no_ffi(&file, files, &above))
        })
}

#[test]
fn every_file_without_ffi_is_run_under_miri() {
    let files = texts("src", &[".rs"]);
    let model = fs::read_to_string(root().join("model/src/lib.rs")).unwrap();
    let without: Vec<&String> = files
        .keys()
        .filter(|name| has_no_ffi(name, &files, &[]))
        .collect();
    for known in [
        "parse.rs",
        "wake/door.rs",
        "wake/slots.rs",
        "sleep/timers.rs",
        "shared/table.rs",
    ] {
        assert!(
            without.iter().any(|name| *name == known),
            "{known} among {without:?}"
        );
    }
    for name in without {
        assert!(
            files[name].contains("#[test]") || model.contains(&format!("/src/{name}\"")),
            "src/{name} has no FFI, and neither tests of its own nor a place in model/src/lib.rs"
        );
    }
}

#[test]
fn ffi_shows_in_what_a_file_uses() {
    let files = BTreeMap::from(
        [
            ("plain.rs", "use std::fmt; // crate::abi::Conf"),
            ("user.rs", "use crate::{\n    plain,\n    deep::Thing,\n};"),
            ("deep/mod.rs", "use crate::plain;\nuse crate::user;"),
            ("ffi.rs", "use nginx_sys::ngx_int_t;"),
            ("behind.rs", "use crate::ffi::Thing;"),
            ("front.rs", "use crate::{Request, plain};"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned())),
    );
    let without: Vec<&String> = files
        .keys()
        .filter(|name| has_no_ffi(name, &files, &[]))
        .collect();
    assert_eq!(without, ["deep/mod.rs", "plain.rs", "user.rs"]);
}
