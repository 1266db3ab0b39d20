//! The same pages on a scratch zram device: what the kernel compresses them to, what its pool takes, and what reading them back costs.
//!
//! What it is not: a swap-in, which `swapin` measures. Requests go past the page cache; a device that was there before is never touched.
//! The compressed length of each page is the growth of `compr_data_size` by its write, so that the pool can be predicted from what the
//! kernel's own code gave, and be held against `mem_used_total`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use ramline_act::{Mark, RunLock};
use ramline_evidence::pages::{AlgorithmPages, By, Chain, Lengths, MeasuredPool, PageProfile};
use ramline_evidence::rng::SplitMix64;
use ramline_kernel::arena::Arena;
use ramline_kernel::zram::Device;
use ramline_kernel::{KernelError, zram};
use ramline_sandbox::progress::Progress;
use ramline_units::Bytes;

use super::bench::{Bench, open};
use super::chain::Probed;
use super::error::PagesError;
use super::sample::{stop_if_interrupted, wide};
use super::timed::{BATCHES, CLUSTERS, Timed};
use super::{chain, swapin};

/// How the reason begins why there are no swap-ins.
const NO_SWAP_INS: &str = "swap-ins: ";

/// Adds every algorithm of the kernel to the profile.
pub fn measure(
    bench: &Bench<'_>,
    lock: &RunLock,
    profile: &mut PageProfile,
    progress: &mut dyn Progress,
) -> Result<(), PagesError> {
    if !zram::has_control(bench.root) {
        profile.skipped.push("the kernel's algorithms: the zram driver is not loaded (modprobe zram)".to_owned());
        return Ok(());
    }
    let available = ramline_gather::headroom::memory_headroom(bench.root)?;
    let wanted = Bytes(wide(bench.sample.len() * bench.sample.page_bytes()).saturating_mul(4));
    if available < wanted {
        profile.skipped.push(format!("the kernel's algorithms: {available} available, {wanted} wanted for the pool"));
        return Ok(());
    }
    let mut run = ramline_act::Run::begin(lock, bench.root, None)?;
    let result = algorithms(bench, &mut run, profile, progress);
    // Removed before anything is said about the result.
    run.finish()?;
    result
}

fn algorithms(
    bench: &Bench<'_>,
    run: &mut ramline_act::Run,
    profile: &mut PageProfile,
    progress: &mut dyn Progress,
) -> Result<(), PagesError> {
    let device = run.hot_add_zram()?;
    let names = device.algorithms()?;
    progress.step("measuring pages: which chains zsmalloc makes");
    match chain::probe(&device, bench.sample.page_bytes()) {
        Ok(Probed { chain: Some(pages), .. }) => profile.chain = Chain { pages, probed: true },
        Ok(Probed { longest, chain: None }) => {
            let why = format!("no chain keeps pages of up to {longest} bytes compressed, and none longer");
            profile.skipped.push(format!("the length of zsmalloc's chains: {why}"));
        }
        Err(PagesError::Kernel(error)) => profile.skipped.push(format!("the length of zsmalloc's chains: {error}")),
        Err(other) => return Err(other),
    }
    device.reset()?;
    for (at, name) in names.iter().enumerate() {
        progress.step(&format!("measuring pages by the kernel, {} of {}: {name}", at + 1, names.len()));
        if Instant::now() > bench.ends {
            profile.skipped.push(format!("{name} by the kernel: the time was over"));
            continue;
        }
        match one(bench, run, &device, name) {
            Ok(measured) => {
                // The same for all: said once.
                let unmeasured = measured.notes.iter().find(|note| note.starts_with(NO_SWAP_INS));
                profile.skipped.extend(unmeasured.filter(|note| !profile.skipped.contains(note)).cloned());
                profile.algorithms.push(measured);
            }
            Err(PagesError::Kernel(error)) => profile.skipped.push(format!("{name} by the kernel: {error}")),
            Err(other) => return Err(other),
        }
        device.reset()?;
    }
    Ok(())
}

fn one(
    bench: &Bench<'_>,
    run: &mut ramline_act::Run,
    device: &Device,
    name: &str,
) -> Result<AlgorithmPages, PagesError> {
    let page = bench.sample.page_bytes();
    device.set_algorithm(name)?;
    device.set_disksize(Bytes(wide(bench.sample.len() * page)))?;
    let file = open(device)?;
    let mut lengths = Lengths::new(wide(page));
    let writes = write(bench, device, &file, &mut lengths)?;
    let stat = device.mm_stat()?;
    let mut reads = Vec::new();
    for pages in CLUSTERS {
        reads.extend(read(bench, device, &file, pages)?.cluster(pages, page));
    }
    drop(file);
    device.reset()?;
    let mut notes = vec!["direct requests: with the block layer, without the fault of a swap-in".to_owned()];
    let mark: Mark = run.mark();
    let swapped = swapin::measure(bench, run, device, name);
    run.undo_to(mark)?;
    let swap_in = match swapped {
        Ok(timed) => timed.latency(),
        Err(PagesError::Kernel(error)) => {
            notes.push(format!("{NO_SWAP_INS}{error}"));
            None
        }
        Err(other) => return Err(other),
    };
    Ok(AlgorithmPages {
        algorithm: name.to_owned(),
        by: By::Kernel,
        code: format!("kernel {}", bench.kernel),
        lengths,
        compress: writes.latency(),
        compress_mean: writes.means("ns", |mean| mean),
        reads,
        swap_in,
        pool: Some(MeasuredPool {
            orig_data: stat.orig_data_size,
            compr_data: stat.compr_data_size,
            mem_used: stat.mem_used_total,
            same_pages: stat.same_pages.0,
            huge_pages: stat.huge_pages.map(|huge| huge.0),
        }),
        notes,
    })
}

/// Every page once; its compressed length is what `compr_data_size` grows by, none for a page of one word.
fn write(bench: &Bench<'_>, device: &Device, file: &File, lengths: &mut Lengths) -> Result<Timed, PagesError> {
    let page = wide(bench.sample.page_bytes());
    let mut timed = Timed::begin();
    let mut before = device.mm_stat()?.compr_data_size;
    for batch in 0..BATCHES {
        for index in (batch..bench.sample.len()).step_by(BATCHES) {
            stop_if_interrupted()?;
            let bytes = bench.sample.page(index);
            let written = timed.one(&bench.clock, || file.write_all_at(bytes, wide(index) * page));
            written.map_err(|error| KernelError::io("write to", device.node(), error))?;
            let after = device.mm_stat()?.compr_data_size;
            let length = after.0.saturating_sub(before.0);
            if length > 0 {
                lengths.add(length);
            }
            before = after;
        }
        timed.close_batch();
    }
    Ok(timed)
}

fn read(bench: &Bench<'_>, device: &Device, file: &File, pages: u32) -> Result<Timed, PagesError> {
    let page = bench.sample.page_bytes();
    let failed = |error| KernelError::io("read", device.node(), error);
    let cluster = usize::try_from(pages).unwrap_or(1);
    let mut timed = Timed::begin();
    let Some(clusters) = Some(bench.sample.len() / cluster).filter(|n| *n > 0) else { return Ok(timed) };
    let mut back = Arena::new(Bytes(wide(cluster * page)))?;
    let mut random = SplitMix64::new(bench.sample.sampling.seed);
    let share = bench.slice / u32::try_from(BATCHES).unwrap_or(1);
    for _ in 0..BATCHES {
        let start = Instant::now();
        let (mut done, mut first) = (0, 0);
        while done < 20 || start.elapsed() < share {
            stop_if_interrupted()?;
            first = usize::try_from(random.below(wide(clusters))).unwrap_or(0) * cluster;
            timed.one(&bench.clock, || file.read_exact_at(back.bytes_mut(), wide(first * page))).map_err(failed)?;
            done += 1;
        }
        // A measurement of a device that loses data is worth nothing.
        if back.bytes().get(..page) != Some(bench.sample.page(first)) {
            let error =
                std::io::Error::new(std::io::ErrorKind::InvalidData, format!("page {first} is not what was written"));
            return Err(failed(error).into());
        }
        timed.close_batch();
    }
    Ok(timed)
}
