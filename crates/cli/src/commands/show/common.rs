//! What every screen of `show` takes.

use crate::prelude::*;

/// What every screen takes.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Read twice, TIME apart, for rates; a bare number is seconds (2, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, global = true)]
    pub span: Option<Duration>,
    /// Refresh until Ctrl-C, every 2 s or as given; rates are those between two readings
    #[arg(long, value_name = "SECONDS", value_parser = duration::parse, num_args = 0..=1, default_missing_value = "2", global = true)]
    pub watch: Option<Duration>,
    /// Print one JSON document, sizes in bytes
    #[arg(long, global = true)]
    pub json: bool,
    /// Everything: every line of the ledger, how it is known, full tables
    #[arg(long, global = true)]
    pub all: bool,
}

impl Common {
    /// Text or JSON.
    pub const fn format(self) -> Format {
        Format { json: self.json }
    }

    /// A screen of what was seen, as much of it as is wanted.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub(super) fn shown(self, model: &(impl Serialize + Screen), seen: &Snapshot) -> Result<Shown> {
        let depth = if self.all { Depth::All } else { Depth::Brief };
        self.format().shown(model, code(seen), |style| model.sheet().text(style, depth))
    }
}

/// Part of the answer is missing when a file made no sense, or when there is no /proc/meminfo at all.
pub fn code(seen: &Snapshot) -> u8 {
    if seen.is_malformed() || seen.mem_total().is_none() { exit::PARTLY } else { exit::DONE }
}
