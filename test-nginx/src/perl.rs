//! The perl process that has read one test file and answers questions on it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use crate::nginx::Nginx;
use crate::value::{self, Value};

const RUNNER: &str = include_str!("perl/TestNginxRunner.pm");

/// Perl, with the test file read up to its `run_tests()`.
pub(crate) struct Perl {
    dialogue: Mutex<Dialogue>,
    stderr: PathBuf,
}

struct Dialogue {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Perl {
    /// Starts perl on `file`; `room` takes the runner's module and stderr.
    pub fn start(
        file: &Path,
        room: &Path,
        nginx: &Nginx,
        env: &BTreeMap<String, String>,
    ) -> io::Result<Perl> {
        let stderr = room.join("perl.stderr");
        fs::write(room.join("TestNginxRunner.pm"), RUNNER)?;
        let mut child = Command::new("perl")
            .arg("-I")
            .arg(room)
            .arg(format!(
                "-MTestNginxRunner={},{},{}",
                nginx.version.canon(),
                nginx.openssl.as_deref().unwrap_or(""),
                nginx.pcre,
            ))
            .arg(file)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr)?)
            .spawn()
            .map_err(|e| io::Error::new(e.kind(), format!("cannot run perl: {e}")))?;
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Ok(Perl {
            dialogue: Mutex::new(Dialogue { child, to, from }),
            stderr,
        })
    }

    /// Asks one question; an error is perl's own message.
    pub fn ask(&self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let mut question = vec![Value::text(name)];
        question.extend_from_slice(arguments);
        let mut dialogue = self.dialogue.lock().unwrap_or_else(|e| e.into_inner());
        match dialogue.ask(&Value::List(question)) {
            Ok(answer) => answer,
            // It died in the file's own code: what it said of that is the message.
            Err(e) => {
                dialogue.to = None;
                let _ = dialogue.child.wait();
                let said = self.said();
                Err(if said.is_empty() {
                    format!("perl: {e}")
                } else {
                    said
                })
            }
        }
    }

    /// Whether `pattern`, compiled with `flags`, matches `text`.
    pub fn matches(&self, pattern: &Value, flags: &str, text: &[u8]) -> Result<bool, String> {
        let answer = self.ask(
            "match",
            &[pattern.clone(), Value::text(flags), Value::text(text)],
        )?;
        Ok(answer.is_true())
    }

    /// What the file's code has printed so far.
    pub fn said(&self) -> String {
        let said = fs::read(&self.stderr).unwrap_or_default();
        String::from_utf8_lossy(&said).trim_end().to_owned()
    }
}

impl Dialogue {
    fn ask(&mut self, question: &Value) -> io::Result<Result<Value, String>> {
        let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut message = Vec::new();
        value::write(&mut message, question)?;
        to.write_all(&message)?;
        value::read(&mut self.from)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        // The end of its input is perl's sign to run its END blocks and leave.
        self.to = None;
        let _ = self.child.wait();
    }
}
