//! A progress bar on a terminal, and lines in a pipe.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress(ProgressBar);

impl Progress {
    /// `steps` in all. The bar is drawn on standard error, if that is a terminal.
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {eta} left  {wide_msg}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(500));
        Self(bar)
    }

    /// What is done now: beside the bar, or a line of its own where there is none.
    pub fn say(&self, what: &str) {
        if self.0.is_hidden() {
            // Nobody may read it any more.
            let _ = writeln!(std::io::stderr(), "{what}");
        }
        self.0.set_message(what.to_owned());
    }

    pub fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
