//! Scratch files: a private directory for them, their contents, and what of them is in the page cache.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use ramline_kernel::residency;

use crate::prelude::*;

/// Of the contents: the same in every run.
const SEED: u64 = 256;

/// A directory of ours in `place`.
///
/// # Errors
/// It cannot be made.
pub fn own_dir(place: &Path, run: &mut Run) -> Result<PathBuf> {
    // Not guessable, and the name must not exist: the step refuses one that is taken.
    let name = SplitMix64::new(process::monotonic().0 ^ u64::from(std::process::id()).rotate_left(40)).next_u64();
    Ok(run.make_dir(&place.join(format!("ramline-{name:016x}")))?)
}

/// Writes random bytes, so that no layer below can shorten or share them, and syncs them.
///
/// # Errors
/// They cannot be written.
pub fn fill(file: &mut File, size: Bytes) -> std::io::Result<()> {
    const CHUNK: u64 = 1 << 20;
    let mut rng = SplitMix64::new(SEED);
    let mut left = size.0;
    while left > 0 {
        let length = left.min(CHUNK);
        let chunk: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        file.write_all(&chunk[..usize::try_from(length).unwrap_or(chunk.len())])?;
        left -= length;
    }
    file.sync_all()
}

/// Makes such a file in a place that goes as a whole.
///
/// # Errors
/// It is there already, or cannot be written.
pub fn new_file(path: &Path, size: Bytes) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.and_then(|mut file| fill(&mut file, size)).map_err(|error| LabError::file("write", path, error))
}

/// A file to read.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| LabError::file("open", path, error))
}

/// Maps a file.
///
/// # Errors
/// It cannot be opened or mapped.
pub fn map(path: &Path) -> Result<Map> {
    Ok(Map::file(&open(path)?, path)?)
}

/// Reads a byte of each page; how many bytes it has, and how many pages were touched.
///
/// # Errors
/// A page cannot be read.
pub fn touch(map: &Map) -> Result<(u64, u64)> {
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    let mut touched = 0;
    for at in (0..map.len()).step_by(page) {
        map.touch_read(at)?;
        touched += 1;
    }
    Ok((u64::try_from(map.len()).unwrap_or(u64::MAX), touched))
}

/// Pages of a file in the page cache.
///
/// # Errors
/// It cannot be opened or counted.
pub fn cached(path: &Path) -> Result<u64> {
    Ok(residency::count(&open(path)?, path)?.cached)
}

/// Drops a file from the page cache and proves it.
///
/// # Errors
/// Pages stay: then the run would begin warm, with pages others have paid for.
pub fn evict(path: &Path) -> Result<()> {
    let evicted = residency::evict(&open(path)?, path)?;
    if evicted.after.cached == 0 {
        return Ok(());
    }
    let (left, all) = (evicted.after.cached, evicted.before.cached);
    Err(LabError::Workload(format!("{left} of {all} cached pages of {} could not be evicted", path.display())))
}
