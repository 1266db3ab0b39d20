//! What compression takes on this machine, as the zram of a run does it: measured before each run with zram, on pages like those of its load.
//!
//! Pages are written to the device and read back one by one, past the page cache, as reclaim and a fault do; the device is empty and unset after it.
//! What it is not: a comparison of algorithms, which `ramline measure tiers` is.

use ramline_evidence::CodecTimes;
use ramline_kernel::direct::{Buffer, Direct};

use crate::prelude::*;

/// Pages that are written and read: as much as a processor's own cache holds, or more, since reclaim mostly meets pages that are in none.
const PAGES: u64 = 1024;
const PAGE: u64 = 4096;
/// So often; of their middle values the least is taken, since what else a processor did only made it longer.
const PASSES: usize = 3;
/// All runs compress the same pages here.
const SEED: u64 = 1;

/// Of a device that is not set up yet, which has `algorithm` for the run, or the kernel's own; `None` for contents that are not known, and for zeros, which are not
/// compressed.
///
/// # Errors
/// The device could not be used, or its pages came back different.
pub fn times(device: &zram::Device, algorithm: Option<&str>, fill: &str) -> Result<Option<CodecTimes>> {
    let Some(fill) = fill.parse().ok().filter(|fill| *fill != Fill::Zeros) else { return Ok(None) };
    if let Some(name) = algorithm {
        device.set_algorithm(name)?;
    }
    // As much as pages that do not compress take, and what the pool needs beside them.
    device.set_mem_limit(Limit::At(Bytes(2 * PAGES * PAGE)))?;
    device.set_disksize(Bytes(PAGES * PAGE))?;
    let (took, reset) = (taken(device, fill), device.reset());
    let took = took?;
    reset?;
    Ok(Some(took))
}

fn taken(device: &zram::Device, fill: Fill) -> Result<CodecTimes> {
    let direct = Direct::open_writable(device.node())?;
    let mut filler = Filler::new(fill, SEED);
    let page = |number: u64| {
        let mut page = Buffer::new(4096)?;
        filler.fill(number, page.bytes_mut());
        Ok(page)
    };
    let pages = (0..PAGES).map(page).collect::<Result<Vec<Buffer>>>()?;
    let timed = |step: &mut dyn FnMut() -> ramline_kernel::Result<()>| {
        let begin = Instant::now();
        step()?;
        Ok(Nanos(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)))
    };
    let numbered = || (0..).step_by(4096).zip(&pages);
    let mut back = Buffer::new(4096)?;
    let mut pass = || -> Result<[Nanos; 2]> {
        let written: Result<Vec<Nanos>> =
            numbered().map(|(offset, page)| timed(&mut || direct.write_at(page, offset))).collect();
        let read = numbered().map(|(offset, page)| {
            let took = timed(&mut || direct.read_at(&mut back, offset))?;
            if back.bytes() != page.bytes() {
                let why = format!("byte {offset} of {} is not what was written there", device.node().display());
                return Err(LabError::Workload(why));
            }
            Ok(took)
        });
        let read: Result<Vec<Nanos>> = read.collect();
        Ok([middle(written?), middle(read?)])
    };
    // The first pass only finds places for them.
    pass()?;
    let passes = (0..PASSES).map(|_| pass()).collect::<Result<Vec<_>>>()?;
    let least = |of: usize| passes.iter().map(|pass| pass[of]).min().unwrap_or_default();
    Ok(CodecTimes { compress: least(0), decompress: least(1) })
}

fn middle(mut all: Vec<Nanos>) -> Nanos {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ramline_testkit::{not_root, skip_if};

    use super::*;
    use crate::limited::lengths::tests::Scratch;

    #[test]
    fn compression_is_measured_on_a_device_that_is_empty_after_it_and_that_of_zeros_is_not() {
        let test = "compression_is_measured_on_a_device_that_is_empty_after_it_and_that_of_zeros_is_not";
        let root = Root::live();
        if not_root(test) || skip_if(!zram::has_control(&root), test, "needs zram") {
            return;
        }
        let device = Scratch::new(&root);
        let times = |algorithm, fill| times(&device.0, algorithm, fill).unwrap();
        for (algorithm, fill) in [(Some("lz4"), "text"), (None, "random")] {
            let took = times(algorithm, fill).unwrap();
            assert!(took.compress > Nanos(0) && took.decompress > Nanos(0), "{took:?}");
        }
        assert_eq!([times(None, "zeros"), times(None, "")], [None; 2]);
        // It can be set up for a run now.
        device.0.set_algorithm("lz4").unwrap();
        device.0.set_disksize(Bytes(1 << 20)).unwrap();
    }
}
