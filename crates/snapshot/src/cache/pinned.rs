//! What `cache pin` holds in memory.

use ramline_units::{Bytes, Deserialize, JsonSchema, Serialize};

use super::{Remark, WarmedFile};

/// What `cache pin` holds in memory now; counters are named so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pinned {
    /// Files that are locked.
    pub files: u64,
    /// Their lengths in whole pages.
    pub pinned: Bytes,
    /// No more is locked than this.
    pub budget: Bytes,
    /// Files that are not locked.
    pub left_out: u64,
    /// The first few of them, with the reason.
    pub left_out_files: Vec<WarmedFile>,
    /// Files that were replaced by others of the same name and locked again. Counter.
    pub replaced: u64,
    /// Files that changed their length and were locked again. Counter.
    pub resized: u64,
    /// Files that came to be, or came back. Counter.
    pub added: u64,
    /// Files that went. Counter.
    pub gone: u64,
    /// The kernel notifies of changes (inotify); otherwise files are looked at every 30 s.
    pub watched: bool,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
}
