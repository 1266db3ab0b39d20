//! One reading of a file from its beginning to its end, by this process, in blocks of 1 MiB.
//!
//! What it is not: a mapping; see the experiments on read paths.

use std::io::Read;

use ramline_kernel::process::Usage;
use ramline_kernel::signals;

use super::{ColdWarm, warmth};
use crate::prelude::*;
use ramline_sandbox::child::command;

const BLOCK: usize = 1 << 20;

impl ColdWarm {
    pub(super) fn read_once(&self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        bench.progress.phase(&format!("bringing the file into the state {}", arm.name));
        let fresh = arm.name == "fresh";
        let path = if fresh {
            let dir = self.own_dir(bench)?;
            let path = bench
                .run
                .make_file(&dir.join("fresh"), |out| std::io::copy(&mut File::open(&self.file)?, out).map(drop))?;
            prove_fresh(&path, record)?;
            path
        } else {
            let warmth = warmth(arm);
            let state = self.files.bring_about(warmth)?;
            self.prove(warmth, state, record);
            self.file.clone()
        };
        bench.progress.phase("reading the file");
        let (wall, usage, read) = through(&path, self.timeout)?;
        bench.run.check_interrupted()?;
        record.verdict = match read {
            Some(_) => Verdict::Completed,
            None => Verdict::Thrashing(format!("it was not read within {} s", self.timeout.as_secs())),
        };
        command::note(wall, &usage, record);
        // Of a read that was given up the time is the clock's.
        record.figures = read.map(|_| command::figures(wall, &usage)).unwrap_or_default();
        Ok(())
    }
}

/// A file just written is in the page cache, most of it not on the disk yet.
fn prove_fresh(path: &Path, record: &mut RunRecord) -> Result<()> {
    let file = input::open("read", path)?;
    let length = file.metadata().map_err(|error| LabError::file("look at", path, error))?.len();
    let state = residency::count_ranges(&file, path, &[(0, u64::MAX >> 1)])?;
    let bytes = |count: u64| Bytes(count.saturating_mul(process::page_size()));
    let there = format!("{} of {}", bytes(state.cached).min(Bytes(length)), Bytes(length));
    record.verified.insert("needed pages in the page cache before the run".to_owned(), there);
    if let Some(dirty) = state.dirty {
        record.verified.insert("of these, not yet written to the disk".to_owned(), bytes(dirty).to_string());
    }
    Ok(())
}

/// Time, what this process used, and the bytes; those are `None` when the time was over before the end.
fn through(path: &Path, timeout: Duration) -> Result<(Nanos, Usage, Option<Bytes>)> {
    let failed = |error| LabError::file("read", path, error);
    let mut buffer = vec![1; BLOCK];
    let before = process::own_usage()?;
    let begin = process::monotonic();
    let passed = || process::monotonic().saturating_sub(begin);
    let late = Nanos(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let (mut file, mut total) = (input::open("read", path)?, 0);
    let ended = loop {
        let got = file.read(&mut buffer).map_err(failed)?;
        if got == 0 {
            break true;
        }
        total += u64::try_from(got).unwrap_or_default();
        if passed() > late || signals::interrupted() {
            break false;
        }
    };
    let wall = passed();
    Ok((wall, process::own_usage()?.since(&before)?, ended.then_some(Bytes(total))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_file_is_read_and_a_clock_that_is_over_ends_it() {
        let path = std::env::current_exe().unwrap();
        let length = std::fs::metadata(&path).unwrap().len();
        let (wall, _, read) = through(&path, Duration::from_secs(60)).unwrap();
        assert_eq!((read, wall.0 > 0), (Some(Bytes(length)), true));
        assert_eq!(through(&path, Duration::ZERO).unwrap().2, None);
    }
}
