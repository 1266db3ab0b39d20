//! What `cache trace` and `cache watch` counted.

use super::{Name, Tally};
use crate::prelude::*;

/// Pages by what happened to them. Counters over the time that was recorded, in pages unless said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Touched {
    /// Requests by read(2) and its kin (pread, readv, sendfile, splice): a count of requests.
    pub reads: u64,
    /// Pages these asked for that were in the page cache.
    pub read_hits: u64,
    /// Pages these asked for that were not.
    pub read_misses: u64,
    /// Page faults on mappings that reached the page cache: a count of faults.
    pub faults: u64,
    /// Pages in the windows and folios that these mapped, each once for a process: at most that many were mapped. The kernel maps what it
    /// has of a window around a fault, and does not record which pages those are; nor which of them are used.
    pub mapped: u64,
    /// Faults whose page was not in the page cache: they waited for the disk.
    pub mapped_misses: u64,
    /// Pages read ahead of any request for them.
    pub read_ahead: u64,
    /// Pages brought in otherwise: written to, or asked for in advance (fadvise, readahead(2), madvise).
    pub brought: u64,
    /// Pages taken out to make room, or by DAMON.
    pub evicted: u64,
    /// Of these, taken out by DAMON, which goes by how long they were idle.
    pub by_age: u64,
    /// Pages taken out on request (fadvise, as `cache evict` does), or because their file was deleted or cut.
    pub dropped: u64,
    /// Pages that came back after they had been evicted; only of what is watched.
    pub refaulted: u64,
}

impl Touched {
    /// Adds another.
    pub fn add(&mut self, other: &Touched) {
        add_each!(self, other; reads, read_hits, read_misses, faults, mapped, mapped_misses, read_ahead, brought,
            evicted, by_age, dropped, refaulted);
    }

    /// Page requests that found their page: pages asked for by read(2), and page faults. Pages beside the one of a fault are not among
    /// them: nobody asked for those.
    #[must_use]
    pub const fn hits(&self) -> u64 {
        self.read_hits.saturating_add(self.faults.saturating_sub(self.mapped_misses))
    }

    /// Page requests: pages asked for by read(2), and page faults.
    #[must_use]
    pub const fn asked(&self) -> u64 {
        self.hits().saturating_add(self.misses())
    }

    /// The share of page requests that found their page, 0 to 1; `None` without any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for reading")]
    pub fn hit_share(&self) -> Option<f64> {
        let asked = self.asked();
        (asked > 0).then(|| self.hits() as f64 / asked as f64)
    }

    /// Pages taken out, for whatever reason.
    #[must_use]
    pub const fn taken_out(&self) -> u64 {
        self.evicted.saturating_add(self.dropped)
    }

    /// Page requests that did not find their page.
    #[must_use]
    pub const fn misses(&self) -> u64 {
        self.read_misses.saturating_add(self.mapped_misses)
    }
}

/// How much this kernel tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Requests, faults, and the marks that tell a miss from read-ahead.
    #[default]
    Full,
    /// Requests and faults without those marks: what a process asked for in advance counts as a miss.
    NoMarks,
    /// Only what came and went (kernels before 6.12): no hits and no misses.
    ChangesOnly,
}

/// Counts of one process for one file, of a file, or of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TracedProcess {
    /// Process id.
    pub pid: u32,
    /// Its name, the last it had.
    pub name: String,
    /// What it did; `evicted` and `dropped` are what it took out, of whichever file.
    #[serde(flatten)]
    pub touched: Touched,
}

/// A file, and who touched it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TracedFile {
    /// Its path; `MAJOR:MINOR inode N` where it could not be found.
    #[serde(flatten)]
    pub name: Name,
    /// Its device, as `MAJOR:MINOR`.
    pub device: String,
    /// Its inode.
    pub inode: u64,
    /// Its length when it was last looked at; `None` where it is not known, and then a request beyond its end counts too much.
    pub length: Option<Bytes>,
    /// What happened to its pages.
    #[serde(flatten)]
    pub touched: Touched,
    /// By process, the one that touched most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<TracedProcess>,
    /// Who took pages of it out, the most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<Pushed>,
}

/// Why pages were taken out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// To make room.
    #[default]
    Room,
    /// By DAMON, because they were idle for a while, whether memory is short or not.
    Age,
    /// On request (fadvise, as `cache evict` does), or because the file was deleted or cut.
    Request,
}

/// Who took pages out, why, and for what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pushed {
    /// Why.
    pub why: Taken,
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub process: String,
    /// The file it was bringing in at that moment; `None` when it needed memory for something else, or that was not recorded.
    pub file: Option<Name>,
    /// The kernel's own thread did it on its behalf: the share that falls to it by what it brought in meanwhile.
    pub through: Option<String>,
    /// Pages taken out.
    pub pages: u64,
}

/// What the recording cost, and what it missed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Recorded {
    /// How long it lasted.
    pub lasted: Nanos,
    /// Records taken in: a count.
    pub events: u64,
    /// Records lost for want of room in the kernel's buffer: then all counts are lower bounds.
    pub lost: u64,
    /// CPU time of the recording process itself. What a record costs the recorded process is not in it.
    pub own_cpu: Nanos,
    /// How much this kernel tells.
    pub level: Level,
}

/// What `cache trace` counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Traced {
    /// Bytes of a page.
    pub page: Bytes,
    /// Who was recorded, in words.
    pub whom: String,
    /// How it was recorded.
    #[serde(flatten)]
    pub recorded: Recorded,
    /// All of it.
    pub total: Touched,
    /// By file, the most touched first.
    pub files: Vec<TracedFile>,
    /// By process, the one that touched most first.
    pub processes: Vec<TracedProcess>,
    /// What the command ended with: its exit code, or 128 and the signal.
    pub exit: Option<i32>,
}

/// A look at what is watched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Look {
    /// After so long.
    pub at: Nanos,
    /// What was in the page cache then.
    #[serde(flatten)]
    pub tally: Tally,
}

/// What `cache watch` saw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Watched {
    /// Bytes of a page.
    pub page: Bytes,
    /// What was named.
    pub named: Vec<Name>,
    /// How it was recorded.
    #[serde(flatten)]
    pub recorded: Recorded,
    /// Residency over time.
    pub looks: Vec<Look>,
    /// What happened to pages of it.
    pub total: Touched,
    /// Who took pages of it out, the most first.
    pub pushed: Vec<Pushed>,
    /// The files of it that lost or regained pages, the one that lost most first.
    pub files: Vec<TracedFile>,
    /// What else evicts here: named.
    pub evictors: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_and_what_was_not_add_up_over_reads_and_mappings() {
        let mut all = Touched { read_hits: 3, read_misses: 1, ..Touched::default() };
        all.add(&Touched { faults: 5, mapped: 40, mapped_misses: 2, ..Touched::default() });
        assert_eq!((all.hits(), all.misses(), all.asked()), (6, 3, 9));
        let quarter = Touched { read_hits: 1, read_misses: 3, ..Touched::default() };
        assert_eq!((quarter.hit_share(), Touched::default().hit_share()), (Some(0.25), None));
    }
}
