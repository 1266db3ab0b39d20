//! What the pages of a load compress to, by the libraries that stand for the kernel's.

use ramline_measure::pages::named;
use ramline_predict::error::PredictError;
use ramline_sandbox::fill::{Fill, Filler};

use crate::prelude::*;

/// Of a page that does not compress.
const WHOLE: u16 = 4096;

/// What so many pages of a fill compress to; 0 for one of zeros. Without an algorithm only that matters.
///
/// # Errors
/// There is no such fill or algorithm.
pub fn compressed(fill: &str, algorithm: Option<&str>, seed: u64, pages: u32) -> Result<Vec<u16>, PredictError> {
    let none = |error: LabError| match error {
        LabError::Usage { message, hint } => PredictError::Usage { message, hint },
        other => PredictError::usage(other.to_string(), "ramline predict --fill text"),
    };
    lengths(fill.parse().map_err(none)?, algorithm, seed, pages)
}

fn lengths(fill: Fill, algorithm: Option<&str>, seed: u64, pages: u32) -> Result<Vec<u16>, PredictError> {
    let none = |why: String| PredictError::usage(why, "ramline predict --settings zram:lz4:60");
    let mut codec = algorithm.map(named).transpose().map_err(none)?;
    let mut filler = Filler::new(fill, seed);
    let (mut page, mut out) = (vec![0_u8; WHOLE.into()], vec![0_u8; 2 * usize::from(WHOLE)]);
    let mut length = |number: u32| {
        filler.fill(number.into(), &mut page);
        if page.iter().all(|byte| *byte == 0) {
            return 0;
        }
        let compressed = codec.as_mut().and_then(|codec| codec.compress(&page, &mut out));
        compressed.and_then(|length| u16::try_from(length).ok()).unwrap_or(WHOLE).min(WHOLE)
    };
    Ok((0..pages).map(&mut length).collect())
}

#[cfg(test)]
pub mod tests {
    use std::os::unix::fs::FileExt;
    use std::process::Command;

    use ramline_sim::kernel::{Kernel, PRESETS};
    use ramline_sim::zsmalloc::Pool;
    use ramline_testkit::{not_root, skip_if};

    use super::*;

    #[test]
    fn each_page_has_a_length_of_its_own() {
        let all = |fill, algorithm| compressed(fill, algorithm, 7, 256).unwrap();
        let text = all("text", Some("lz4"));
        assert!(text.len() == 256 && text.iter().any(|length| *length != text[0]), "{text:?}");
        let alike = |fill, algorithm, length| all(fill, algorithm).iter().all(|one| *one == length);
        assert!(alike("zeros", Some("lz4"), 0) && alike("random", Some("lz4"), WHOLE));
        // Without an algorithm it only matters whether it is zeros.
        assert!(alike("text", None, WHOLE));
    }

    /// A zram of this machine that goes when the test ends, however it ends.
    pub struct Scratch(pub zram::Device);

    impl Scratch {
        pub fn new(root: &Root) -> Scratch {
            Scratch(zram::hot_add(root).unwrap())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(self.0.reset());
            drop(self.0.hot_remove());
        }
    }

    #[test]
    fn a_pool_of_this_kernel_is_what_the_simulator_says_page_by_page() {
        let test = "a_pool_of_this_kernel_is_what_the_simulator_says_page_by_page";
        let root = Root::live();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let kernel = Kernel::nearest(&release).unwrap_or(PRESETS[2]);
        if not_root(test) || skip_if(!zram::has_control(&root), test, "needs zram") {
            return;
        }
        const SLOTS: u32 = 1024;
        let device = Scratch::new(&root);
        device.0.set_algorithm("lz4").unwrap();
        device.0.set_disksize(Bytes(u64::from(SLOTS) * 4096)).unwrap();
        let node = std::fs::File::options().write(true).open(device.0.node()).unwrap();
        let mut filler = Filler::new(Fill::Text, 7);
        let found = compressed("text", Some("lz4"), 7, SLOTS).unwrap();
        let mut pool = Pool::new(kernel.zspage, kernel.quarters);
        let compressed = || device.0.mm_stat().unwrap().compr_data_size.0;
        let mut store = |pool: &mut Pool, slot: u32| {
            let mut page = [0; 4096];
            filler.fill(slot.into(), &mut page);
            let before = compressed();
            node.write_all_at(&page, u64::from(slot) * 4096).unwrap();
            node.sync_data().unwrap();
            let length = u16::try_from(compressed() - before).unwrap();
            pool.keep(slot, length);
            // The kernel's copy of a library may find another match than the library.
            assert!(
                length.abs_diff(found[slot as usize]) <= length / 8,
                "slot {slot}: {length}, {}",
                found[slot as usize]
            );
        };
        let discard = |slot: u32| {
            let offset = (u64::from(slot) * 4096).to_string();
            let done = Command::new("blkdiscard").args(["-o", &offset, "-l", "4096"]).arg(device.0.node()).status();
            assert!(done.unwrap().success());
        };
        let used = || device.0.mm_stat().unwrap().mem_used_total.0;
        (0..SLOTS / 2).for_each(|slot| store(&mut pool, slot));
        assert_eq!(used(), pool.bytes(), "filled");
        let mut random = SplitMix64::new(7);
        let (mut held, mut free): (Vec<u32>, Vec<u32>) = ((0..SLOTS / 2).collect(), (SLOTS / 2..SLOTS).collect());
        for step in 0..400 {
            let [from, to] = [held.len(), free.len()].map(|n| usize::try_from(random.below(n as u64)).unwrap());
            let (gone, come) = (held.swap_remove(from), free.swap_remove(to));
            discard(gone);
            pool.free(gone);
            store(&mut pool, come);
            held.push(come);
            free.push(gone);
            assert_eq!(used(), pool.bytes(), "step {step}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let asked = |fill, algorithm| compressed(fill, algorithm, 7, 1).is_err();
        assert!(asked("text", Some("gzip")) && asked("noise", None));
    }
}
