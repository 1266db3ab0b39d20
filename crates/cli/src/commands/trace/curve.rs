//! `ramline trace curve`.

use ramline_trace::curve::MissCurve;

use super::files::{file_error, open};
use crate::prelude::*;

/// Show how many touches miss in a memory of each size, with plain LRU and with the best choice there is
///
/// Plain LRU is exact for every size, by stack distances. Belady's choice gives up the page whose next touch is farthest: nothing that loads
/// pages when they are touched misses less. The kernel does neither. Exit status: 7 when the file is cut off, 0 otherwise.
#[derive(Debug, Args)]
pub struct Curve {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Sizes of memory, comma-separated [default: twelve, up to all pages touched]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sizes: Vec<Bytes>,
    #[command(flatten)]
    format: Format,
}

impl Curve {
    pub fn run(&self) -> Result<u8> {
        let mut reader = open(&self.file)?;
        let curve = MissCurve::from_reader(&mut reader, &self.sizes).map_err(|error| file_error(&self.file, error))?;
        let path = ramline_view::escape(&self.file.to_string_lossy()).into_owned();
        let wrong = |what: &str| Failure::usage(format!("{what}\n  try: ramline trace info {path}"));
        ensure!(curve.touches > 0, wrong("it holds no single touches, and a curve is made of them"));
        ensure!(!curve.points.is_empty(), wrong("every size is smaller than a page"));
        self.format.versioned(&curve)?;
        Ok(if curve.whole { exit::DONE } else { exit::PARTLY })
    }
}
