//! For tests only: the binary under test, captured machines, and honest skips.

pub mod able;
mod trees;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use able::{not_root, repeated, skip_if};
pub use trees::{Files, files, names, tree, write};

/// The top of the checkout.
#[must_use]
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// The directory of the build that the running test is of: `target/debug`.
fn beside_tests() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// A name that no other call gets, of this test or another.
fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The binary under test: `RAMLINE_BIN`, or the one built beside the test.
///
/// # Panics
/// When it has not been built.
#[must_use]
pub fn binary() -> PathBuf {
    let path = std::env::var_os("RAMLINE_BIN").map_or_else(|| beside_tests().join("ramline"), PathBuf::from);
    assert!(path.is_file(), "{} is not built; try: cargo build", path.display());
    path
}

/// Runs the binary with no environment that changes its output.
///
/// # Panics
/// When it cannot be started.
#[must_use]
pub fn ramline(args: &[&str]) -> Run {
    let mut command = Command::new(binary());
    for name in ["COLUMNS", "TERM", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    let output = command.args(args).env("NO_COLOR", "1").output();
    Run::from_output(output.unwrap_or_else(|e| panic!("cannot start ramline: {e}")))
}

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Messages.
    pub stderr: String,
}

impl Run {
    /// The run of a finished process.
    #[must_use]
    pub fn from_output(output: Output) -> Self {
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A captured tree built file by file in a temporary directory, removed on drop.
#[derive(Debug)]
pub struct Tree {
    dir: PathBuf,
}

impl Tree {
    /// A copy of a tree under `fixtures/`, or an empty one for `""`.
    ///
    /// # Panics
    /// When the fixture does not exist or cannot be copied.
    #[must_use]
    pub fn from_fixture(fixture: &str) -> Tree {
        let dir = std::env::temp_dir().join(format!("ramline-tree-{}", unique()));
        let held = if fixture.is_empty() { Ok(Files::new()) } else { files(&project().join("fixtures"), fixture) };
        let laid = held.and_then(|files| write(&files, &dir).map_err(|e| format!("{}: {e}", dir.display())));
        laid.unwrap_or_else(|why| panic!("{why}"));
        Tree { dir }
    }

    /// Writes one file, with its directories.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn file(self, path: &str, text: impl AsRef<[u8]>) -> Tree {
        let full = self.dir.join(path.trim_start_matches('/'));
        let parent = full.parent().unwrap_or(&self.dir);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&full, text))
            .unwrap_or_else(|e| panic!("{}: {e}", full.display()));
        self
    }

    /// Removes one file or directory.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn without(self, path: &str) -> Tree {
        let full = self.dir.join(path.trim_start_matches('/'));
        let gone = if full.is_dir() { std::fs::remove_dir_all(&full) } else { std::fs::remove_file(&full) };
        gone.unwrap_or_else(|e| panic!("{}: {e}", full.display()));
        self
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &str {
        self.dir.to_str().unwrap_or_default()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.dir));
    }
}
