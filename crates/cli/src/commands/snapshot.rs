//! `ramline snapshot`: this machine as data.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use ramline_kernel::gather;
use ramline_snapshot::{Wanted, redact};

use crate::exit;
use crate::output;
use crate::source::Source;

/// Print what can be seen of this machine as one JSON document
#[derive(Debug, Args)]
pub struct Snapshot {
    /// Replace every name that is not on the allow-list
    #[arg(long)]
    redact: bool,
    /// Write the kernel's files themselves as a tree below DIR (for --root)
    #[arg(long, value_name = "DIR", conflicts_with = "redact")]
    tree: Option<PathBuf>,
}

impl Snapshot {
    /// Runs the command.
    ///
    /// # Errors
    /// The source or the target cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let seen = match &self.tree {
            Some(dir) => {
                let seen = gather::capture(&source.kernel_root()?, dir)?;
                eprintln!("captured {} sections into {}", ramline_snapshot::Snapshot::SECTIONS.len(), dir.display());
                seen
            }
            None => {
                let seen = source.snapshot(Wanted::ALL)?;
                let seen = if self.redact { redact(seen) } else { seen };
                output::json(&seen)?;
                seen
            }
        };
        Ok(if seen.is_malformed() { exit::PARTLY } else { exit::DONE })
    }
}
