//! How it is drawn: sheets as data, and one renderer for each medium (text for a terminal, HTML for a page).
//!
//! It knows no topic and no words of its own: those are in `ramline-view`. What it computes is layout: positions, widths, digits.
//!
//! ```
//! use ramline_sheet::text::{Paint, Style};
//! use ramline_sheet::{Depth, Sheet};
//! let mut sheet = Sheet::new();
//! sheet.answer(Paint::Good, "Memory is fine.");
//! assert_eq!(sheet.text(&Style::default(), Depth::All), "Memory is fine.\n");
//! ```

pub mod format;
pub mod html;
pub mod sheet;
pub mod text;

pub use ramline_units::escape;
pub use sheet::*;
pub use text::{Style, name, number};
