//! Packs the style of the pages, which the binary carries: 10 KB become 3.

use std::path::Path;
use std::{env, fs, io};

use miniz_oxide::deflate::{CompressionLevel, compress_to_vec};

const STYLE: &str = "assets/report.css";

#[expect(clippy::disallowed_methods, reason = "runs when the crate is built, and reads and writes its sources")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={STYLE}");
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let packed = compress_to_vec(&fs::read(STYLE)?, CompressionLevel::UberCompression as u8);
    fs::write(Path::new(&folder).join("report.css.deflate"), packed)
}
