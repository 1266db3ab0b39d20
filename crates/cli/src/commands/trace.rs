//! `ramline trace`: files of touches, by which a load is kept, looked at, carried elsewhere and simulated.

pub mod contents;
mod curve;
mod export;
pub mod files;
mod import;
mod info;
mod make;
pub mod record;

use crate::prelude::*;

/// Recordings of which pages a program touches: make, show, miss ratio curve, from and to libCacheSim
#[derive(Debug, Args)]
pub struct Trace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Make(make::Make),
    Record(record::Record),
    Info(info::Info),
    Curve(curve::Curve),
    Export(export::Export),
    Import(import::Import),
}

impl Trace {
    /// Runs the command.
    ///
    /// # Errors
    /// A file is not what it should be, or cannot be read or written.
    pub fn run(&self) -> Result<u8> {
        match &self.verb {
            Verb::Make(make) => make.run(),
            Verb::Record(record) => record.run(),
            Verb::Info(info) => info.run(),
            Verb::Curve(curve) => curve.run(),
            Verb::Export(export) => export.run(),
            Verb::Import(import) => import.run(),
        }
    }
}
