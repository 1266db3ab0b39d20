//! What `cache save` and `cache restore` did.

use super::done::per_second;
use super::{Doing, Name, Remark, Stop, WarmedFile};
use crate::prelude::*;

/// What `cache save` did. Sizes are those at the moment of the walk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Saved {
    /// Written, or only looked at.
    pub doing: Doing,
    /// The file of the hot set.
    pub file: Name,
    /// Where hot files were looked for.
    pub trees: Vec<Name>,
    /// Files of which something is in the page cache.
    pub files: u64,
    /// What of them is, in whole pages.
    pub hot: Bytes,
    /// Of these files, those that are there as a whole.
    pub whole: u64,
    /// What the hot set held that was in its place.
    pub before: Option<Bytes>,
    /// Size of the file; `None` when only looked at.
    pub size: Option<Bytes>,
    /// Time spent looking at files.
    pub looked: Nanos,
    /// Time from beginning to end, with the writing.
    pub took: Nanos,
    /// Files that could not be asked, and why; they are not in the hot set.
    pub unknown: Vec<Remark>,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// What else evicts here, so that the page cache holds less than what is used: named.
    pub evictors: Vec<String>,
}

/// What `cache restore` did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Restored {
    /// Read, or only looked at.
    pub doing: Doing,
    /// The file of the hot set.
    pub file: Name,
    /// How long ago it was saved; `None` where this clock says that it has not been saved yet.
    pub age: Option<Nanos>,
    /// It was saved since the last boot.
    pub same_boot: bool,
    /// Files in it.
    pub files: u64,
    /// What of them was hot, in whole pages.
    pub hot: Bytes,
    /// Files that have changed since: left alone.
    pub changed: u64,
    /// The first few of them.
    pub changed_files: Vec<WarmedFile>,
    /// Files that are gone.
    pub gone: u64,
    /// The first few of them.
    pub gone_files: Vec<WarmedFile>,
    /// Lines that list a file once more: each file is counted once.
    pub listed_again: u64,
    /// Files whose turn did not come before it was interrupted: nothing is known of them, and they are in no sum.
    pub not_looked_at: u64,
    /// What was hot of the files that are as they were. From here on as it is now.
    pub wanted: Bytes,
    /// Of it in the page cache before.
    pub before: Bytes,
    /// Of it missing before.
    pub missing: Bytes,
    /// Read to bring it in.
    pub read: Bytes,
    /// Of what is wanted in the page cache afterwards, asked again; `None` when only looked at.
    pub after: Option<Bytes>,
    /// Time spent looking at files and reading them.
    pub took: Nanos,
    /// Readers at a time that served best.
    pub depth: u64,
    /// What the guard allowed at the start.
    pub room: Bytes,
    /// What set that bound.
    pub bound: String,
    /// What ended it early.
    pub stopped: Option<Stop>,
    /// Files that lost pages again before the end, or could not be read whole.
    pub lost: u64,
    /// The first few of them.
    pub lost_files: Vec<WarmedFile>,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// What else evicts here, so that what was restored goes by itself: named.
    pub evictors: Vec<String>,
}

impl Saved {
    /// Files of which only a part is there.
    #[must_use]
    pub const fn in_part(&self) -> u64 {
        self.files.saturating_sub(self.whole)
    }
}

impl Restored {
    /// How fast it was read, in bytes a second.
    #[must_use]
    pub fn rate(&self) -> Bytes {
        per_second(self.read, self.took)
    }

    /// The share of `part` in what was wanted, 0 to 1; `None` where nothing was. Others may have read more: it is cut there.
    #[must_use]
    pub fn share(&self, part: Bytes) -> Option<f64> {
        part.share_of(self.wanted).map(|share| share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_as_a_whole_or_in_part() {
        assert_eq!(Saved { files: 3, whole: 2, ..Saved::default() }.in_part(), 1);
        let restored =
            Restored { wanted: Bytes(8192), read: Bytes(4096), took: Nanos(2_000_000_000), ..Restored::default() };
        assert_eq!((restored.share(Bytes(4096)), restored.share(Bytes(1 << 20))), (Some(0.5), Some(1.0)));
        assert_eq!((restored.rate(), Restored::default().share(Bytes(1))), (Bytes(2048), None));
    }
}
