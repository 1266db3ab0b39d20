//! What of each file is in RAM: the file is opened by a way that leads to this very file, and the page cache is asked.
//!
//! Ways, best first: `/proc/PID/map_files` (also leads to deleted files and into other mount namespaces, and needs privilege); the
//! path itself; the path below the process's own root. The latter two are believed only when device and inode agree.

use std::fs::Metadata;
use std::io;

use ramline_kernel::residency::{self, Method};
use ramline_kernel::{Cause, KernelError};
use ramline_snapshot::maps::{MappedFile, MappedProcess, Maps, NameState, Residency, Source, Store};
use rustix::fs::{Mode, OFlags};

use super::clock::Clock;
use super::tables;
use crate::prelude::*;

/// A process that maps the file, and where.
#[derive(Debug, Clone, Copy)]
struct Mapper {
    pid: u32,
    start: u64,
    end: u64,
}

/// Asks about every file; returns how many were left out for the budget. `walk`: also look at page tables.
pub fn ask(root: &Root, out: &mut Maps, walk: bool, clock: &Clock) -> u64 {
    let all = pieces(&out.processes, out.files.len());
    if !root.is_live() {
        for file in &mut out.files {
            file.residency.why = Some("a capture does not hold the page cache".to_owned());
        }
        return 0;
    }
    let mappers = mappers(out);
    // Where time runs out, the files that could matter most have been asked.
    let mut order: Vec<usize> = (0..out.files.len()).collect();
    ramline_units::sort_by_key(&mut order, |i| std::cmp::Reverse(all[*i].iter().map(|piece| piece.1).sum::<u64>()));
    let mut left_out = 0;
    for index in order {
        let (file, pieces) = (&mut out.files[index], &all[index]);
        if clock.is_over() {
            left_out += 1;
            file.residency.why = Some("not asked: the time allowed was over".to_owned());
        } else if let Some(Err(why)) = mappers[index].map(|mapper| one(root, file, pieces, mapper, out.page)) {
            file.residency.why = Some(why);
        }
    }
    let of_interest = |file: &MappedFile| {
        matches!(file.store, Store::FileSystem | Store::Memory) && (walk || file.residency.source == Source::Unknown)
    };
    let wanted: HashSet<u32> = (0..).zip(&out.files).filter(|(_, file)| of_interest(file)).map(|(i, _)| i).collect();
    tables::present(root, out, &wanted, clock);
    left_out
}

fn mappers(out: &Maps) -> Vec<Option<Mapper>> {
    let mut mappers = vec![None; out.files.len()];
    for process in &out.processes {
        for mapping in &process.mappings {
            if let Some(place) = mapping.file.and_then(|f| mappers.get_mut(usize::try_from(f).ok()?)) {
                place.get_or_insert(Mapper { pid: process.pid, start: mapping.start, end: mapping.end });
            }
        }
    }
    mappers
}

/// Why it is not known is the error.
fn one(root: &Root, file: &mut MappedFile, pieces: &Pieces, mapper: Mapper, page: u64) -> Result<(), String> {
    let device = "a device's memory is no page cache";
    match file.store {
        Store::Device => return Err(device.to_owned()),
        Store::HugePages => return Err("huge pages cannot be evicted".to_owned()),
        _ => {}
    }
    if file.fs.as_deref().is_some_and(ramline_kernel::fs::may_hang) {
        return Err("not asked: a file system that a server or a program answers for may not answer".to_owned());
    }
    if file.fs.is_none() && file.major == 0 && file.store == Store::FileSystem {
        return Err("not asked: its mount was not seen, and what has no disk of its own may not answer".to_owned());
    }
    let found = find(root, file, mapper);
    if file.name == NameState::Deleted {
        file.name = name_state(root, file, mapper);
    }
    let (via, meta) = found?;
    if !meta.is_file() {
        file.store = Store::Device;
        return Err(device.to_owned());
    }
    file.length = Some(Bytes(meta.len()));
    let opened = open(&via).map_err(|error| format!("it cannot be opened: {error}"))?;
    let counted = counted(&opened, &via, pieces, page);
    file.via = Some(via);
    file.residency = counted.map_err(|error| match error.cause {
        Cause::Denied => "the kernel tells only those who own the file or may write it".to_owned(),
        cause => cause.to_string(),
    })?;
    Ok(())
}

fn counted(file: &File, path: &Path, pieces: &Pieces, page: u64) -> Result<Residency, KernelError> {
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
    let ranges = union(pieces.iter().map(|(offset, length, _)| (*offset, *length)));
    let code = union(pieces.iter().filter(|piece| piece.2).map(|(offset, length, _)| (*offset, *length)));
    let inside = residency::count_ranges(file, path, &ranges)?;
    let in_code = residency::count_ranges(file, path, &code)?;
    let whole = residency::count_ranges(file, path, &[(0, i64::MAX.unsigned_abs())])?;
    let unwritten = inside.dirty.zip(inside.writeback).map(|(dirty, writeback)| (dirty + writeback).min(inside.cached));
    Ok(Residency {
        source: if inside.method == Method::Cachestat { Source::Cachestat } else { Source::Mincore },
        cached: Some(bytes(whole.cached)),
        in_ranges: Some(bytes(inside.cached)),
        in_code: Some(bytes(in_code.cached)),
        dirty: unwritten.map(bytes),
        ..Residency::default()
    })
}

/// A path that leads to this very file, with what stat says of it.
fn find(root: &Root, file: &MappedFile, mapper: Mapper) -> Result<(PathBuf, Metadata), String> {
    let Mapper { pid, start, end } = mapper;
    let exact = root.path(format!("/proc/{pid}/map_files/{start:x}-{end:x}"));
    if let Ok(meta) = std::fs::metadata(&exact) {
        return Ok((exact, meta));
    }
    if file.store == Store::Memory && file.fs.is_none() {
        return Err("it has no name, and only root may open it through the process".to_owned());
    }
    let mut other = false;
    for path in [PathBuf::from(&file.path), below_root(root, pid, &file.path)] {
        match std::fs::metadata(&path) {
            Ok(meta) if is_same(file, &meta) => return Ok((path, meta)),
            Ok(_) => other = true,
            Err(_) => {}
        }
    }
    Err(if other { "its name leads to another file" } else { "it cannot be reached by its name" }.to_owned())
}

fn below_root(root: &Root, pid: u32, path: &str) -> PathBuf {
    root.path(format!("/proc/{pid}/root")).join(path.trim_start_matches('/'))
}

/// btrfs and overlayfs show a device in `stat` that is not the one of the mapping; there the inode alone has to do.
fn is_same(file: &MappedFile, meta: &Metadata) -> bool {
    let device = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
    meta.ino() == file.inode && (device == (file.major, file.minor) || file.major == 0)
}

/// The kernel says " (deleted)": is that part of the name, is the name free, or does it lead to another file now?
fn name_state(root: &Root, file: &mut MappedFile, mapper: Mapper) -> NameState {
    if file.store == Store::Memory && file.fs.is_none() {
        return NameState::Deleted;
    }
    let called = format!("{} (deleted)", file.path);
    let looks = |path: &str| {
        [PathBuf::from(path), below_root(root, mapper.pid, path)].into_iter().find_map(|p| std::fs::metadata(p).ok())
    };
    if looks(&called).is_some_and(|meta| is_same(file, &meta)) {
        file.path = called;
        return NameState::There;
    }
    if looks(&file.path).is_some() { NameState::Replaced } else { NameState::Deleted }
}

/// Opens for reading; the access time is left alone where that is allowed, and a FIFO would not block us.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let open = |more| rustix::fs::open(path, flags | more, Mode::empty()).map(File::from);
    Ok(open(OFlags::NOATIME).or_else(|_| open(OFlags::empty()))?)
}

/// What a file gets: offset, length and whether it is code, for every range of every process, in order of offset.
pub type Pieces = Vec<(u64, u64, bool)>;

/// All ranges of each file.
pub fn pieces(processes: &[MappedProcess], files: usize) -> Vec<Pieces> {
    let mut out = vec![Pieces::new(); files];
    for mapping in processes.iter().flat_map(|p| &p.mappings) {
        if let Some(list) = mapping.file.and_then(|f| out.get_mut(usize::try_from(f).ok()?)) {
            list.push((mapping.offset, mapping.size().0, mapping.execute));
        }
    }
    for list in &mut out {
        list.sort_unstable();
        list.dedup();
    }
    out
}

/// The union of pieces, as `(offset, length)`, in order.
pub fn union(pieces: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (start, length) in pieces {
        match out.last_mut() {
            Some((from, len)) if start <= from.saturating_add(*len) => {
                *len = (*len).max(start.saturating_add(length).saturating_sub(*from));
            }
            _ => out.push((start, length)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_touch_or_overlap_become_one() {
        assert_eq!(union([(0, 4), (2, 4), (6, 2), (10, 1), (10, 1)].into_iter()), [(0, 8), (10, 1)]);
        assert_eq!(union([(5, u64::MAX), (6, 1)].into_iter()), [(5, u64::MAX)]);
    }
}
