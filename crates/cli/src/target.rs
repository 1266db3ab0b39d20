//! A file that a report is written to.
//!
//! Made beside its target before anything starts, so that a place that cannot be written is refused before the work, and put in its
//! place when it is complete. What it is not: for data, which goes to stdout.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::exit::{self, Failure};

/// The file, empty until it is written.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    staged: NamedTempFile,
}

impl Target {
    /// Makes the file; `hint` is a command that would work.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn new(path: &Path, hint: &str) -> Result<Target> {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let refused = |why: String| {
            let text = format!("cannot write {}: {why}\n  try: {hint}", path.display());
            Failure::new(exit::USAGE, text)
        };
        if path.is_dir() {
            return Err(refused("it is a directory".to_owned()).into());
        }
        let staged = tempfile::Builder::new()
            .prefix(".ramline-")
            .permissions(std::fs::Permissions::from_mode(0o644))
            .tempfile_in(parent);
        Ok(Target { path: path.to_owned(), staged: staged.map_err(|e| refused(e.to_string()))? })
    }

    /// Where it will be, as printed.
    #[must_use]
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes the file and puts it in place.
    ///
    /// # Errors
    /// The disk is full, or the place is gone.
    pub fn write(mut self, text: &str) -> Result<()> {
        let failed = || format!("cannot write {}", self.path.display());
        self.staged.write_all(text.as_bytes()).and_then(|()| self.staged.as_file().sync_data()).with_context(failed)?;
        let path = self.path.clone();
        self.staged.persist(&path).map(drop).with_context(|| format!("cannot write {}", path.display()))
    }
}
