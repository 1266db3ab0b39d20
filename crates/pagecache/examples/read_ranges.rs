//! The physical limit `cache restore` is measured against: reads given ranges of files, in the given order, by so many threads, and nothing
//! else. `cargo run --release -p ramline-pagecache --example read_ranges -- THREADS < LIST` prints the bytes and seconds of the loop.
//!
//! A line of LIST is `OFFSET LENGTH PATH`. Lines of one file that follow each other are read through one open file, without read-ahead.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use rustix::fs::{Advice, fadvise};

type Wanted = (String, Vec<(u64, u64)>);

fn main() -> Result<(), Box<dyn Error>> {
    let threads: usize = std::env::args().nth(1).ok_or("usage: read_ranges THREADS < LIST")?.parse()?;
    let mut files: Vec<Wanted> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let (Some(offset), Some(length), Some(path)) = (words.next(), words.next(), words.next()) else { continue };
        let range = (offset.parse()?, length.parse()?);
        match files.last_mut().filter(|(last, _)| last == path) {
            Some((_, ranges)) => ranges.push(range),
            None => files.push((path.to_owned(), vec![range])),
        }
    }
    let (next, bytes, start) = (AtomicUsize::new(0), AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&files, &next, &bytes));
        }
    });
    println!("{} bytes {:.6} s", bytes.load(Ordering::Relaxed), start.elapsed().as_secs_f64());
    Ok(())
}

fn work(files: &[Wanted], next: &AtomicUsize, bytes: &AtomicU64) {
    let mut buffer = vec![0; 512 << 10];
    while let Some((path, ranges)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let Ok(file) = File::open(path) else { continue };
        fadvise(&file, 0, None, Advice::Random).ok();
        for (offset, length) in ranges {
            let (mut at, end) = (*offset, offset + length);
            while at < end {
                let most = usize::try_from(end - at).unwrap_or(buffer.len()).min(buffer.len());
                let Ok(got @ 1..) = file.read_at(&mut buffer[..most], at) else { break };
                at += u64::try_from(got).unwrap_or(0);
            }
            bytes.fetch_add(at - offset, Ordering::Relaxed);
        }
    }
}
