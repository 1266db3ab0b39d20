//! `ramline checkup`: look, measure, prove, advise; a summary, and a report as HTML and JSON.

mod stages;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use ramline_advice::Weight;
use ramline_view::{CheckupReport, Comparison, Mode};

use crate::exit::{self, Failure};
use crate::output;
use crate::source::Source;
use stages::Stages;

/// Look, measure, prove in a sandbox, and say what to do
#[derive(Debug, Args)]
pub struct Checkup {
    /// At most 15 s, reads only
    #[arg(long, conflicts_with_all = ["full", "prove"])]
    quick: bool,
    /// At most 5 min: more runs, larger sandbox
    #[arg(long)]
    full: bool,
    /// Also prove it with a swap file and zram, without asking; they are removed again
    #[arg(long)]
    prove: bool,
    /// Write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as JSON (- for stdout, instead of the summary)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Say what changed since an earlier report
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Scratch place: a directory on a disk
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Exit with 10 when there are findings
    #[arg(long)]
    exit_code: bool,
}

impl Checkup {
    /// Runs the command.
    ///
    /// # Errors
    /// The source, the old report or a target file cannot be used; a signal came.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let mode = match (self.quick, self.full) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Full,
            _ => Mode::Default,
        };
        // Before anything is started: an old report that cannot be read, a target that cannot be written.
        let old = self.compare.as_deref().map(read).transpose()?;
        for target in [&self.html, &self.json].into_iter().flatten() {
            writable(target)?;
        }
        let (report, code) = Stages { source, mode, prove: self.prove, dir: self.dir.as_deref() }.report()?;
        if let Some(path) = &self.html {
            write(path, &ramline_view::html::page(&report))?;
        }
        let to_stdout = self.json.as_deref().is_some_and(|p| p == Path::new("-"));
        if to_stdout {
            output::json(&report)?;
        } else {
            if let Some(path) = &self.json {
                write(path, &(serde_json::to_string(&report)? + "\n"))?;
            }
            let style = output::style();
            let files: Vec<String> =
                [&self.html, &self.json].into_iter().flatten().map(|p| p.display().to_string()).collect();
            output::text(&ramline_view::screen::checkup(&report, &files, &style))?;
            if let Some(old) = &old {
                output::text(&ramline_view::screen::compare(&Comparison::of(old, &report), &style))?;
            }
        }
        let found = report.findings.iter().any(|f| f.weight > Weight::Note);
        Ok(if code == exit::DONE && self.exit_code && found { exit::FINDINGS } else { code })
    }
}

fn read(path: &Path) -> Result<CheckupReport> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str(&text).map_err(|e| {
        let text = format!(
            "{} is not a report of a checkup: {e}\n  try: ramline checkup --json {}",
            path.display(),
            path.display()
        );
        Failure::new(exit::USAGE, text)
    })?)
}

fn writable(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path == Path::new("-") || (parent.is_dir() && !path.is_dir()) {
        return Ok(());
    }
    let text = format!(
        "cannot write {}: {} is not a directory to write it to\n  try: --html report.html",
        path.display(),
        parent.display()
    );
    Err(Failure::new(exit::USAGE, text).into())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
