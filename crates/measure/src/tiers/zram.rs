//! zram: what storing and fetching a page costs, per algorithm.
//!
//! The pages are generated, unless a sample of real ones is given; a swap-in adds the fault and saves the
//! request. With consent (a run lock) a scratch device is made through the journal, used and removed; a device that
//! was there before is never touched. Without, the same algorithms run in user space and every result says so.

use std::os::unix::fs::OpenOptionsExt;

use ramline_act::{ActError, RunLock};
use ramline_kernel::zram;
use ramline_kernel::zram::Device;
use ramline_snapshot::zram::MmStat;
use ramline_units::{Ratio, saturating_sum};

use super::run::{PIECE, Run, Tier, TiersError};
use super::sample::{self, PageSample};
use super::timing::{Series, TimingPlan};
use crate::codec::{self, Codec};
use crate::prelude::*;
use ramline_sandbox::fill::Fill;

/// What most kernels have, measured where no device may be made.
const IN_USER_SPACE: [&str; 4] = ["lzo", "lzo-rle", "lz4", "zstd"];
/// What zram does with a page: kept as it is when compression gains too little (zsmalloc's huge class starts at about
/// 3264 of 4096 bytes on common configurations).
const HUGE_PER_MILLE: usize = 797;
/// Pages of each kind that are stored at one time.
const PAGES: usize = 4096;
const PAGES_QUICK: usize = 512;
/// A scratch pool of incompressible pages takes their size; this must be available many times over.
const LEAST_AVAILABLE: Bytes = Bytes::from_mib(256);

/// Pages of one kind, and the part of the tier's name that stands for them.
struct Kind {
    suffix: &'static str,
    pages: PageSample,
}

pub fn measure(run: &mut Run<'_>) -> Result<(), TiersError> {
    let kinds = kinds(run);
    let reason = match (&run.options.scratch_zram, run.options.quick) {
        (_, true) => "a quick run makes no device".to_owned(),
        (None, _) => "a scratch device needs consent".to_owned(),
        (Some(lock), _) => match on_device(run, &lock.clone(), &kinds) {
            Ok(()) => return Ok(()),
            Err(TiersError::Interrupted | TiersError::Act(ActError::Interrupted { .. })) => {
                return Err(TiersError::Interrupted);
            }
            // What could not be removed must be heard of, not hidden behind an estimate.
            Err(error @ TiersError::Act(ActError::Undo { .. })) => return Err(error),
            Err(error) => error.to_string(),
        },
    };
    run.report.tiers.retain(|tier| !tier.tier.starts_with("zram-"));
    run.skip(format!("zram on a scratch device: {reason}; estimated in user space instead"));
    for name in IN_USER_SPACE {
        let Ok(mut codec) = codec::named(name) else { continue };
        kinds.iter().try_for_each(|kind| in_user_space(run, name, codec.as_mut(), kind))?;
    }
    Ok(())
}

fn kinds(run: &Run<'_>) -> Vec<Kind> {
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    let count = if run.options.quick { PAGES_QUICK } else { PAGES };
    let generated = |suffix, fill| Kind { suffix, pages: PageSample::generated(fill, count, page, run.options.seed) };
    let mut kinds = vec![generated("", Fill::Text)];
    if !run.options.quick {
        kinds.push(generated("/random", Fill::Random));
    }
    let real = run.options.sample.clone().filter(|sample| !sample.is_empty() && sample.page_bytes() == page);
    kinds.extend(real.map(|pages| Kind { suffix: "/sample", pages }));
    kinds
}

fn on_device(run: &mut Run<'_>, lock: &RunLock, kinds: &[Kind]) -> Result<(), TiersError> {
    let root = run.options.root.clone();
    let available = ramline_gather::headroom::memory_headroom(&root)?;
    if available < LEAST_AVAILABLE {
        let numbers = format!("{available} available, {LEAST_AVAILABLE} wanted");
        return Err(KernelError::refused("make", "a scratch zram device", "memory is short", numbers).into());
    }
    if !zram::has_control(&root) {
        let (tried, feature) = ("add a zram device through", "the zram driver is not loaded");
        return Err(KernelError::unsupported(tried, "zram-control", feature).hint("modprobe zram").into());
    }
    let mut journal = ramline_act::Run::begin(lock, &root, None)?;
    let device = journal.hot_add_zram()?;
    let result = all_algorithms(run, &device, kinds);
    // Removed before anything is said about the result.
    journal.finish()?;
    result
}

fn all_algorithms(run: &mut Run<'_>, device: &Device, kinds: &[Kind]) -> Result<(), TiersError> {
    let algorithms = device.algorithms()?;
    // With many algorithms each gets less time; together they stay within about 5 s.
    let cells = u64::try_from(algorithms.len() * kinds.len()).unwrap_or(u64::MAX).max(1);
    let millis = (2400 / cells).min(200);
    for algorithm in &algorithms {
        for kind in kinds {
            let result = one_cell(run, device, algorithm, kind, millis);
            run.or_skip(&format!("zram-{algorithm}{}", kind.suffix), result)?;
            device.reset()?;
        }
    }
    Ok(())
}

/// One algorithm on one kind of data.
fn one_cell(run: &mut Run<'_>, device: &Device, algorithm: &str, kind: &Kind, millis: u64) -> Result<(), TiersError> {
    let page = kind.pages.page_bytes();
    let page_wide = u64::try_from(page).unwrap_or(4096);
    let count = u64::try_from(kind.pages.len()).unwrap_or(0);
    let size = Bytes(count * page_wide);
    device.set_algorithm(algorithm)?;
    device.set_disksize(size)?;
    let node = device.node();
    let failed = |what: &str, error| KernelError::io(what, node, error);
    let open = File::options().read(true).write(true).custom_flags(libc::O_DIRECT).open(node);
    let file = open.map_err(|error| failed("open past the page cache", error))?;

    // Aligned copies of all pages, so that no copying is timed.
    let mut contents = Buffer::new(kind.pages.len() * page)?;
    contents.bytes_mut().chunks_exact_mut(page).zip(kind.pages.pages()).for_each(|(to, from)| to.copy_from_slice(from));
    let contents = contents;
    // Every page is written exactly once: five batches of a fifth each, and what the division leaves.
    let batch = count.div_ceil(5);
    let plan = TimingPlan { least: batch, most: batch, ..TimingPlan::within_ms(0) };
    let writes = run.time(plan, 1, |index| {
        let at = index % count.max(1);
        let from = usize::try_from(at).unwrap_or(0) * page;
        let bytes = contents.bytes().get(from..from + page).unwrap_or_default();
        file.write_all_at(bytes, at * page_wide).map_err(|error| failed("write to", error))
    })?;
    let stat = device.mm_stat()?;

    let mut random = SplitMix64::new(run.options.seed);
    let mut back = Buffer::new(page)?;
    let reads = run.time(TimingPlan::within_ms(millis), 1, |_| {
        file.read_exact_at(back.bytes_mut(), random.below(count) * page_wide).map_err(|error| failed("read", error))
    })?;
    verify(&file, kind, &mut back).map_err(|error| failed("read back", error))?;
    let mut piece = Buffer::new(usize::try_from(PIECE).unwrap_or(1 << 20))?;
    let throughput = run.sequential(size.0, millis / 4, "direct reads of 1 MiB in order", |offset| {
        file.read_exact_at(piece.bytes_mut(), offset).map_err(|error| failed("read", error))
    })?;
    Cell {
        algorithm,
        kind,
        place: "scratch zram device",
        method: "direct 4 KiB requests to a scratch device, all pages written once, then read at random",
        stored: stored(&stat),
        notes: Vec::new(),
    }
    .add(run, reads, writes, throughput);
    Ok(())
}

/// A few pages must come back as they were written: a measurement of a device that loses data is worth nothing.
fn verify(file: &File, kind: &Kind, back: &mut Buffer) -> std::io::Result<()> {
    let count = kind.pages.len();
    for index in [0, count / 2, count.saturating_sub(1)] {
        let offset = u64::try_from(index * kind.pages.page_bytes()).unwrap_or(u64::MAX);
        file.read_exact_at(back.bytes_mut(), offset)?;
        if back.bytes().get(..kind.pages.page_bytes()) != Some(kind.pages.page(index)) {
            let how = format!("page {index} is not what was written");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, how));
        }
    }
    Ok(())
}

fn stored(stat: &MmStat) -> Vec<String> {
    let ratio =
        |to| Ratio::from_sizes(stat.orig_data_size, to).map_or_else(|| "unknown".to_owned(), |ratio| ratio.to_string());
    let mut notes = vec![format!(
        "{} stored in {}: {} by compression, {} with what the pool takes",
        stat.orig_data_size,
        stat.mem_used_total,
        ratio(stat.compr_data_size),
        ratio(stat.mem_used_total)
    )];
    notes.extend(stat.huge_pages.and_then(|huge| kept(huge.0)));
    notes
}

fn kept(huge: u64) -> Option<String> {
    (huge > 0).then(|| format!("{huge} pages did not compress and are kept as they are"))
}

fn in_user_space(run: &mut Run<'_>, name: &str, codec: &mut dyn Codec, kind: &Kind) -> Result<(), TiersError> {
    let (page, count) = (kind.pages.page_bytes(), kind.pages.len());
    let failed = |what: &str| KernelError::unsupported(what, codec_name(kind), "the library did not take the page");
    let mut out = vec![0; page * 2];
    let mut store: Vec<Vec<u8>> = Vec::with_capacity(count);
    for page in kind.pages.pages() {
        let length = codec.compress(page, &mut out).ok_or_else(|| failed("compress"))?;
        // As zram does: what hardly compresses is kept as it is.
        let kept = if length * 1000 >= page.len() * HUGE_PER_MILLE { page } else { out.get(..length).unwrap_or(page) };
        store.push(kept.to_vec());
    }
    let millis = run.millis(120, 60);
    let mut random = SplitMix64::new(run.options.seed);
    let writes = run.time(TimingPlan::within_ms(millis), 1, |_| {
        let index = sample::index(&mut random, count);
        codec.compress(kind.pages.page(index), &mut out).map(drop).ok_or_else(|| failed("compress"))
    })?;
    let mut back = vec![0; page];
    let mut fetch = |index: usize| {
        let stored = store.get(index).map(Vec::as_slice).unwrap_or_default();
        if stored.len() == back.len() {
            back.copy_from_slice(stored);
        } else if !codec.decompress(stored, &mut back) {
            return Err(failed("decompress"));
        }
        Ok(())
    };
    let reads = run.time(TimingPlan::within_ms(millis), 1, |_| fetch(sample::index(&mut random, count)))?;
    let stored: usize = store.iter().map(Vec::len).sum();
    let huge = saturating_sum(store.iter().map(|stored| u64::from(stored.len() == page)));
    let wide = |bytes: usize| Bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    let mut compressed: Vec<String> = Ratio::from_sizes(wide(count * page), wide(stored))
        .map(|ratio| format!("{} stored in {}: {ratio}", wide(count * page), wide(stored)))
        .into_iter()
        .collect();
    compressed.extend(kept(huge));
    Cell {
        algorithm: name,
        kind,
        place: "user space",
        method: "single pages through a library in user space",
        stored: compressed,
        notes: vec!["user space: an estimate, without the kernel's block layer and allocator".to_owned()],
    }
    .add(run, reads, writes, None);
    Ok(())
}

fn codec_name(kind: &Kind) -> String {
    format!("a page of {}", kind.pages.label())
}

struct Cell<'a> {
    algorithm: &'a str,
    kind: &'a Kind,
    place: &'a str,
    method: &'a str,
    /// What became of the pages: part of how it was measured.
    stored: Vec<String>,
    /// What qualifies the costs.
    notes: Vec<String>,
}

impl Cell<'_> {
    fn add(self, run: &mut Run<'_>, reads: Series, writes: Series, throughput: Option<Measurement>) {
        let Cell { algorithm, place, method, .. } = self;
        let (label, pages, stored) = (self.kind.pages.label(), self.kind.pages.len(), self.stored.join("; "));
        let short = label.split(" (").next().unwrap_or(label);
        let id = format!("zram-{algorithm}{}", self.kind.suffix);
        let tier = |id: String, what: &str, series, throughput| Tier {
            id,
            label: format!("zram {algorithm}, {what} of {short} ({place})"),
            series: Some(series),
            throughput,
            method: format!("{method}; data: {pages} pages of {label}; {stored}"),
            notes: self.notes.clone(),
        };
        run.add(tier(id.clone(), "read", reads, throughput));
        run.add(tier(format!("{id}/write"), "write", writes, None));
    }
}
