//! Packs the schemas that the binary carries: 420 KB of JSON become 75.

use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

const BUNDLE: &str = "../../schema/ramline.schema.json";

#[expect(clippy::disallowed_methods, reason = "runs when the crate is built, and reads and writes its sources")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={BUNDLE}");
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(BUNDLE)?)?;
    fs::write(Path::new(&folder).join("schema.deflate"), packed.finish()?)
}
