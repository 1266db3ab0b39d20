//! The checkup: its report as a document, on a terminal and compared with an older one; its topics, findings and who uses memory.

mod compare;
pub(crate) mod findings;
mod record;
pub(crate) mod report;
mod screen;
mod topics;
pub(crate) mod who;

pub use compare::{CheckupComparison, Compared, FindingRef, TierMove};
pub use findings::findings;
pub(crate) use record::record;
pub use screen::{checkup, summary};
pub use topics::{ReportTopic, topics};
