//! `ramline snapshot`: this machine as data.

use ramline_gather::{TOP, capture};
use ramline_kernel::output::{Tree, is_in_use};
use ramline_snapshot::redact;

use crate::prelude::*;

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
                anyhow::ensure!(
                    dir.as_os_str() != "-",
                    Failure::usage(
                        "a tree is a directory and cannot be written to standard output\n  try: ramline snapshot > FILE"
                    )
                );
                let root = source.kernel_root()?;
                let tree = Tree::make(dir, TOP).map_err(|error| {
                    let code = if is_in_use(&error) { exit::REFUSED } else { exit::USAGE };
                    Failure::new(code, error.or_hint("ramline snapshot --tree NEW_DIR").to_string())
                })?;
                let seen = capture(&root, tree)?;
                let sections = ramline_snapshot::Snapshot::SECTIONS.len();
                ramline_kernel::stdio::tell(&format!("captured {sections} sections into {}", dir.display()));
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
