//! Pictures as data: what is drawn, with its words; how it is drawn is the renderer's.
//!
//! Shares come from the model.
//!
//! Worked example: a [`StackPiece`] of 0.25 under the letter `c` is a quarter of the bar on a terminal and on the page.

use ramline_units::Nanos;

/// What a piece of a whole is, and so its colour: one thing has one colour everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// Memory of processes.
    Processes,
    /// tmpfs and shared memory.
    Shared,
    /// Locked, or reserved as huge pages.
    Locked,
    /// Compressed pages.
    Compressed,
    /// The kernel's own.
    Kernel,
    /// Page cache that must be written first.
    Dirty,
    /// Page cache.
    Cache,
    /// Unused.
    Free,
    /// In swap, so not in memory.
    Swap,
}

/// A piece of a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct StackPiece {
    /// Its letter on a terminal.
    pub letter: char,
    /// Its colour.
    pub tint: Tint,
    /// Its name.
    pub name: String,
    /// How much, with the unit.
    pub size: String,
    /// Its share of the whole, 0 to 1.
    pub share: f64,
    /// What else is to be known of it: what it takes to free it.
    pub note: String,
}

/// A whole cut into pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    /// What the whole is: `23.5 GiB of memory`.
    pub title: String,
    /// The pieces, in order.
    pub pieces: Vec<StackPiece>,
}

/// Equal parts of a whole in their order, each with the share of it that is there: where in a file its pages are.
#[derive(Debug, Clone, PartialEq)]
pub struct Strip {
    /// The share of each part, 0 to 1.
    pub shares: Vec<f64>,
}

impl Strip {
    /// What its characters mean.
    pub const KEY: &'static str = "# all of a part, + half or more, - less, . nothing";

    /// A character a part.
    #[must_use]
    pub fn letters(&self) -> String {
        let letter = |share: &f64| match *share {
            share if share >= 1.0 => '#',
            share if share >= 0.5 => '+',
            share if share > 0.0 => '-',
            _ => '.',
        };
        self.shares.iter().map(letter).collect()
    }
}

/// The time of one access to a tier.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// The tier.
    pub name: String,
    /// Median, and what else stands beside it.
    pub value: String,
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
}
