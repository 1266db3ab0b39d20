//! Mapped files: what of them is in RAM, who shares it, which are copies of each other, and what reading them again would cost.
//!
//! Sums over one reading of mappings ([`ramline_snapshot::maps::Maps`]). A file's resident bytes count each page once:
//! where page tables were walked, the pages present in them; else the pages of the page cache inside the mapped ranges, which
//! is at most more by what lies there unused. Not a forecast of what the kernel would evict first.
//!
//! ```
//! use ramline_model::maps::{Mapped, MapsOptions};
//! use ramline_snapshot::maps::Maps;
//! assert_eq!(Mapped::from_maps(&Maps::default(), &MapsOptions::default()).totals.files, 0);
//! ```

mod classes;
mod duplicates;
mod files;
mod reread;

use ramline_snapshot::maps::{Maps, Missed, Reading, Usage};

pub use classes::{Class, ClassUse, Closure, ClosureLine};
pub use duplicates::{Copy, Duplicate, Likeness};
use files::count;

use crate::prelude::*;
pub use files::{Basis, FileUse, MapsOptions, Program, Sort, Totals};
pub use reread::{Cost, Readable, Reread, Speed, readable};

/// Everything about the mapped files of a set of processes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mapped {
    /// Processes read.
    pub processes: u64,
    /// The only one, where one was asked for: id and name.
    pub process: Option<Program>,
    /// Executable ranges alone were asked for.
    pub code_only: bool,
    /// Sums over all files.
    pub totals: Totals,
    /// What would be read again after an eviction, and what cannot be evicted.
    pub reread: Reread,
    /// Ranges by what they are; of all processes added up.
    pub classes: Vec<ClassUse>,
    /// Held against what the kernel says of the processes; only where page tables were walked.
    pub closure: Option<Closure>,
    /// Every file, in the order asked for.
    pub files: Vec<FileUse>,
    /// Copies of one file.
    pub duplicates: Vec<Duplicate>,
    /// Every range in order of process and address; only where asked for.
    pub ranges: Vec<RangeUse>,
    /// Processes not seen.
    pub missed: Missed,
    /// How it was read.
    pub reading: Reading,
}

/// One range.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RangeUse {
    /// Process id.
    pub pid: u32,
    /// First address, in hexadecimal digits.
    pub start: String,
    /// First address behind it, in hexadecimal digits.
    pub end: String,
    /// Address space.
    pub size: Bytes,
    /// `r-xp`.
    pub permissions: String,
    /// Where in the file it starts, in bytes.
    pub offset: u64,
    /// Device of the file system, `fe:00`.
    pub device: Option<String>,
    /// Inode.
    pub inode: Option<u64>,
    /// The file.
    pub path: Option<String>,
    /// What it is.
    pub class: Class,
    /// From a walk of the page tables.
    pub usage: Option<Usage>,
}

impl RangeUse {
    /// Changed pages, its own and shared ones; `None` unless page tables were walked.
    #[must_use]
    pub fn dirty(&self) -> Option<Bytes> {
        self.usage.map(|used| used.shared_dirty + used.private_dirty)
    }
}

impl Mapped {
    /// Resident bytes of the files from a place in the list on: of those a short list does not show.
    #[must_use]
    pub fn resident_from(&self, place: usize) -> Bytes {
        self.files.iter().skip(place).filter_map(|file| file.resident).sum()
    }

    /// What sharing one copy of each file under several inodes would save: at least, and at most.
    #[must_use]
    pub fn sharing_saves(&self) -> (Bytes, Bytes) {
        let sum = |of: fn(&Duplicate) -> Bytes| self.duplicates.iter().map(of).sum();
        (sum(|copies| copies.saves_at_least), sum(|copies| copies.saves_at_most))
    }

    /// Why the page cache could not tell of files, each reason once, with how many files it holds for.
    #[must_use]
    pub fn unknown_files(&self) -> Vec<UnknownFiles> {
        let mut out: Vec<UnknownFiles> = Vec::new();
        for file in self.files.iter().filter(|file| file.cached.is_none() && file.basis != Basis::PageCache) {
            let why = file.why.as_deref().unwrap_or("it was not asked");
            match out.iter_mut().find(|known| known.basis == file.basis && known.why == why) {
                Some(known) => known.files += 1,
                None => out.push(UnknownFiles { basis: file.basis, why: why.to_owned(), files: 1 }),
            }
        }
        out
    }

    /// The sums of a reading.
    #[must_use]
    pub fn from_maps(maps: &Maps, options: &MapsOptions) -> Mapped {
        let files = files::files(maps, options);
        let process = match maps.processes.as_slice() {
            [one] => Some(Program { name: one.name.clone(), processes: 1, pid: Some(one.pid) }),
            _ => None,
        };
        Mapped {
            processes: count(maps.processes.len()),
            process,
            code_only: options.code_only,
            totals: files::totals(&files),
            reread: reread::reread(&files),
            classes: classes::classes(maps),
            closure: classes::closure(maps),
            duplicates: duplicates::duplicates(maps, &files),
            ranges: if options.ranges { ranges(maps, options) } else { Vec::new() },
            missed: maps.missed,
            reading: maps.reading,
            files,
        }
    }
}

/// Files of which the page cache could not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFiles {
    /// By what they are known instead.
    pub basis: Basis,
    /// Why.
    pub why: String,
    /// How many.
    pub files: u64,
}

fn ranges(maps: &Maps, options: &MapsOptions) -> Vec<RangeUse> {
    let mut out = Vec::new();
    for process in &maps.processes {
        for mapping in process.mappings.iter().filter(|m| m.execute || !options.code_only) {
            let file = files::behind(maps, mapping);
            out.push(RangeUse {
                pid: process.pid,
                start: format!("{:x}", mapping.start),
                end: format!("{:x}", mapping.end),
                size: mapping.size(),
                permissions: mapping.permissions(),
                offset: mapping.offset,
                device: file.map(files::device),
                inode: file.map(|f| f.inode),
                path: file.map(|f| f.path.clone()),
                class: classes::class(mapping, file),
                usage: mapping.usage,
            });
        }
    }
    out
}

#[cfg(test)]
mod tests;
