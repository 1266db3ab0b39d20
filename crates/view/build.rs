//! Packs the schemas that the binary carries: 420 KB of JSON become 70.

use std::path::Path;
use std::{env, fs, io};

const BUNDLE: &str = "../../schema/ramline.schema.json";

#[expect(clippy::disallowed_methods, reason = "runs when the crate is built, and reads and writes its sources")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={BUNDLE}");
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let packed = lz4_flex::compress_prepend_size(&fs::read(BUNDLE)?);
    fs::write(Path::new(&folder).join("schema.lz4"), packed)
}
