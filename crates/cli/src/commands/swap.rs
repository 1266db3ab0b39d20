//! `ramline swap`: what is done with swap areas while they are in use.

mod maintain;

use crate::prelude::*;

/// Look after swap areas in use: zram's idle pages written back, compressed again, the pool compacted
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
