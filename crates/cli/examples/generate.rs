//! Writes man pages and shell completions from the command line's own table.
//!
//! `cargo run -p ramline-cli --example generate -- DIR` writes DIR/man and DIR/completions; a test
//! compares them with those committed.

use std::error::Error;
use std::fs;
use std::path::Path;

use ramline_cli::{complete, manual};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: generate DIR")?;
    let dir = Path::new(&dir);
    let (man, completions) = (dir.join("man"), dir.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    for (name, text) in manual::pages() {
        fs::write(man.join(name), text)?;
    }
    for (name, text) in complete::SCRIPTS {
        fs::write(completions.join(name), text)?;
    }
    Ok(())
}
