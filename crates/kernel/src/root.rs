//! Where the kernel's files are: `/` on this machine, or the directory of a captured tree.

use crate::prelude::*;

/// The root below which every kernel path is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    dir: PathBuf,
}

impl Root {
    /// A root at `dir`; `/` is the live machine.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Root {
        Root { dir: dir.into() }
    }

    /// The live machine.
    #[must_use]
    pub fn live() -> Root {
        Root::new("/")
    }

    /// `path` (absolute, as on the live machine) below this root.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.dir.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// True when this is the running machine and not a captured tree.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.dir == Path::new("/")
    }
}
