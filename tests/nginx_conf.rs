//! `nginx-conf/`: nginx accepts each of the configurations, as it stands.

mod support;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::source::copy_tree;
use support::{binary, companions, module, root};

#[test]
fn nginx_accepts_each() {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nginx-conf");
    let _ = fs::remove_dir_all(&room);
    copy_tree(&root().join("nginx-conf"), &room.join("nginx-conf"));
    // What `make build` leaves there.
    let mut modules = String::new();
    for file in companions().into_iter().chain([module("")]) {
        let _ = writeln!(modules, "load_module {file};");
    }
    for (folder, file, text) in [
        ("module", "modules.conf", &*modules),
        ("run", "nginx.pid", ""),
    ] {
        let folder = room.join("target").join(folder);
        fs::create_dir_all(&folder).expect("a directory");
        fs::write(folder.join(file), text).expect("a file");
    }

    let all = fs::read_dir(room.join("nginx-conf")).expect("a directory");
    for conf in all.flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&conf).expect("a configuration");
        if text.contains("_by_lua_block") && !modules.contains("lua") {
            eprintln!("skipped: there is no Lua module for this nginx");
            continue;
        }
        let mut nginx = Command::new(binary());
        nginx.arg("-p").arg(&room).arg("-c").arg(&conf);
        let said = nginx
            .args(["-e", "stderr", "-t"])
            .output()
            .expect("nginx runs");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(errors.contains("test is successful"), "{errors}");
        assert!(!errors.contains("[warn]"), "{errors}");
    }
}
