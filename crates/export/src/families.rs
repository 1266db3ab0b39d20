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

/// The word that the JSON documents have for a value.
fn word(value: &impl serde::Serialize) -> String {
    ramline_units::json::tree(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Of microseconds, the base unit.
#[expect(clippy::cast_precision_loss, reason = "exact to a microsecond for 285 years")]
fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
