//! `ramline trace info`.

use ramline_trace::summary::TouchesSummary;

use super::files::{file_error, open};
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
        let summary =
            TouchesSummary::from_reader(&mut open(&self.file)?).map_err(|error| file_error(&self.file, error))?;
        self.format.versioned(&summary)?;
        Ok(if summary.whole { exit::DONE } else { exit::PARTLY })
    }
}
