//! What reading mapped files again costs on their disk: direct reads of those very files, past the page cache.
//!
//! Nothing is changed: direct reads neither add pages to the cache nor evict any; files known
//! to have changed pages are left out, because the kernel would write those first.

use std::collections::HashMap;

use ramline_evidence::LatencyStats;
use ramline_kernel::direct::Direct;
use ramline_model::maps::{Readable, Speed};

use crate::prelude::*;
use crate::tiers;

/// No read is begun after this time, so that all of it stays within 300 ms unless one read takes long.
pub const LIMIT: Duration = Duration::from_millis(260);
/// Of this many files, those with most to read again.
const FILES: usize = 16;
const PAGE: u64 = 4096;
const PIECE: u64 = 1 << 20;

/// Measures on the disk that holds most of the clean bytes.
///
/// # Errors
/// No file is on a disk that is known, or its file system has no direct I/O, or the reads did not reach the disk.
pub fn measure(root: &Root, files: &[Readable], seed: u64) -> Result<Speed, KernelError> {
    let start = Instant::now();
    let mut disks: HashMap<String, (Bytes, Vec<&Readable>)> = HashMap::new();
    for file in files.iter().filter(|f| f.clean.0 > 0) {
        if let Some(disk) = requests::disk_of(root, &file.via) {
            let entry = disks.entry(disk).or_default();
            entry.0 += file.clean;
            entry.1.push(file);
        }
    }
    let most = disks.into_iter().max_by_key(|(name, (clean, _))| (*clean, name.clone()));
    let Some((disk, (clean, files))) = most else {
        let feature = "a disk known to be below one of them";
        return Err(KernelError::unsupported("measure", "the disk of the files", feature));
    };
    let open: Vec<Direct> = files
        .iter()
        .filter(|f| f.length.0 >= PAGE)
        .take(FILES)
        .filter_map(|f| Direct::open(&f.via).ok())
        .filter(|f| f.size().0 >= PAGE)
        .collect();
    if open.is_empty() {
        return Err(KernelError::unsupported("measure", &disk, "direct reads of a file of at least 4 KiB on it"));
    }
    let before = requests::reads_completed(root, &disk);
    let random = random(&open, start, LIMIT / 2, seed)?;
    let reached = tiers::reached(before, requests::reads_completed(root, &disk), random.n);
    tiers::refuse_unless_reached(reached, &disk, "disk")?;
    let sequential = sequential(&open, start)?;
    let (files, took) = (u64::try_from(open.len()).unwrap_or(0), start.elapsed().into());
    Ok(Speed { disk, clean, files, random, sequential, took, reached })
}

/// Pages at random places, every page of every file as likely as any other.
fn random(files: &[Direct], start: Instant, limit: Duration, seed: u64) -> Result<LatencyStats, KernelError> {
    let pages: Vec<u64> = files.iter().map(|f| f.size().0 / PAGE).collect();
    let all: u64 = pages.iter().sum();
    let (mut rng, mut page) = (SplitMix64::new(seed), Buffer::new(usize::try_from(PAGE).unwrap_or(4096))?);
    let mut times = Vec::new();
    while times.is_empty() || start.elapsed() < limit {
        let mut at = rng.below(all);
        let Some(index) = pages.iter().position(|n| {
            let here = at < *n;
            at -= if here { 0 } else { *n };
            here
        }) else {
            continue;
        };
        let clock = Instant::now();
        files[index].read_at(&mut page, at * PAGE)?;
        times.push(clock.elapsed().into());
    }
    LatencyStats::from_durations(&times).ok_or_else(|| KernelError::unsupported("time", "reads", "a clock that moves"))
}

/// The files in order, piece by piece; each piece gives a throughput.
fn sequential(files: &[Direct], start: Instant) -> Result<Option<Measurement>, KernelError> {
    let mut rates = Vec::new();
    let buffer = |length: u64| Buffer::new(usize::try_from(length).unwrap_or(0));
    // Most pieces are whole: their buffer is made once.
    let mut whole = None;
    'all: for file in files {
        let mut offset = 0;
        loop {
            let length = (file.size().0.saturating_sub(offset) / PAGE * PAGE).min(PIECE);
            // Pieces much shorter than the others would be timed by their latency.
            if length < PIECE / 4 {
                break;
            }
            if start.elapsed() >= LIMIT {
                break 'all;
            }
            let mut piece =
                if length == PIECE { whole.take().map_or_else(|| buffer(PIECE), Ok)? } else { buffer(length)? };
            let clock = Instant::now();
            file.read_at(&mut piece, offset)?;
            let seconds = clock.elapsed().as_secs_f64();
            if seconds > 0.0 {
                rates.push(Bytes(length).as_f64() / seconds);
            }
            offset += length;
            if length == PIECE {
                whole = Some(piece);
            }
        }
    }
    Ok(Measurement::from_values(&rates, "bytes/s", "direct reads of up to 1 MiB in order, one at a time", &[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_testkit::able::{opens_directly, skip_if};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    #[test]
    fn our_own_program_is_read_past_the_page_cache_within_the_limit() {
        let via = std::env::current_exe().unwrap();
        assert!(measure(&Root::live(), &[], 256).is_err());
        let meta = std::fs::metadata(&via).unwrap();
        let (length, device) = (Bytes(meta.len()), meta.dev());
        let disk = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
        if skip_if(
            !Path::new(&disk).exists() || !opens_directly(&via),
            "reading past the page cache",
            "needs a disk with direct I/O",
        ) {
            return;
        }
        let speed = measure(&Root::live(), &[Readable { via, clean: length, length }], 256).unwrap();
        let random = speed.random;
        assert!(random.n > 0 && random.mean_ns > 0.0, "{speed:?}");
        // None is begun after the limit: all but one were over by then, however busy the machine was.
        let over = random.mean_ns * f64::from(u32::try_from(random.n).unwrap()) - random.max_ns.as_secs_f64() * 1e9;
        assert!(over <= (LIMIT / 2).as_secs_f64() * 1e9, "{speed:?}");
    }
}
