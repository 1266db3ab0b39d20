//! `ramline measure`: what things cost on this machine.

pub mod pages;
mod tiers;

use crate::prelude::*;

/// Measure what this machine's memory costs
#[derive(Debug, Args)]
pub struct Measure {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Tiers(tiers::Tiers),
    Pages(Box<pages::Pages>),
}

impl Measure {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is not this machine, or a tier or a page that is always there could not be measured.
    pub fn run(&self, source: &Source) -> Result<u8> {
        match &self.what {
            What::Tiers(tiers) => tiers.run(source),
            What::Pages(pages) => pages.run(source),
        }
    }
}
