//! What a child is to do with files, and what it reports of it.
//!
//! ```
//! use ramline_lab::fileops::Op;
//! assert_eq!(Op::named("read-cold"), Some(Op::ReadCold));
//! assert!(Op::ReadCold.needs_a_disk());
//! ```

use crate::prelude::*;

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// A new file, block by block, closed, not synced.
    Write,
    /// The same with one fsync before it is closed.
    WriteSynced,
    /// Blocks appended with an fdatasync after each.
    WriteSyncEach,
    /// The whole file, several times, all of it in memory.
    ReadWarm,
    /// The whole file once, none of it in memory.
    ReadCold,
    /// A new file written through a shared mapping.
    MappedWrite,
    /// The same with one msync.
    MappedSynced,
    /// Many small files.
    Files,
    /// Many small files, each synced.
    FilesSynced,
    /// Deleting many small files.
    DeleteFiles,
    /// Deleting the large file.
    Delete,
    /// Open, read everything in small calls, close; many times.
    Read,
    /// Open and empty, write one block, close; many times.
    Rewrite,
    /// Open, write one block over what is there, close; many times.
    InPlace,
    /// A file and a program that together do not fit.
    Pressure,
}

/// What an operation's rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Bytes.
    Bytes,
    /// Things, and their word.
    Things(&'static str),
}

impl Op {
    const ALL: [Op; 15] = [
        Op::Write,
        Op::WriteSynced,
        Op::WriteSyncEach,
        Op::ReadWarm,
        Op::ReadCold,
        Op::MappedWrite,
        Op::MappedSynced,
        Op::Files,
        Op::FilesSynced,
        Op::DeleteFiles,
        Op::Delete,
        Op::Read,
        Op::Rewrite,
        Op::InPlace,
        Op::Pressure,
    ];

    /// As on the command line and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Write => "write",
            Op::WriteSynced => "write-synced",
            Op::WriteSyncEach => "write-sync-each",
            Op::ReadWarm => "read-warm",
            Op::ReadCold => "read-cold",
            Op::MappedWrite => "mapped-write",
            Op::MappedSynced => "mapped-synced",
            Op::Files => "files",
            Op::FilesSynced => "files-synced",
            Op::DeleteFiles => "delete-files",
            Op::Delete => "delete",
            Op::Read => "read",
            Op::Rewrite => "rewrite",
            Op::InPlace => "in-place",
            Op::Pressure => "pressure",
        }
    }

    /// The operation of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// What its rate counts.
    #[must_use]
    pub const fn counts(self) -> Counts {
        match self {
            Op::Files | Op::FilesSynced | Op::DeleteFiles => Counts::Things("files/s"),
            Op::Read => Counts::Things("reads/s"),
            Op::Rewrite | Op::InPlace => Counts::Things("writes/s"),
            _ => Counts::Bytes,
        }
    }

    /// In memory there is nothing to read from anywhere else.
    #[must_use]
    pub const fn needs_a_disk(self) -> bool {
        matches!(self, Op::ReadCold)
    }
}

/// One operation with its sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTask {
    /// What to do.
    pub op: Op,
    /// Where: a directory that is empty or holds what an earlier operation left.
    pub dir: PathBuf,
    /// Size of the large file.
    pub size: Bytes,
    /// Bytes per call.
    pub block: Bytes,
    /// Small files, synced writes, or repetitions; passes over the file in a warm read.
    pub count: u64,
    /// Anonymous memory of the program beside the file; under pressure only.
    pub anonymous: Bytes,
    /// Contents.
    pub fill: Fill,
    /// Seed of random contents.
    pub seed: u64,
}

/// What a stretch of work took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// By the clock.
    pub wall: Nanos,
    /// In user mode. The kernel counts exactly how long a process ran, but splits it into user and system by what it did at
    /// clock ticks (unless it is built to account at every entry), so the split of a short run is rough.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
}

impl Cost {
    /// CPU time.
    #[must_use]
    pub const fn cpu(self) -> Nanos {
        Nanos(self.user.0.saturating_add(self.system.0))
    }

    /// Without the cost of `harness`; never below zero.
    #[must_use]
    pub const fn without(self, harness: Cost) -> Cost {
        Cost {
            wall: self.wall.saturating_sub(harness.wall),
            user: self.user.saturating_sub(harness.user),
            system: self.system.saturating_sub(harness.system),
        }
    }
}

/// What it reports: once when all is done; under pressure also when memory is full, and then it waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileReport {
    /// The operation.
    pub cost: Cost,
    /// The same loop without the calls.
    pub harness: Cost,
    /// Bytes written or read.
    pub bytes: u64,
    /// Files, reads or writes.
    pub things: u64,
    /// Pages of the file, and how many were in memory before and after; of reads only.
    pub pages: Option<(u64, u64, u64)>,
    /// Pages still dirty when the clock was stopped.
    pub dirty: Option<u64>,
    /// Major faults during the operation.
    pub major_faults: u64,
    /// Reading the file again after memory was full.
    pub back: Option<Cost>,
    /// Touching every page of the program again after memory was full.
    pub touched: Option<Cost>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_name_and_in_json_by_the_same() {
        for op in Op::ALL {
            assert_eq!(Op::named(op.name()), Some(op));
            assert_eq!(serde_json::to_string(&op).unwrap(), format!("\"{}\"", op.name()));
        }
        assert_eq!(Op::named("wirte"), None);
    }

    #[test]
    fn a_harness_that_costs_more_than_the_operation_leaves_nothing_and_not_a_huge_number() {
        let cost = |wall, user, system| Cost { wall: Nanos(wall), user: Nanos(user), system: Nanos(system) };
        assert_eq!(cost(10, 5, 5).without(cost(3, 7, 1)), cost(7, 0, 4));
        assert_eq!(cost(10, 5, 6).cpu(), Nanos(11));
    }
}
