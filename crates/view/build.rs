//! Packs the schemas that the binary carries: 420 KB of JSON become 75.

use std::path::Path;
use std::{env, fs, io};

use miniz_oxide::deflate::{CompressionLevel, compress_to_vec};

const BUNDLE: &str = "../../schema/ramline.schema.json";

#[expect(clippy::disallowed_methods, reason = "runs when the crate is built, and reads and writes its sources")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={BUNDLE}");
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let packed = compress_to_vec(&fs::read(BUNDLE)?, CompressionLevel::UberCompression as u8);
    fs::write(Path::new(&folder).join("schema.deflate"), packed)
}
