//! Units as types: [`Bytes`], [`SignedBytes`], [`Pages`], [`Ratio`], [`Limit`], [`Nanos`].
//!
//! Parse, print and checked arithmetic for the quantities ramline shows. No kernel knowledge:
//! the reader of a kernel file turns its "kB" (which is KiB) into [`Bytes`] there and then.
//!
//! ```
//! use ramline_units::Bytes;
//! let unit: Bytes = "32MiB".parse()?;
//! assert_eq!(unit.to_string(), "32.0 MiB");
//! assert_eq!(unit, Bytes::from_mib(32));
//! # Ok::<(), ramline_units::UnitError>(())
//! ```

mod bytes;
mod counter;
mod escape;
pub mod json;
mod nanos;
mod order;
mod quantity;
mod saturating;
mod shell;
mod signed;
mod time_of_day;

pub use bytes::Bytes;
pub use counter::{Counter, growth};
pub use escape::{escape, escape_json, is_hostile, printable, unescape};
pub use nanos::Nanos;
pub use order::{sort_by, sort_by_key};
pub use quantity::{Limit, PageSize, Pages, Ratio};
pub use saturating::{checked_sum, saturating_sum};
pub use shell::{command_line, quoted, quoted_path};
pub use signed::SignedBytes;
pub use time_of_day::is_time_of_day;

#[cfg(not(feature = "schema"))]
pub use ramline_no_schema::JsonSchema;
#[cfg(feature = "schema")]
pub use schemars::JsonSchema;
/// The derives of what is written as JSON; of what has a schema, `JsonSchema` as well, which makes one only with the feature `schema`.
pub use serde::{Deserialize, Serialize};

/// A text that is not a quantity; the message shows the grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {what}; {grammar}")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// What was expected there.
    pub what: &'static str,
    /// How it is written.
    pub grammar: &'static str,
}
