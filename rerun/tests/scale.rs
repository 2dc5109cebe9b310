//! `rerun scale` with a real nginx: the module in the way that `make build` has left it behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A folder that is gone when this is dropped.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn all_wait_in_one_worker_and_the_page_says_what_they_cost() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    if !root.join("target/module/test.env").is_file() {
        eprintln!("skipped: `make build` has not run");
        return;
    }
    let place = Place(std::env::temp_dir().join(format!("rerun-scale-{}", std::process::id())));
    let output = Command::new(env!("CARGO_BIN_EXE_rerun"))
        .args([
            "scale",
            "nginx-rust",
            "nginx-return",
            "--waiting",
            "600",
            "--rounds",
            "1",
            "--output",
        ])
        .arg(&place.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");

    let json = fs::read_to_string(place.0.join("scale.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    for (at, protocol) in ["HTTP/1.1", "HTTP/2"].iter().enumerate() {
        let table = &json["tables"][at];
        assert_eq!(table["protocol"], *protocol);
        let (waits, floor) = (
            &table["rows"][0]["rounds"][0],
            &table["rows"][1]["rounds"][0],
        );
        assert_eq!(
            (&waits["answers"], &floor["answers"]),
            (&600.into(), &600.into()),
            "{said}"
        );
        // A request's pool alone is 4 KB, and a page of memory more is not much.
        let bytes = waits["memory_bytes"].as_f64().unwrap();
        assert!((4_000.0..40_000.0).contains(&bytes), "{bytes}");
        assert!(waits["lateness"]["min"].as_f64() >= Some(-1.0), "{waits}");
        assert!(floor["memory_bytes"].is_null(), "{floor}");
        assert!(waits["cpu_us"].as_f64() > Some(0.0) && floor["cpu_us"].as_f64() > Some(0.0));
    }
    let page = fs::read_to_string(place.0.join("scale.md")).unwrap();
    assert!(page.contains("| HTTP/2, 600 |"), "{page}");
    let plot = fs::read_to_string(place.0.join("scale/memory-http2.svg")).unwrap();
    assert!(plot.contains("nginx-rust, 600: "), "{plot}");
}
