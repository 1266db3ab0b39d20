//! Of each experiment's page the binary carries what its reports show: how a result is read.

use std::path::Path;
use std::{env, fs, io};

const PAGES: &str = "../../docs/experiments";
const HEADING: &str = "\n## Reading the result\n";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PAGES}");
    let folder = Path::new(&env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?).join("reading");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(PAGES)? {
        let page = entry?.path();
        let text = fs::read_to_string(&page)?;
        let section = text.split_once(HEADING).map_or("", |(_, rest)| rest);
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        fs::write(folder.join(page.file_name().unwrap_or_default()), section)?;
    }
    Ok(())
}
