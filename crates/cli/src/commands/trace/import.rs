//! `ramline trace import`.

use std::io::BufReader;

use ramline_gather::headroom::own_headroom;
use ramline_trace::oracle_general::{self, OracleError};
use ramline_trace::touches::TouchesError;

use super::files::{ForeignFormat, TOUCHES};
use crate::place;
use crate::prelude::*;

/// Make a file of touches from a trace of another program
///
/// An object becomes a page of one file, a request a read of that page; sizes and times are not taken over. A file that is compressed
/// is unpacked first: zstd -d FILE.
#[derive(Debug, Args)]
pub struct Import {
    /// The trace of the other program
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Its format
    #[arg(long, value_name = "FORMAT", value_enum)]
    from: Choice<ForeignFormat>,
    /// The file of touches, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Import {
    pub fn run(&self) -> Result<u8> {
        let Choice(ForeignFormat::OracleGeneral) = self.from;
        let mut from = BufReader::with_capacity(1 << 20, input::open("read the trace", &self.file)?);
        let out =
            place::open(&self.out, TOUCHES, "ramline trace import load.oracle --from oracle-general --out load.trace")?;
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (mut refused, room) = (None, own_headroom(&Root::live())?);
        let written = out.write_with(|out| {
            oracle_general::import(&mut from, &name, out, room.0).map(drop).map_err(|error| match error {
                OracleError::Io(error) | OracleError::Touches(TouchesError::Io(error)) => error,
                other => std::io::Error::other(refused.insert(other).to_string()),
            })
        });
        if let Some(wrong) = refused {
            let path = ramline_view::escape(&self.file.to_string_lossy()).into_owned();
            let way = match wrong {
                OracleError::Compressed => format!("zstd -d {path}"),
                _ => "ramline trace import FILE --from oracle-general --out load.trace".to_owned(),
            };
            return Err(Failure::usage(format!("{path}: {wrong}\n  try: {way}")).into());
        }
        written?;
        Ok(exit::DONE)
    }
}
