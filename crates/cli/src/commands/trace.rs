//! `ramline trace`: files of touches, by which a load is kept, looked at, carried elsewhere and simulated.

mod curve;
mod export;
mod import;
mod info;
mod make;

use std::fs::File;
use std::io::BufReader;

use ramline_kernel::output;
use ramline_trace::touches::{Reader, TouchesError};

use crate::prelude::*;

/// How a file of touches is recognised.
const TOUCHES: output::Format = output::Format { begins: ramline_trace::touches::MAGIC, mode: 0o644 };

/// Keep what a load touches in a file: make one, look at it, its miss ratio curve, from and to libCacheSim
#[derive(Debug, Args)]
pub struct Trace {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Make(make::Make),
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
            Verb::Info(info) => info.run(),
            Verb::Curve(curve) => curve.run(),
            Verb::Export(export) => export.run(),
            Verb::Import(import) => import.run(),
        }
    }
}

/// Opens a file of touches.
fn open(path: &Path) -> Result<Reader<BufReader<File>>> {
    let file = input::open("read the trace", path)?;
    Reader::new(BufReader::with_capacity(1 << 20, file)).map_err(|error| of_file(path, error))
}

/// What is wrong with a file of touches, and what to do.
fn of_file(path: &Path, error: TouchesError) -> anyhow::Error {
    let hint = match &error {
        TouchesError::Io(_) => return KernelError::io("read the trace", path, into_io(error)).into(),
        TouchesError::Version { .. } => "make it again: ramline trace make code-plus-data --out FILE",
        TouchesError::Damaged { .. } | TouchesError::NoHeader => "ramline trace info FILE",
        _ => "ramline trace make code-plus-data --out FILE",
    };
    Failure::usage(format!("{}: {error}\n  try: {hint}", ramline_view::escape(&path.to_string_lossy()))).into()
}

/// For what writes: an error of the system as it is, any other one by its text.
fn into_io(error: TouchesError) -> std::io::Error {
    match error {
        TouchesError::Io(error) => error,
        other => std::io::Error::other(other),
    }
}
