//! Packs the style of the pages, which the binary carries: 10 KB become 3.

use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const STYLE: &str = "assets/report.css";

#[expect(clippy::disallowed_methods, reason = "runs when the crate is built, and reads and writes its sources")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={STYLE}");
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(STYLE)?)?;
    fs::write(Path::new(&folder).join("report.css.deflate"), packed.finish()?)
}
