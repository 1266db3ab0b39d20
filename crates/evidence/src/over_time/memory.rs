//! Where the memory of a run was at each look, in parts that add up to what it may use, and what is in swap on top.
//!
//! Worked example: of a group of 100 MiB that uses 90, of which 60 are anonymous, 30 are files and 10 are free.

use super::Points;
use crate::prelude::*;

/// A part, in the order in which a picture stacks them from the bottom up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPart {
    /// Anonymous memory of the workload.
    Anonymous,
    /// Shared memory, and code that is mapped.
    Shared,
    /// Files, and the kernel's own.
    Files,
    /// The compressed pool.
    Pool,
    /// Free below the limit.
    Free,
    /// In swap, so not in memory.
    Swapped,
}

impl MemoryPart {
    /// All, from the bottom up.
    pub const ALL: [MemoryPart; 6] = {
        use MemoryPart::*;
        [Anonymous, Shared, Files, Pool, Free, Swapped]
    };
}

/// The memory of a run at one look, by [`MemoryPart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldMemory([Bytes; 6]);

impl HeldMemory {
    /// The memory in this sample of this run.
    #[must_use]
    pub fn from_sample(sample: &Sample, run: &RunRecord) -> HeldMemory {
        let pool = sample.pool.unwrap_or_default();
        // The pool of a guest is inside what the guest uses; of a group it is beside.
        let inside = if run.sandbox == "vm" { pool } else { Bytes::ZERO };
        let file = sample.file.saturating_sub(inside);
        let shmem = sample.shmem.min(file);
        let free = if sample.limit == Bytes::ZERO { Bytes::ZERO } else { sample.limit.saturating_sub(sample.usage) };
        HeldMemory([sample.anon, shmem, file.saturating_sub(shmem), pool, free, sample.swap])
    }

    /// How much is in a part.
    #[must_use]
    pub const fn bytes(&self, part: MemoryPart) -> Bytes {
        self.0[part as usize]
    }
}

/// For each of these parts (from the bottom up) the upper edge of its area over time, in bytes: itself and all below it.
#[must_use]
pub fn stacked(run: &RunRecord, parts: &[MemoryPart]) -> Vec<Points> {
    let edge = |highest: usize| {
        run.at_each_look(|sample| {
            let held = HeldMemory::from_sample(sample, run);
            parts.iter().take(highest + 1).map(|part| held.bytes(*part).as_f64()).sum()
        })
    };
    (0..parts.len()).map(edge).collect()
}

/// The limit over time, in bytes; `None` where the run had none.
#[must_use]
pub fn limit(run: &RunRecord) -> Option<Points> {
    let limited = run.samples.iter().any(|sample| sample.limit > Bytes::ZERO);
    limited.then(|| run.at_each_look(|sample| sample.limit.as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Nanos;

    fn sample() -> Sample {
        let mib = Bytes::from_mib;
        Sample {
            at: Nanos(1_000_000_000),
            usage: mib(90),
            limit: mib(100),
            anon: mib(60),
            file: mib(30),
            shmem: mib(5),
            swap: mib(7),
            pool: Some(mib(10)),
            ..Sample::default()
        }
    }

    fn parts(sandbox: &str, sample: &Sample) -> [u64; 6] {
        let run = RunRecord { sandbox: sandbox.to_owned(), ..RunRecord::default() };
        let held = HeldMemory::from_sample(sample, &run);
        MemoryPart::ALL.map(|part| held.bytes(part).0 >> 20)
    }

    #[test]
    fn free_is_what_is_left_of_the_limit_and_the_pool_of_a_guest_is_inside_its_files() {
        assert_eq!(parts("cgroup-v2", &sample()), [60, 5, 25, 10, 10, 7]);
        assert_eq!(parts("vm", &sample()), [60, 5, 15, 10, 10, 7]);
        assert_eq!(
            parts("none", &Sample { limit: Bytes::ZERO, ..sample() })[4],
            0,
            "without a limit nothing is left of it"
        );
        let much = Sample { shmem: Bytes::from_mib(400), ..sample() };
        assert_eq!(parts("cgroup-v2", &much), [60, 30, 0, 10, 10, 7], "never more shared than there is of files");
    }

    #[test]
    fn an_edge_is_the_part_and_all_below_it() {
        let run = RunRecord { samples: vec![sample()], ..RunRecord::default() };
        let mib = |mib: u64| Bytes::from_mib(mib).as_f64();
        let edges = stacked(&run, &[MemoryPart::Anonymous, MemoryPart::Files, MemoryPart::Free]);
        assert_eq!(edges, [[(1.0, mib(60))], [(1.0, mib(85))], [(1.0, mib(95))]]);
        assert_eq!((limit(&run), limit(&RunRecord::default())), (Some(vec![(1.0, mib(100))]), None));
    }
}
