//! Reads 4 KiB at random places of a file, all of it in the page cache, and prints nanoseconds a read: what `bench/cache-trace` slows down.
//!
//!     cached_pread FILE READS

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, path, reads] = words.as_slice() else { return Err("usage: cached_pread FILE READS".into()) };
    let (file, reads) = (File::open(path)?, reads.parse::<u64>()?);
    let pages = file.metadata()?.len() / 4096;
    let mut page = [0u8; 4096];
    for index in 0..pages {
        file.read_exact_at(&mut page, index * 4096)?;
    }
    let (begin, mut seed) = (Instant::now(), 88_172_645_463_325_252u64);
    for _ in 0..reads {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        file.read_exact_at(&mut page, seed % pages.max(1) * 4096)?;
    }
    println!("{}", begin.elapsed().as_nanos() / u128::from(reads.max(1)));
    Ok(())
}
