//! The page cache of the whole machine by file, directory and holder, held against what the kernel counts.

use ramline_units::{Bytes, Deserialize, JsonSchema, Serialize, SignedBytes};

use super::{FileRow, Remark, Tally, Tree};

/// What `cache top` saw, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Top {
    /// Bytes of a page.
    pub page: Bytes,
    /// What the kernel counts: Cached + Buffers - Shmem of /proc/meminfo at the end of the look.
    pub counted: Bytes,
    /// The same at its beginning.
    pub counted_before: Bytes,
    /// Files with a name.
    pub named: Tally,
    /// Files without one that processes hold.
    pub nameless: Bytes,
    /// Pages of block devices themselves (Buffers of /proc/meminfo): metadata of file systems, and devices read directly.
    pub devices: Bytes,
    /// `counted` less all of these, in bytes. Negative when files were read during the look.
    pub rest: SignedBytes,
    /// Of the files, what processes or loop devices have open or mapped.
    pub held: Bytes,
    /// Whole directories, each without those below it that are listed themselves, the most first.
    pub directories: Vec<Tree>,
    /// The files with the most, the most first.
    pub files: Vec<HotFile>,
    /// Processes by what is cached of the files they have open or mapped, the most first. A file counts for each of its holders.
    pub processes: Vec<CacheUser>,
    /// The same by group.
    pub groups: Vec<CacheUser>,
    /// Files without a name, the most first.
    pub nameless_files: Vec<HotFile>,
    /// Block devices this user may ask, the most first.
    pub device_files: Vec<FileRow>,
    /// Of `devices`, what is not in that list.
    pub devices_unlisted: Bytes,
    /// Block devices that may not be opened here: that is theirs.
    pub devices_closed: Vec<String>,
    /// File systems that were walked, by where.
    pub walked: Vec<Tree>,
    /// Everything was asked; otherwise the time was over first.
    pub complete: bool,
    /// Directories that were read.
    pub directories_read: u64,
    /// Processes this user may not look at.
    pub processes_denied: u64,
    /// Why the residency of files is not known.
    pub unknown: Vec<Remark>,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// What else evicts here, so that these figures fall by themselves: named.
    pub evictors: Vec<String>,
}

/// A file and who holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HotFile {
    /// The file.
    #[serde(flatten)]
    pub row: FileRow,
    /// Processes and loop devices that have it open or mapped.
    pub holders: u64,
    /// Some of them.
    pub held_by: Vec<CacheHolder>,
}

/// A process that holds a file; a loop device, with the process id 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheHolder {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

/// A process, or a group of them, by the page cache of the files it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheUser {
    /// Its name: of a process that of its program, of a group its path.
    pub name: String,
    /// Process id; of a group or a loop device none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Of a group, what its engine calls the container it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// In the page cache of its files.
    pub resident: Bytes,
    /// How many files those are.
    pub files: u64,
}

impl Top {
    /// What the lines explain of what the kernel counts.
    #[must_use]
    pub fn explained(&self) -> Bytes {
        self.named.resident + self.nameless + self.devices
    }

    /// Little of it was seen because this user may not look: what is said of the whole would be a guess.
    #[must_use]
    pub fn is_for_root(&self) -> bool {
        const MOST: f64 = 0.5;
        let is_refused = self.processes_denied > 0 || self.failed > 0;
        is_refused && self.share(self.explained()).is_some_and(|share| share < MOST)
    }

    /// What is cached of files that nobody has open or mapped.
    #[must_use]
    pub fn unheld(&self) -> Bytes {
        (self.named.resident + self.nameless).saturating_sub(self.held)
    }

    /// The share of `part` in what the kernel counts, 0 to 1 but for files read during the look; `None` where that was not seen.
    #[must_use]
    pub fn share(&self, part: Bytes) -> Option<f64> {
        part.share_of(self.counted)
    }

    /// By how much what the kernel counts changed during the look.
    #[must_use]
    pub fn moved(&self) -> SignedBytes {
        SignedBytes::difference(self.counted, self.counted_before)
    }
}

impl HotFile {
    /// Holders that are not named.
    #[must_use]
    pub fn more_holders(&self) -> u64 {
        self.holders.saturating_sub(u64::try_from(self.held_by.len()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_what_is_left_of_all_files() {
        let top = Top {
            counted: Bytes(1000),
            counted_before: Bytes(1200),
            named: Tally { resident: Bytes(600), ..Tally::default() },
            nameless: Bytes(100),
            devices: Bytes(200),
            held: Bytes(250),
            ..Top::default()
        };
        assert_eq!((top.unheld(), top.explained(), top.moved()), (Bytes(450), Bytes(900), SignedBytes(-200)));
        assert_eq!((top.share(Bytes(250)), Top::default().share(Bytes(1))), (Some(0.25), None));
        let held_by = vec![CacheHolder::default()];
        assert_eq!(HotFile { holders: 5, held_by, ..HotFile::default() }.more_holders(), 4);
    }
}
