//! The table of families, a file a subject.

mod about;
mod groups;
mod judged;
mod memory;
mod settings;
mod swap;
mod waiting;

use crate::family::{Family, Kind};

/// Every family, in the order in which they are written.
pub const FAMILIES: &[&[Family]] = &[
    about::FAMILIES,
    judged::FAMILIES,
    memory::FAMILIES,
    waiting::FAMILIES,
    swap::FAMILIES,
    groups::FAMILIES,
    settings::FAMILIES,
];

/// The same as one list.
pub fn all() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().flat_map(|families| families.iter())
}

/// The table as Markdown: `ramline generate metrics`, and a chapter of the book.
#[must_use]
pub fn table() -> String {
    let kind = |kind| match kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Info => "info",
    };
    let row = |f: &Family| format!("| `{}` | `{}` | {} | {} |\n", f.sample_name(), kind(f.kind), f.help, f.explain);
    ["| metric | kind | what it is | explain |\n|---|---|---|---|\n".to_owned()]
        .into_iter()
        .chain(all().map(row))
        .collect()
}
