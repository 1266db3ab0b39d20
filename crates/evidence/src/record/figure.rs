//! A number that a run brought.

use crate::prelude::*;

/// Which direction of a figure is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Times, faults.
    Lower,
    /// Rates.
    Higher,
    /// Neither is better.
    #[default]
    Neither,
}

/// The figure of a command within a limit: how many times as long it took as the one run without.
pub const TIMES_AS_LONG: &str = "times as long";

/// One number a run brought, in the order in which tables show it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Figure {
    /// Its name, unit last where it needs one: `wall`, `major faults`.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit: `s`, `bytes`, `pages`, `1/s`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
}

impl Figure {
    /// A figure.
    #[must_use]
    pub fn new(name: &str, value: f64, unit: &str, better: Better) -> Figure {
        Figure { name: name.to_owned(), value, unit: unit.to_owned(), better }
    }
}
