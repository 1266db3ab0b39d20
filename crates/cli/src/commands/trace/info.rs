//! `ramline trace info`.

use ramline_trace::summary::TouchesSummary;

use super::files::{of_file, open};
use crate::prelude::*;

/// Show what a file of touches holds: regions, touches, distinct pages, epochs, and whether it is whole
///
/// Exit status: 7 when the file is cut off or damaged, 0 otherwise.
#[derive(Debug, Args)]
pub struct Info {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Info {
    pub fn run(&self) -> Result<u8> {
        let summary = TouchesSummary::of(&mut open(&self.file)?).map_err(|error| of_file(&self.file, error))?;
        self.format.versioned(&summary)?;
        Ok(if summary.whole { exit::DONE } else { exit::PARTLY })
    }
}
