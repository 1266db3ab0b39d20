//! Files of touches, as the commands below `ramline trace` open them, and what may be wrong with one.

use std::fs::File;
use std::io::BufReader;

use ramline_gather::headroom::own_headroom;
use ramline_kernel::output;
use ramline_trace::touches::{Reader, TouchesError};

use crate::prelude::*;

/// How a file of touches is recognised.
pub const TOUCHES: output::Format = output::Format { begins: ramline_trace::touches::MAGIC, mode: 0o644 };

/// What other programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// libCacheSim's.
    OracleGeneral,
}

choices!(ForeignFormat {
    OracleGeneral: "oracle-general", "libCacheSim's, 24 bytes a request, uncompressed";
});

/// Opens a file of touches.
pub fn open(path: &Path) -> Result<Reader<BufReader<File>>> {
    let file = input::open("read the trace", path)
        .map_err(|error| error.or_hint("ramline trace make code-plus-data --out FILE"))?;
    let reader = Reader::new(BufReader::with_capacity(1 << 20, file)).map_err(|error| file_error(path, error))?;
    Ok(reader.within(own_headroom(&Root::live())?.0))
}

/// The error of a touch file: what is wrong, and what to do.
pub fn file_error(path: &Path, error: TouchesError) -> anyhow::Error {
    let hint = match &error {
        TouchesError::Io(_) => return KernelError::io("read the trace", path, into_io(error)).into(),
        TouchesError::Version { .. } => "make it again: ramline trace make code-plus-data --out FILE",
        TouchesError::Beyond(_) => "ramline show memory",
        TouchesError::Damaged { .. } | TouchesError::NoHeader => "ramline trace info FILE",
        _ => "ramline trace make code-plus-data --out FILE",
    };
    Failure::usage(format!("{}: {error}\n  try: {hint}", ramline_view::escape(&path.to_string_lossy()))).into()
}

/// For what writes: an error of the system as it is, any other one by its text.
pub fn into_io(error: TouchesError) -> std::io::Error {
    match error {
        TouchesError::Io(error) => error,
        other => std::io::Error::other(other),
    }
}
