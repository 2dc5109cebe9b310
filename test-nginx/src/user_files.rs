//! `--- user_files`: files for nginx to serve or read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::expand::{Variables, find};
use crate::log::lines;
use crate::value::Value;

/// A file, with the time it was last changed as `touch -t` takes it.
#[derive(Debug, PartialEq)]
pub(crate) struct File {
    pub name: String,
    pub body: Vec<u8>,
    pub date: Option<String>,
}

/// Writes the files, relative ones into `html`.
pub(crate) fn write(section: &Value, html: &Path, vars: &Variables) -> Result<(), String> {
    for file in files(section)? {
        let path: PathBuf = html.join(&file.name);
        let body = vars.expand(&file.body)?;
        let failed = |e| format!("--- user_files: {}: {e}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(html)).map_err(failed)?;
        fs::write(&path, body).map_err(failed)?;
        if let Some(date) = &file.date {
            let touch = Command::new("touch")
                .env("TZ", "GMT")
                .arg("-t")
                .arg(date)
                .arg(&path)
                .status();
            if !touch.map_err(failed)?.success() {
                return Err(format!(
                    "--- user_files: {}: bad time \"{date}\"",
                    file.name
                ));
            }
        }
    }
    Ok(())
}

fn files(section: &Value) -> Result<Vec<File>, String> {
    match section {
        Value::Undef => Ok(Vec::new()),
        Value::List(list) => list.iter().map(element).collect(),
        Value::Bytes(text) => Ok(parse(text)),
        other => Err(format!("--- user_files holds {other:?}")),
    }
}

/// `[name, body, time]`
fn element(value: &Value) -> Result<File, String> {
    let text = |i: usize| {
        value
            .list()
            .and_then(|list| list.get(i))
            .and_then(Value::bytes)
    };
    let string = |i: usize| text(i).map(|text| String::from_utf8_lossy(text).into_owned());
    let name = string(0).ok_or("--- user_files: an element is not [name, body, time]")?;
    let date = string(2).filter(|date| !date.is_empty());
    Ok(File {
        name,
        body: text(1).unwrap_or_default().to_vec(),
        date,
    })
}

/// Each file begins with a line `>>> name time`.
pub(crate) fn parse(text: &[u8]) -> Vec<File> {
    let mut all: Vec<File> = Vec::new();
    for line in lines(text) {
        let head = find(line, b">>> ").map(|at| String::from_utf8_lossy(&line[at + 4..]));
        match head
            .as_deref()
            .filter(|head| head.starts_with(|c: char| !c.is_whitespace()))
        {
            Some(head) => {
                let (name, date) = head
                    .trim_end()
                    .split_once(char::is_whitespace)
                    .unwrap_or((head.trim_end(), ""));
                let date = Some(date.trim().to_owned()).filter(|date| !date.is_empty());
                all.push(File {
                    name: name.to_owned(),
                    body: Vec::new(),
                    date,
                });
            }
            None => {
                if let Some(file) = all.last_mut() {
                    file.body.extend_from_slice(line);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_a_file() {
        let files = parse(b">>> a.txt\none\n\ntwo\n>>> b/c.txt 199801171935.33\n>>> d\nx");
        let file = |name: &str, body: &str, date: Option<&str>| File {
            name: name.into(),
            body: body.into(),
            date: date.map(str::to_owned),
        };
        assert_eq!(
            files,
            [
                file("a.txt", "one\n\ntwo\n", None),
                file("b/c.txt", "", Some("199801171935.33")),
                file("d", "x", None),
            ]
        );
        assert_eq!(parse(b">>> "), []);
    }

    #[test]
    fn files_are_written_with_their_times() {
        let html = tempfile::tempdir().unwrap();
        let vars = Variables::new([("TEST_NGINX_A".to_owned(), "b".to_owned())].into());
        let section = Value::text(">>> x/y 199801171935.33\n$TEST_NGINX_A\n");
        write(&section, html.path(), &vars).unwrap();
        let path = html.path().join("x/y");
        assert_eq!(fs::read(&path).unwrap(), b"b\n");
        let time = fs::metadata(path).unwrap().modified().unwrap();
        let seconds = time
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        assert_eq!(seconds, 885_065_733);
    }
}
