//! `ramline swap`: what is done with swap areas while they are in use.

mod maintain;

use crate::prelude::*;

/// Maintain swap in use: write back idle pages of zram, compress them again, compact the pool
#[derive(Debug, Args)]
pub struct Swap {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Maintain(maintain::Maintain),
}

impl Swap {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is not this machine, or a device that was named is not in use as swap.
    pub fn run(&self, source: &Source) -> Result<u8> {
        match &self.verb {
            Verb::Maintain(maintain) => maintain.run(source),
        }
    }
}
