//! `rerun audit` on outputs as the generators printed them, and on figures as they were published.
//!
//! `tests/audit/*.txt` are real outputs of ab 2.3, wrk 4.1.0, wrk2 4.0.0, h2load 1.52.0, hey 0.1.4, oha 1.4.5 and drill
//! 0.9.1 against one nginx; `*.md` are pastes.

use std::io::Write;
use std::process::{Command, Stdio};

const RERUN: &str = env!("CARGO_BIN_EXE_rerun");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audit");

/// The exit code, and what was printed with single spaces.
fn audit(file: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(RERUN);
    command
        .arg("audit")
        .args(arguments)
        .arg(file)
        .current_dir(FOLDER);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    (output.status.code().unwrap(), words.join(" "))
}

/// Says all of these, and exits with that code.
fn says(file: &str, arguments: &[&str], code: i32, texts: &[&str]) {
    let (exited, said) = audit(file, arguments);
    assert_eq!(exited, code, "{file}: {said}");
    for text in texts {
        assert!(said.contains(text), "{file} does not say {text:?}: {said}");
    }
}

#[test]
fn error_pages_are_counted_by_all() {
    let left = ", which leaves 0 of ";
    says(
        "ab-404.txt",
        &[],
        1,
        &[
            "failed 3,000 of 3,000 answers had another status than 2xx",
            left,
        ],
    );
    says(
        "wrk-404.txt",
        &[],
        1,
        &[
            "failed 127,923 of 127,923 answers had a status of 400 or more",
            left,
        ],
    );
    says(
        "h2load-404.txt",
        &[],
        1,
        &["(4xx: 58,235)", left, "as long as nginx's 404 page"],
    );
    says(
        "oha-404.txt",
        &[],
        1,
        &["89,741 of 89,747 answers", "(404: 89,741)", left],
    );
    says(
        "hey-mix.txt",
        &[],
        1,
        &[
            "15,752 of 52,450 answers",
            "(503: 15,752)",
            "leaves 18,272 of 26,114",
        ],
    );
    says(
        "drill-none.txt",
        &[],
        1,
        &["failed 500 of 500 requests failed", left],
    );
    says(
        "hey-refused.txt",
        &[],
        1,
        &["(connection refused: 20)", left],
    );
    says(
        "wrk-refused.txt",
        &[],
        1,
        &["wrk gave up: unable to connect to 127.0.0.1:18397"],
    );
}

#[test]
fn a_server_that_is_asked_for_too_much() {
    says(
        "ab-gave-up.txt",
        &[],
        1,
        &["ab gave up after 534 requests: Connection reset by peer (104)"],
    );
    says(
        "wrk-over.txt",
        &[],
        1,
        &["failed errors without an answer (read: 25,505): about one read error a request or more"],
    );
    says(
        "oha-over.txt",
        &[],
        1,
        &[
            "(operation was canceled: 316, connection closed before message completed: 162, connection error: 18)",
        ],
    );
}

#[test]
fn right_answers_prove_what_they_can() {
    let meant = ["--delay", "20ms", "--body", "OK\\n", "--connections", "50"];
    let body = "proves bodies have 3 bytes, as the one that was meant";
    let law = "Little's law holds";
    says(
        "h2load-slow.txt",
        &meant,
        0,
        &[
            body,
            law,
            "no answer before 19.3 ms",
            "93 % of 20 connections",
        ],
    );
    says(
        "oha-slow.txt",
        &meant,
        0,
        &[
            body,
            law,
            "no answer before 19.7 ms",
            "90 % of 50 connections",
        ],
    );
    says(
        "ab-slow.txt",
        &meant,
        0,
        &[
            body,
            "proves 2,000 requests, all answered with a status of 2xx",
        ],
    );
    says(
        "wrk-slow.txt",
        &meant,
        0,
        &[law, "94 % of 50 connections", "169 bytes with their heads"],
    );
    says(
        "wrk2-slow.txt",
        &meant,
        0,
        &["no answer before 19.2 ms", "wrk2 calibrates for 10 s"],
    );
    says(
        "drill-slow.txt",
        &meant,
        0,
        &["no least latency was printed", "--connections says 50"],
    );
    says(
        "h2load-threads.txt",
        &meant,
        0,
        &["of 20: Little's law holds"],
    );
}

#[test]
fn a_wait_that_nobody_waited_is_impossible() {
    for (file, least) in [
        ("ab-hello.txt", "the greatest latency is"),
        ("wrk-hello.txt", "p99 is 12.5 ms"),
        (
            "hey-hello.txt",
            "no right answer takes less than 19 ms: 20 ms were not waited",
        ),
        ("oha-404.txt", "20 ms were not waited"),
    ] {
        says(file, &["--delay", "20ms"], 1, &["impossible", least]);
    }
    let ceiling =
        "impossible 83,192 requests/s are more than 50 connections / 20 ms = 2,500 requests/s";
    says("wrk-hello.txt", &["--delay", "20ms"], 1, &[ceiling]);
    // Streams of HTTP/2 are not printed, so the ceiling is not known.
    says(
        "h2load-h2.txt",
        &["--delay", "20ms"],
        1,
        &["cannot say how near the rate is to its ceiling"],
    );
}

#[test]
fn another_body_is_no_right_answer() {
    let longer = "failed bodies have 6 bytes, not the 7 bytes";
    says("ab-hello.txt", &["--body", "7"], 1, &[longer]);
    says(
        "ab-hello.txt",
        &["--body", "OK\\n"],
        1,
        &["failed bodies have 6 bytes, not the 3 bytes of \"OK\\n\""],
    );
    says(
        "ab-hello.txt",
        &["--body", "6"],
        0,
        &["proves bodies have 6 bytes"],
    );
    says(
        "wrk-hello.txt",
        &["--body", "2000"],
        1,
        &["153 bytes with their heads, too few for the 2000 bytes"],
    );
    says(
        "hey-few.txt",
        &["--body", "3"],
        0,
        &["cannot say how long the bodies were"],
    );
}

#[test]
fn means_of_wrk_are_not_called_impossible() {
    let (code, said) = audit("wrk-hello.txt", &[]);
    assert_eq!(code, 0);
    assert!(!said.contains("impossible"), "{said}");
    assert!(
        said.contains("wrk adds latencies that it believes to have missed"),
        "{said}"
    );
}

#[test]
fn what_a_reader_must_know() {
    says(
        "ab-hello.txt",
        &[],
        0,
        &[
            "careful ab opened a connection for each request (HTTP/1.0 without -k)",
            "careful ab has one thread: at 13,262 requests/s it may itself be the limit",
            "careful it took 0.226 s, which is short",
        ],
    );
    says(
        "wrk-404.txt",
        &[],
        1,
        &["careful wrk -t2 -c51 opens 50 connections"],
    );
    says(
        "hey-few.txt",
        &[],
        0,
        &["careful p90 of 20 answers rests on the slowest 2: take at least 100 requests"],
    );
    let (_, said) = audit("ab-keep.txt", &[]);
    assert!(!said.contains("opened a connection for each"), "{said}");
}

#[test]
fn runs_that_cannot_be_ranked() {
    says(
        "ceiling.md",
        &["--delay", "20ms"],
        1,
        &[
            "cannot rank 98 % of 96 connections / 20 ms = 4,800 requests/s; raise c to 240",
            "cannot rank run 4: impossible figures",
            "runs 1, 2 and 3 are at nine tenths or more of the ceiling connections / delay",
            "too near to tell apart by one run each: runs 1 and 2 (0.30 %), runs 2 and 3 (0.10 %)",
            "whether runs 2 and 3 are repeats",
            "spread from 4,685 to 4,692 requests/s",
        ],
    );
}

/// The rows of `go-vs-openresty` with its prose.
#[test]
fn the_first_article() {
    let meant = ["--delay", "20ms", "--body", "OK\\n"];
    says(
        "go-vs-openresty.md",
        &meant,
        1,
        &[
            "run 1, lines 13-26: ab, 100 connections, 127.0.0.1:8080/",
            "10,000 of 10,000 answers had another status than 2xx, and the rate counts them, which leaves 0 of 4,685",
            "bodies have 19 bytes, as long as Go's \"404 page not found\\n\", not the 3 bytes of \"OK\\n\"",
            "cannot rank 94 % of 100 connections / 20 ms = 5,000 requests/s",
            "bodies have 128,646 bytes, not the 3 bytes",
            "cannot rank different lengths of bodies: 19 bytes in runs 1 and 2, 128,646 bytes in run 3, 14 bytes in run 4",
            "cannot rank different numbers of connections: 100 in runs 1 and 3, 500 in run 2, 200 in run 4",
        ],
    );
}

#[test]
fn figures_that_contradict_each_other() {
    says(
        "contradictions.md",
        &["--delay", "20ms"],
        1,
        &[
            "507,000 requests in 10 s are 50,700 requests/s, and 20,700 are printed",
            "p75 is 40 ms, and p90 is 30 ms",
            "a mean of 20,500 ms is above the greatest latency, 15.3 ms",
            "ab computes \"Time per request\" from the rate: 1,000 at a time and 5,272 requests/s would be 190 ms, not 19.0",
            "\"Total transferred: -1294967296 bytes\" is less than nothing",
            "83,333 requests/s x 25 ms = 2,083 requests at a time, and there were 100",
            "a standard deviation of 40 ms is impossible with a mean of 25 ms and a maximum of 30 ms",
            "100,000 answers are 12.1 each, less than a status line",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_quoted() {
    says(
        "cut.md",
        &[],
        2,
        &[
            "not read line 6, \"Requests per second: 4,68x\", looks like ab's, which prints \"Requests per second: 4685.38",
            "cannot say whether requests failed: the lines that tell are not in the paste",
            "not read line 11, \"finished in 3.2\", looks like h2load's, which prints \"finished in 3.22s",
        ],
    );
    says(
        "prose.md",
        &[],
        2,
        &[
            "no output of a generator was found in this text. audit reads what ab, wrk, wrk2, hey, oha, h2load, drill print",
        ],
    );
    let output = Command::new(RERUN)
        .args(["audit", "no-such-file"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("reading no-such-file"));
}

#[test]
fn standard_input_is_read() {
    for arguments in [&["audit"][..], &["audit", "-"]] {
        let mut child = Command::new(RERUN)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"Requests/sec:  51822.27\n")
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stdout).contains("51,822 requests/s"));
    }
}

#[test]
fn wrong_options() {
    for arguments in [
        ["--delay", "20"],
        ["--connections", "0"],
        ["--body", "99999999999999999999"],
    ] {
        let output = Command::new(RERUN)
            .arg("audit")
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// The example of `README.md` is what the command prints.
#[test]
fn the_readme_tells_the_truth() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, section) = readme.split_once("$ rerun audit ").unwrap();
    let (arguments, section) = section.split_once('\n').unwrap();
    let (shown, _) = section.split_once("```").unwrap();
    let arguments: Vec<String> = shlex::split(arguments).unwrap();
    let output = Command::new(RERUN)
        .arg("audit")
        .args(arguments)
        .current_dir(FOLDER)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown);
}
