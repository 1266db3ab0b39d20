//! A live screen: sheets that are looked at again and again, with keys.
//!
//! A renderer like those for text and HTML: it knows no topic, reads nothing and computes positions alone. What is on a page comes from a
//! [`Feed`]; which part of it is seen, what is selected and filtered is the [`App`]'s, a state machine that keys move; [`run`] gives it a terminal
//! and gives that back as it was, also after a panic and a signal.
//!
//! | module | what it is |
//! |---|---|
//! | `page` | what a feed is asked for and gives |
//! | `keys` | the keys, one table: what `?` and docs/top.md list |
//! | `app`, `typing` | what keys do, and what is typed |
//! | `document` | the parts of a page in columns, their rows, what the filter leaves |
//! | `draw` | all of it on a buffer of cells |
//! | `terminal`, `run` | the terminal, its signals, and the loop |
//!
//! Worked example: on a page with rows `a` and `b`, the keys `/`, `b`, Enter leave the row `b`, and `e` asks the feed to explain it.

mod app;
mod document;
mod draw;
pub mod keys;
mod page;
mod run;
mod terminal;
#[cfg(test)]
mod tests;
mod typing;

pub use app::{App, Effect};
pub use draw::draw;
pub use keys::Key;
pub use page::{Feed, Looks, Page, Time, View, ViewRequest};
pub use run::{Options, run, wait_for_hangup};
