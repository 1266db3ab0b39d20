//! Writes man pages and shell completions from the command line's own table.
//!
//! `cargo run -p ramline-cli --example generate -- DIR` writes DIR/man and DIR/completions; a test
//! compares them with those committed.

use std::error::Error;
use std::fs;
use std::path::Path;

use clap_complete::Shell;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: generate DIR")?;
    let dir = Path::new(&dir);
    let (man, completions) = (dir.join("man"), dir.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(ramline_cli::command(), &man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut ramline_cli::command(), "ramline", &completions)?;
    }
    Ok(())
}
