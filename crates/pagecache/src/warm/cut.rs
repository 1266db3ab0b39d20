//! What is read as one: files cut into batches and stretches.

use std::ops::Range;

use super::depth::MOST;
use super::wanted::Wanted;
use crate::prelude::*;

/// A stretch of a large file is an eighth of it, but no longer than this.
const STRETCH: u64 = 64 << 20;
/// Files of which no more is wanted go in batches of at most so many files and bytes.
pub const SMALL: u64 = 64 << 10;
pub const BATCH: (usize, u64) = (32, 1 << 20);
/// What is allowed at a time, by the guard and by the depth.
pub const WINDOW: u64 = 8 << 20;

/// All files in their order, cut into batches. Where there is a rate no more is asked for than it allows: then each is alone.
pub fn batches(files: &impl Wanted, together: bool) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    // Room for more in the last one, in bytes.
    let mut room = 0;
    for number in 0..files.count() {
        let bytes = files.bytes(number);
        match out.last_mut() {
            Some(last) if room > 0 && bytes <= room.min(SMALL) && last.len() < BATCH.0 => {
                last.end = number + 1;
                room -= bytes;
            }
            _ => {
                out.push(number..number + 1);
                room = if together && bytes <= SMALL { BATCH.1 - bytes } else { 0 };
            }
        }
    }
    out
}

/// How long a stretch is of a file of which so much is missing, in whole windows. Where the margin does not hold what is read ahead of all
/// readers (each as far as two read-aheads beyond what was allowed), they read window by window, all at one place: then what is read ahead of one is what
/// the next one reads.
pub fn stretch(missing: u64, margin: u64, ahead: Option<Bytes>) -> u64 {
    let apart = ahead.is_some_and(|ahead| margin / (2 * MOST) >= ahead.0);
    (missing / 8).clamp(WINDOW, if apart { STRETCH } else { WINDOW }).div_ceil(WINDOW) * WINDOW
}

/// A range cut at the multiples of a step: between two parts nothing is that is no larger than a step and lies at a multiple of its size, as folios do.
pub fn steps(offset: u64, length: u64, step: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = offset.saturating_add(length);
    let mut at = offset;
    std::iter::from_fn(move || {
        let part = (at < end).then(|| (at, (step - at % step).min(end - at)))?;
        at += part.1;
        Some(part)
    })
}

/// Bytes of the whole pages a range touches: so much is read in.
pub fn page_span((offset, length): (u64, u64), page: u64) -> u64 {
    (offset.saturating_add(length).div_ceil(page) - offset / page).saturating_mul(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::Path;

    use ramline_kernel::KernelError;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_file_is_read_in_eight_stretches_unless_these_are_too_short_or_too_long() {
        let of = |mib: u64| stretch(mib * MIB, 256 * MIB, Some(Bytes::from_mib(8))) / MIB;
        assert_eq!([of(0), of(64), of(100), of(511), of(512), of(30 << 10)], [8, 8, 16, 64, 64, 64]);
        let far = |margin, ahead| stretch(30 << 30, margin, ahead) > WINDOW;
        assert!(far(4 * MIB, Some(Bytes::from_kib(128))));
        // Readers far from each other would bring in more than the margin; or nobody knows.
        assert!(!far(256 * MIB - 1, Some(Bytes::from_mib(8))) && !far(u64::MAX, None));
    }

    #[test]
    fn parts_end_at_multiples_of_the_step_and_nothing_is_lost() {
        let of = |offset, length| steps(offset, length, 8).collect::<Vec<_>>();
        assert_eq!(of(0, 20), [(0, 8), (8, 8), (16, 4)]);
        assert_eq!(of(5, 12), [(5, 3), (8, 8), (16, 1)]);
        assert_eq!(of(5, 2), [(5, 2)]);
        assert_eq!(of(3, 0), []);
        assert_eq!(of(u64::MAX - 3, 9), [(u64::MAX - 3, 3)]);
    }

    struct Sizes(Vec<u64>);

    impl Wanted for Sizes {
        fn count(&self) -> usize {
            self.0.len()
        }
        fn path(&self, _: usize) -> &Path {
            Path::new("")
        }
        fn bytes(&self, number: usize) -> u64 {
            self.0[number]
        }
        fn open(&self, _: usize) -> Option<File> {
            None
        }
        fn missing(&self, _: usize, _: &File) -> Result<Vec<(u64, u64)>, KernelError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn small_files_go_together_and_large_ones_alone_and_none_is_left_out() {
        let of = |sizes: &[u64]| batches(&Sizes(sizes.to_vec()), true);
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[1, SMALL, SMALL + 1, 1, 0]), [0..2, 2..3, 3..5]);
        assert_eq!(of(&[4096; 70]), [0..32, 32..64, 64..70]);
        assert_eq!(of(&[SMALL; 20]), [0..16, 16..20], "a batch is 1 MiB at most");
        assert_eq!(of(&[u64::MAX, 1]), [0..1, 1..2]);
        assert_eq!(of(&[SMALL + 1, 0, 0]), [0..1, 1..3]);
        assert_eq!(batches(&Sizes(vec![1, 0]), false), [0..1, 1..2]);
    }
}
