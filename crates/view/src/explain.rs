//! `explain`: an explanation, the list of topics, and what killed a process.

mod kill;
mod topics;

pub use topics::{SHORT, TopicLine, TopicList, explain, explain_more, sheet as explanation};
