//! `ramline trace export`.

use std::io::BufWriter;

use ramline_kernel::output;
use ramline_trace::oracle_general::{self, OracleError};

use super::files::{ForeignFormat, open};
use crate::place;
use crate::prelude::*;

/// Such a file begins with a time, which is not known before.
const ANY: output::Format = output::Format { begins: b"", mode: 0o644 };

/// Write the touches of a file for another program
///
/// A page becomes an object of the size of a page, whose number is region x 2^40 + page; each touch a request for it, with the number of the next one.
/// How it is touched, threads, rounds and epochs are not in that format.
#[derive(Debug, Args)]
pub struct Export {
    /// The file of touches
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The other format
    #[arg(long, value_name = "FORMAT", value_enum)]
    to: Choice<ForeignFormat>,
    /// What is written, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Export {
    pub fn run(&self) -> Result<u8> {
        let Choice(ForeignFormat::OracleGeneral) = self.to;
        let mut reader = open(&self.file)?;
        let out = place::open(&self.out, ANY, "ramline trace export load.trace --to oracle-general --out load.oracle")?;
        let mut refused = None;
        let written = out.write_with(|out| {
            let mut out = BufWriter::with_capacity(1 << 20, out);
            oracle_general::export(&mut reader, &mut out).map(drop).map_err(|error| match error {
                OracleError::Io(error) => error,
                other => std::io::Error::other(refused.insert(other).to_string()),
            })
        });
        if let Some(wrong) = refused {
            let path = ramline_view::escape(&self.file.to_string_lossy()).into_owned();
            return Err(Failure::usage(format!("{path}: {wrong}\n  try: ramline trace info FILE")).into());
        }
        written?;
        Ok(exit::DONE)
    }
}
