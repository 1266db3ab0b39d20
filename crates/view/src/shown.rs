//! What has a sheet, and its text.

use ramline_sheet::text::Style;
use ramline_sheet::{Depth, Sheet};

/// What can be shown on a screen of its own.
pub trait Screen {
    /// What it has to say.
    #[must_use]
    fn sheet(&self) -> Sheet;

    /// All of it as text.
    #[must_use]
    fn text(&self, style: &Style) -> String {
        self.sheet().text(style, Depth::All)
    }
}
