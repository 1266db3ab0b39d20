//! The physical limit `cache stat` is measured against: openat, cachestat, close of every file below DIR, by two threads, and nothing
//! else. `cargo run --release -p ramline-pagecache --example bare -- DIR` prints files, resident pages and the seconds of the loop.
//!
//! Directories are listed by the threads as they come, one level deep, as the trees of bench/cache-stat are.

use std::error::Error;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ramline_kernel::residency;
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat};

fn main() -> Result<(), Box<dyn Error>> {
    let top = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: bare DIR")?);
    let start = Instant::now();
    let directories: Vec<PathBuf> = std::fs::read_dir(&top)?.flatten().map(|entry| entry.path()).collect();
    let next = AtomicUsize::new(0);
    let sums = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| work(&directories, &next))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let (files, pages) = sums.iter().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    println!("{files} files {pages} pages {:.6} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn work(directories: &[PathBuf], next: &AtomicUsize) -> (u64, u64) {
    let (mut files, mut pages) = (0, 0);
    let mut buffer = Vec::with_capacity(32 << 10);
    while let Some(path) = directories.get(next.fetch_add(1, Ordering::Relaxed)) {
        let how = OFlags::RDONLY | OFlags::CLOEXEC;
        let Ok(dir) = openat(CWD, path, how | OFlags::DIRECTORY, Mode::empty()) else { continue };
        buffer.clear();
        let mut entries = RawDir::new(&dir, buffer.spare_capacity_mut());
        while let Some(Ok(entry)) = entries.next() {
            if entry.file_type() != FileType::RegularFile {
                continue;
            }
            let Ok(file) = openat(&dir, entry.file_name(), how, Mode::empty()) else { continue };
            if let Ok(seen) = residency::cachestat(file.as_fd(), 0, 0) {
                files += 1;
                pages += seen.cached;
            }
        }
    }
    (files, pages)
}
