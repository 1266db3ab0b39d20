//! The format of recorded history: frames of named texts, each with a checksum, one after the other in a file. Nothing here reads a file.
//!
//! A frame is a moment: the sections of a [`ramline_snapshot::Snapshot`] as JSON texts, one for each section, process and group. The first of a
//! series is whole, the next ones hold what differs from the one before: of a text that differs in its numbers alone, the differences of these
//! numbers. A frame whose checksum does not fit does not exist. The layout is in docs/history.md.
//!
//! | module | what it is |
//! |---|---|
//! | `day` | days of the calendar, which name the files |
//! | `varint` | numbers of variable length, and a reader of bytes that never panics |
//! | `numbers` | how a text differs from an earlier one in its numbers |
//! | `texts` | named texts, what differs between two sets, and how that is written |
//! | `frame` | one frame: times, checksum, compression |
//! | `file` | the head of a file; the frames in bytes that may be torn or damaged |
//! | `moments` | snapshots from frames, in order |
//! | `document` | a snapshot as named texts, and back |
//! | [`sadf`] | what `sadf -j` prints of sysstat's files, as snapshots |
//!
//! ```
//! use ramline_history::{Encoder, Moment, Texts};
//! let mut encoder = Encoder::default();
//! let texts = |free: &str| Texts::from([("meminfo".to_owned(), format!("{{\"free\":{free}}}"))]);
//! let whole = encoder.frame(Moment { wall_ms: 1_000, boot_ms: 10 }, &texts("100"));
//! let next = encoder.frame(Moment { wall_ms: 6_000, boot_ms: 5_010 }, &texts("101"));
//! assert!(next.len() < whole.len());
//! ```

mod day;
mod document;
mod file;
mod frame;
mod moments;
mod numbers;
pub mod sadf;
mod texts;
mod varint;

pub use day::Day;
pub use document::{from_changes, from_snapshot, to_snapshot};
pub use file::{Begins, Damage, FileItem, Head, NotHistory, VERSION, frames, sketches};
pub use frame::{Encoder, Frame, Kind, Moment, Note, Sketch, note};
pub use moments::{Decoder, NotDecoded};
pub use texts::{Changes, Texts};

/// What decoding gives.
pub(crate) type Result<T> = std::result::Result<T, NotDecoded>;
