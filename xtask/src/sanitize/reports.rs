//! What a sanitizer wrote, a file for each process: an empty one, or none, is good news.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// How many reports are shown, and how much of each: one fault tends to show in many tests.
const SHOWN: usize = 5;
const LINES: usize = 40;

/// A directory of reports.
pub struct Reports(PathBuf);

impl Reports {
    /// Those in `dir`, which is made where it is missing.
    pub fn in_dir(dir: &Path) -> Result<Reports> {
        fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
        Ok(Reports(dir.to_owned()))
    }

    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// Forgets what was written so far.
    pub fn clear(&self) -> Result<()> {
        fs::remove_dir_all(&self.0)?;
        Ok(fs::create_dir(&self.0)?)
    }

    /// Shows the reports there are.
    ///
    /// # Errors
    ///
    /// There is one.
    pub fn check(&self) -> Result<()> {
        let (unseen, texts): (Vec<_>, Vec<_>) = self
            .texts()?
            .into_iter()
            .partition(|(_, text)| is_unseen(text));
        if !unseen.is_empty() {
            eprintln!("LeakSanitizer could not look at {} processes", unseen.len());
        }
        for (file, text) in texts.iter().take(SHOWN) {
            eprintln!("\n{}:", file.display());
            text.lines()
                .take(LINES)
                .for_each(|line| eprintln!("{line}"));
        }
        if !texts.is_empty() {
            bail!("{} reports in {}", texts.len(), self.0.display());
        }
        Ok(())
    }

    fn texts(&self) -> Result<Vec<(PathBuf, String)>> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let file = entry?.path();
            let text = fs::read(&file)?;
            if !text.is_empty() {
                texts.push((file, String::from_utf8_lossy(&text).into_owned()));
            }
        }
        texts.sort();
        Ok(texts)
    }
}

/// Whether it tells of LeakSanitizer's own fault alone: it reads the variables of threads, and crashes where one of them
/// is about to end.
fn is_unseen(text: &str) -> bool {
    let is_fault = |line: &str| line.contains("ERROR: ") || line.contains("runtime error: ");
    text.contains("LeakSanitizer has encountered a fatal error") && !text.lines().any(is_fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_fails_and_an_empty_file_does_not() {
        let dir = std::env::temp_dir().join(format!("xtask-reports-{}", std::process::id()));
        let reports = Reports::in_dir(&dir).unwrap();
        assert!(reports.check().is_ok());
        fs::write(dir.join("memcheck.1"), "").unwrap();
        assert!(reports.check().is_ok());
        fs::write(dir.join("address.2"), "==2==ERROR: AddressSanitizer").unwrap();
        let error = reports.check().unwrap_err().to_string();
        assert!(error.starts_with("1 reports in "), "{error}");
        let own_fault = "==3==LeakSanitizer has encountered a fatal error.\n";
        fs::write(dir.join("address.3"), own_fault).unwrap();
        fs::write(
            dir.join("address.4"),
            format!("a.c:1:2: runtime error: x\n{own_fault}"),
        )
        .unwrap();
        let error = reports.check().unwrap_err().to_string();
        assert!(error.starts_with("2 reports in "), "{error}");
        reports.clear().unwrap();
        assert!(reports.check().is_ok());
        fs::remove_dir(&dir).unwrap();
    }
}
