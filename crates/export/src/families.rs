//! The table of families, a file a subject.

mod about;
mod groups;
mod judged;
mod memory;
mod settings;
mod swap;
mod waiting;

use crate::family::Family;

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
