//! `ramline fleet`: many hosts, by a program of its own that is found and run.
//!
//! What it is not: part of this binary. Asking Parquet files takes an engine that is larger than all of ramline.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::prelude::*;

/// Its name.
const PROGRAM: &str = "ramline-fleet";
/// Where `make fleet` puts it, below the folder of the build.
const BUILT: &str = "fleet/bin/ramline-fleet";

/// Many hosts: would /tmp fit into their memory, and how sure is that? (ramline-fleet, installed by make fleet)
#[derive(Debug, Args)]
pub struct Fleet {
    /// What it is asked: `report FILE --layout new`, `ingest`, `synth`; `--help` for all
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Fleet {
    /// Becomes that program.
    ///
    /// # Errors
    /// It is not installed, or cannot be run.
    pub fn run(&self) -> Result<u8> {
        let program = found().ok_or_else(|| {
            let hint = "make fleet, in a checkout; or: python3 -m pip install ./fleet";
            Failure::new(exit::FAILED, format!("{PROGRAM} is not installed\n  try: {hint}"))
        })?;
        let words: &[OsString] = if self.words.is_empty() { &["--help".into()] } else { &self.words };
        let error = Command::new(&program).args(words).exec();
        Err(Failure::new(exit::FAILED, format!("cannot run {}: {error}\n  try: make fleet", program.display())).into())
    }
}

/// On the path, or beside the build that this program is from.
fn found() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&on_path).map(|folder| folder.join(PROGRAM)).collect::<Vec<_>>();
    let exe = process::own_exe().unwrap_or_default();
    let beside = exe.ancestors().skip(1).map(|folder| folder.join(BUILT));
    on_path.into_iter().chain(beside).find(|path| path.is_file())
}
