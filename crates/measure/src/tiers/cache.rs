//! Page cache and tmpfs: memory reached through a file.
//!
//! Residency is counted before and after, and both counts are in the notes. The
//! scratch file of the disk tier is read into the cache, so nothing more is written.

use ramline_kernel::map::{Advice, Map};
use ramline_kernel::{residency, scratch};
use ramline_units::Nanos;

use super::run::{BLOCK, PIECE, Run, Tier, TiersError};
use super::timing::{Series, TimingPlan};
use super::{ram, sample};
use crate::prelude::*;

/// Reading a file into the cache stops after this time.
const WARM_TIME: Duration = Duration::from_millis(1500);
/// Default of fault-around (mm/memory.c `fault_around_bytes`): one fault maps up to so many resident bytes around it.
const FAULT_AROUND: u64 = 64 << 10;

pub fn page_cache(run: &mut Run<'_>) -> Result<(), TiersError> {
    let Some(source) = run.scratch.take() else {
        run.skip("page-cache: there is no file on a disk to read; see the disk tier");
        return Ok(());
    };
    let buffer = ram::buffer_size(
        hardware::read(&run.options.root).last_level_cache,
        ramline_gather::headroom::memory_headroom(&run.options.root)?,
    );
    // A page read in is a page less for others: the cache gets no more than the RAM tier took.
    let size = warm(run, &source.file, &source.path, source.size.0.min(buffer.0))?;
    if size < PIECE {
        run.skip(format!("page-cache: only {} could be read in within {} ms", Bytes(size), WARM_TIME.as_millis()));
        return Ok(());
    }
    let before = resident(&source.file, &source.path)?;
    let mut notes = cache_size_note(run, size);
    let of = if source.own { "the scratch file".to_owned() } else { source.path.display().to_string() };
    let mut tier = by_read(run, &source.file, &source.path, size)?;
    tier.id = "page-cache-read".to_owned();
    tier.label = "page cache, read(2) of 4 KiB".to_owned();
    tier.method = format!("pread of random 4 KiB in {} of {of}, resident; 1 MiB at a time in order", Bytes(size));
    let mapped = if source.own { Some(by_mmap(run, &source.file, &source.path, size)?) } else { None };
    let after = resident(&source.file, &source.path)?;
    let pages = size / process::page_size();
    // All of it in the cache is how it has to be; anything else qualifies the numbers.
    let seen = match (before, after) {
        (Some(before), Some(after)) => {
            format!("of {pages} pages, {} were resident before and {} after", before.min(pages), after.min(pages))
        }
        _ => "only its owner may ask what is resident of this file; it was read just before".to_owned(),
    };
    let whole = before.zip(after).is_none_or(|(before, after)| before.min(after) >= pages);
    if whole {
        tier.method.push_str(&format!("; {seen}"));
    } else {
        notes.push(seen);
    }
    tier.notes.clone_from(&notes);
    run.add(tier);
    match mapped {
        Some(tiers) => tiers.into_iter().for_each(|mut tier| {
            tier.notes.extend_from_slice(&notes);
            run.add(tier);
        }),
        None => run.skip("page-cache-mmap: only a scratch file of our own is mapped (a file cut short by others would be fatal); a quick run makes none"),
    }
    Ok(())
}

/// Pages of the file in the cache; `None` when it is not ours to ask about.
fn resident(file: &File, path: &Path) -> Result<Option<u64>, KernelError> {
    match residency::count(file, path) {
        Err(error) if error.is_denied() => Ok(None),
        other => Ok(Some(other?.cached)),
    }
}

/// Reads the first `size` bytes into the cache; returns how many were read before the time was over.
fn warm(run: &Run<'_>, file: &File, path: &Path, size: u64) -> Result<u64, TiersError> {
    let mut piece = vec![0u8; usize::try_from(PIECE).unwrap_or(1 << 20)];
    let start = Instant::now();
    let mut done = 0;
    while done + PIECE <= size && start.elapsed() < WARM_TIME {
        run.go_on()?;
        read(file, path, &mut piece, done)?;
        done += PIECE;
    }
    Ok(done)
}

fn read(file: &File, path: &Path, buffer: &mut [u8], offset: u64) -> Result<(), KernelError> {
    file.read_exact_at(buffer, offset).map_err(|error| KernelError::io(format!("read at {offset} of"), path, error))
}

fn cache_size_note(run: &Run<'_>, size: u64) -> Vec<String> {
    let cache = hardware::read(&run.options.root).last_level_cache;
    let small = cache.filter(|cache| size <= cache.0);
    small.map(|cache| format!("its {} fit into the last-level cache of {cache}", Bytes(size))).into_iter().collect()
}

/// Random 4 KiB and sequential reads through read(2).
fn by_read(run: &Run<'_>, file: &File, path: &Path, size: u64) -> Result<Tier, TiersError> {
    let mut random = SplitMix64::new(run.options.seed);
    let mut page = vec![0u8; usize::try_from(BLOCK).unwrap_or(4096)];
    let series = run.time(TimingPlan::within_ms(run.millis(400, 200)), 1, |_| {
        read(file, path, &mut page, random.below(size / BLOCK) * BLOCK)
    })?;
    let mut piece = vec![0u8; usize::try_from(PIECE).unwrap_or(1 << 20)];
    let throughput = run.sequential(size, run.millis(300, 100), "read in pieces of 1 MiB", |offset| {
        read(file, path, &mut piece, offset)
    })?;
    Ok(Tier { series: Some(series), throughput, ..Tier::default() })
}

/// Copies out of a mapping whose page tables are filled, then touches without page-table entries: one minor fault each.
fn by_mmap(run: &Run<'_>, file: &File, path: &Path, size: u64) -> Result<Vec<Tier>, TiersError> {
    let mut map = Map::file(file, path)?;
    map.advise(Advice::NoHugePages)?;
    let page_bytes = usize::try_from(process::page_size()).unwrap_or(4096);
    let length = usize::try_from(size).unwrap_or(usize::MAX).min(map.len());
    for offset in (0..length).step_by(page_bytes) {
        map.touch_read(offset)?;
    }
    let mut random = SplitMix64::new(run.options.seed);
    let mut page = vec![0u8; usize::try_from(BLOCK).unwrap_or(4096)];
    let before = process::own_usage()?;
    let bytes = &map.as_slice()[..length];
    let copies = run.time(TimingPlan::within_ms(run.millis(400, 200)), 1, |_| {
        ram::copy_block(bytes, random.below(size / BLOCK), &mut page);
        Ok(())
    })?;
    let while_copying = process::own_usage()?.since(&before)?.minflt;

    let (series, touches, faulted) = first_touches(run, &mut map, size / FAULT_AROUND)?;
    Ok(vec![
        Tier {
            id: "page-cache-mmap".to_owned(),
            label: "page cache, mapped: copy of 4 KiB".to_owned(),
            series: Some(copies),
            method: format!(
                "copies of random 4 KiB out of a shared mapping of the scratch file whose page tables are filled; {while_copying} minor faults while copying"
            ),
            ..Tier::default()
        },
        Tier {
            id: "page-cache-mmap-fault".to_owned(),
            label: "page cache, mapped: first touch".to_owned(),
            series: Some(series),
            method: format!(
                "touch of one byte in a resident page without a page-table entry: a minor fault, which maps at least the resident pages of the 64 KiB around it; touches that did not fault are left out; {faulted} minor faults in {touches} touches, one for each 64 KiB: with large folios a fault maps more"
            ),
            ..Tier::default()
        },
    ])
}

/// Five times: drop the page tables, then touch each window of fault-around once, in random order; only touches that
/// faulted count. Returns how many touches and how many faults there were.
fn first_touches(run: &Run<'_>, map: &mut Map, windows: u64) -> Result<(Series, u64, u64), TiersError> {
    let faults = || process::own_usage().map(|usage| usage.minflt);
    let mut random = SplitMix64::new(run.options.seed);
    let mut order: Vec<u64> = (0..windows).collect();
    let (mut series, mut touches, mut faulted) = (Series::default(), 0, 0);
    for _ in 0..5 {
        for at in (1..order.len()).rev() {
            order.swap(at, sample::index(&mut random, at + 1));
        }
        map.advise(Advice::DontNeed)?;
        let (start, budget) = (Instant::now(), Duration::from_millis(run.millis(80, 40)));
        for window in &order {
            run.go_on()?;
            if start.elapsed() > budget {
                break;
            }
            let offset = usize::try_from(window * FAULT_AROUND).unwrap_or(usize::MAX);
            let before = faults()?;
            let began = Instant::now();
            map.touch_read(offset)?;
            let took = Nanos::from(began.elapsed()).0.saturating_sub(run.clock.overhead.0);
            touches += 1;
            // A large folio is mapped whole: then a neighbour's fault has already brought this window.
            if faults()? > before {
                series.record(took);
                faulted += 1;
            }
        }
        series.close_batch();
    }
    Ok((series, touches, faulted))
}

pub fn tmpfs(run: &mut Run<'_>) -> Result<(), TiersError> {
    let machine = hardware::read(&run.options.root);
    let size =
        ram::buffer_size(machine.last_level_cache, ramline_gather::headroom::memory_headroom(&run.options.root)?).0;
    let label = Path::new("memfd");
    let file = scratch::memory_file("ramline-tiers")?;
    let piece = vec![0x5Au8; usize::try_from(PIECE).unwrap_or(1 << 20)];
    for offset in (0..size / PIECE).map(|index| index * PIECE) {
        run.go_on()?;
        file.write_all_at(&piece, offset).map_err(|error| KernelError::io("fill the memory file", label, error))?;
    }
    let mut tier = by_read(run, &file, label, size)?;
    tier.id = "tmpfs".to_owned();
    tier.label = "tmpfs, read(2) of 4 KiB".to_owned();
    tier.method = format!(
        "pread of random 4 KiB in a memfd of {} (the kernel's internal tmpfs mount, huge pages: {}), written once before; 1 MiB at a time in order",
        Bytes(size),
        machine.thp_shmem.as_deref().unwrap_or("not known"),
    );
    tier.notes = cache_size_note(run, size);
    run.add(tier);
    Ok(())
}
