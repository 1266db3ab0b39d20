//! What directories hold: bytes, inodes and how much of it is in the page cache already.

use crate::prelude::*;

/// One directory tree, walked without leaving its file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DirUse {
    /// Where.
    pub path: String,
    /// Bytes allocated (as `du`), hard links once.
    pub allocated: Bytes,
    /// Bytes a tmpfs would need: every file rounded up to pages.
    pub on_tmpfs: Bytes,
    /// Inodes.
    pub inodes: u64,
    /// Bytes in the page cache; `None` where the kernel could not be asked.
    pub cached: Option<Bytes>,
    /// Entries that could not be read.
    pub refused: u64,
    /// False when the walk ran out of its budget: the figures are lower bounds.
    pub complete: bool,
}
