//! What eviction would drop and a later use would read again, what it cannot drop, and the cost on the disk that was measured.

use std::path::PathBuf;

use ramline_evidence::{LatencyStats, Measurement};
use ramline_snapshot::maps::{Maps, Store};

use super::Mapped;
use super::files::{Basis, FileUse, device};
use crate::prelude::*;

/// Gauges, each page of a file once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reread {
    /// Clean file pages: dropped without a write, read again when they are used again.
    pub clean: Bytes,
    /// Of it, code.
    pub code: Bytes,
    /// Changed pages of files: written first. An upper bound; `None` where the kernel does not tell for one of the files.
    pub dirty: Option<Bytes>,
    /// Copies made by writing into private mappings of files, all processes added up: without swap they stay. `None` unless page
    /// tables were walked.
    pub copies: Option<Bytes>,
    /// Shared memory and files in RAM: without swap they stay.
    pub memory: Bytes,
    /// Locked, by each process's share: stays. `None` unless page tables were walked.
    pub locked: Option<Bytes>,
    /// Files of which it is not known.
    pub unknown: u64,
    /// Files known by page tables alone: there may be more of them in the page cache.
    pub by_tables: u64,
}

pub fn reread(files: &[FileUse]) -> Reread {
    let mut out = Reread { dirty: Some(Bytes::ZERO), ..Reread::default() };
    for file in files {
        if file.store == Store::Memory {
            out.memory += file.resident.unwrap_or_default();
        }
        if file.store != Store::FileSystem {
            continue;
        }
        if let Some(usage) = file.usage {
            *out.copies.get_or_insert_default() += usage.anonymous;
            *out.locked.get_or_insert_default() += usage.locked;
        }
        let Some(clean) = file.clean else {
            out.unknown += 1;
            continue;
        };
        out.clean += clean;
        // Dirty pages are counted for the file as a whole: none is assumed to be code.
        out.code += file.code.unwrap_or_default().min(clean);
        out.dirty = out.dirty.zip(file.dirty).map(|(sum, dirty)| sum + dirty);
        out.by_tables += u64::from(file.basis == Basis::PageTables && file.cached.is_none());
    }
    out
}

/// A file that can be read from to learn what reading again costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readable {
    /// Opens this very file.
    pub via: PathBuf,
    /// Clean bytes of it that are resident.
    pub clean: Bytes,
    /// Its length.
    pub length: Bytes,
}

/// The files to measure with, most clean bytes first. Those known to have changed pages are left out: a direct read would write them first.
#[must_use]
pub fn readable(maps: &Maps, mapped: &Mapped) -> Vec<Readable> {
    let uses: HashMap<(&str, u64), &FileUse> = mapped.files.iter().map(|f| ((f.device.as_str(), f.inode), f)).collect();
    let mut out: Vec<Readable> = maps
        .files
        .iter()
        .filter(|file| file.store == Store::FileSystem && file.residency.dirty.is_none_or(|dirty| dirty == Bytes::ZERO))
        .filter_map(|file| {
            let device = device(file);
            let used = uses.get(&(device.as_str(), file.inode))?;
            Some(Readable { via: file.via.clone()?, clean: used.clean?, length: file.length? })
        })
        .collect();
    ramline_units::sort_by_key(&mut out, |file| std::cmp::Reverse(file.clean));
    out
}

/// What reads of these very files cost, past the page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Speed {
    /// Name of the disk.
    pub disk: String,
    /// Clean bytes of the files that are on it.
    pub clean: Bytes,
    /// Files that were read from.
    pub files: u64,
    /// One page of 4 KiB at a random place.
    pub random: LatencyStats,
    /// In order, 1 MiB at a time, in bytes per second; `None` where no file is long enough or time was short.
    pub sequential: Option<Measurement>,
    /// How long measuring took.
    pub took: Nanos,
    /// Share of the requests that reached the disk, at most 1; `None` where it does not count.
    pub reached: Option<f64>,
}

/// What reading the clean pages again would take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cost {
    /// Bytes this is about: the clean pages of files on the disk measured.
    pub bytes: Bytes,
    /// Page by page, each at the mean latency: what faults cost at worst, without read-ahead.
    pub one_by_one: Nanos,
    /// All in order at the measured throughput: the best there is.
    pub in_order: Option<Nanos>,
}

impl Cost {
    /// The cost at a measured speed.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time for printing, never negative")]
    pub fn from_speed(speed: &Speed) -> Cost {
        let bytes = speed.clean;
        let pages = bytes.as_f64() / 4096.0;
        let in_order = speed.sequential.as_ref().filter(|m| m.median > 0.0);
        Cost {
            bytes,
            one_by_one: Nanos((pages * speed.random.mean_ns) as u64),
            in_order: in_order.map(|m| Nanos((bytes.as_f64() / m.median * 1e9) as u64)),
        }
    }
}
