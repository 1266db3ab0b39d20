//! What the operations have in common: the clock, the loop without the calls, writing and reading a whole file.

use std::hint::black_box;
use std::io::{Read, Write};

use ramline_kernel::process::Usage;

use super::task::Cost;
use crate::prelude::*;

/// When what is written is synced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Never.
    Never,
    /// Once, before it is closed.
    Last,
    /// After each block.
    Each,
}

/// How often the empty loop is timed.
const HARNESSES: usize = 5;

/// A stretch of work begins.
pub struct Clock {
    began: Nanos,
    usage: Usage,
}

impl Clock {
    /// Now.
    pub fn start() -> Result<Clock> {
        let usage = process::own_usage()?;
        Ok(Clock { began: process::monotonic(), usage })
    }

    /// What it took, and the major faults.
    pub fn stop(self) -> Result<(Cost, u64)> {
        let wall = process::monotonic().saturating_sub(self.began);
        let used = process::own_usage()?.since(&self.usage)?;
        Ok((Cost { wall, user: used.user, system: used.system }, used.majflt))
    }
}

/// The same loop without the calls: what counting and looking at the buffer costs. The shortest of a few turns of it by the clock: one in which
/// another program ran would be longer than the work that it is taken off.
pub fn harness(turns: u64, buffer: &[u8]) -> Result<Cost> {
    let all = (0..HARNESSES).map(|_| empty(turns, buffer)).collect::<Result<Vec<Cost>>>()?;
    Ok(all.into_iter().min_by_key(|cost| cost.wall).unwrap_or_default())
}

fn empty(turns: u64, buffer: &[u8]) -> Result<Cost> {
    let clock = Clock::start()?;
    for turn in 0..turns {
        black_box((turn, buffer));
    }
    Ok(clock.stop()?.0)
}

/// Removes a file; gone already is fine.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LabError::file("remove", path, error)),
        _ => Ok(()),
    }
}

/// Writes so many bytes block by block; the last may be shorter.
pub fn write_blocks(file: &mut File, block: &[u8], bytes: u64, sync: Sync) -> std::io::Result<()> {
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    while left > 0 {
        let now = left.min(block.len());
        file.write_all(&block[..now])?;
        left -= now;
        if sync == Sync::Each {
            file.sync_data()?;
        }
    }
    if sync == Sync::Last { file.sync_all() } else { Ok(()) }
}

/// Makes a file of `bytes`, block by block.
pub fn write_new(path: &Path, block: &[u8], bytes: u64, sync: Sync) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| write_blocks(&mut file, block, bytes, sync));
    written.map_err(|error| LabError::file("write", path, error))
}

/// Opens, reads to the end, closes; how many bytes there were.
pub fn read_all(path: &Path, buffer: &mut [u8]) -> Result<u64> {
    let failed = |error| LabError::file("read", path, error);
    let mut file = scratch::open(path)?;
    let mut bytes = 0u64;
    loop {
        match file.read(buffer).map_err(failed)? {
            0 => return Ok(bytes),
            more => bytes += u64::try_from(black_box(more)).unwrap_or_default(),
        }
    }
}
