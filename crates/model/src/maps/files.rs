//! Every file once: who maps it, what of it is resident, and how that is known.

use std::cmp::Reverse;

use ramline_snapshot::maps::{MappedFile, Mapping, Maps, NameState, Source, Store, Usage};

use crate::prelude::*;

/// Order of the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Most resident first.
    #[default]
    Resident,
    /// Largest mapped size first.
    Size,
    /// Most processes first.
    Processes,
    /// Most private copies first.
    Private,
    /// Most to read again first.
    Reread,
    /// By path.
    Name,
}

/// What "resident" of a file means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Present in the page tables of the processes read.
    PageTables,
    /// In the page cache inside the ranges they map: at most more, by what lies there unused.
    PageCache,
    /// Not known; see `why`.
    #[default]
    Unknown,
}

/// Processes of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Program {
    /// Their name.
    pub name: String,
    /// How many.
    pub processes: u64,
    /// Process id, where there is one alone.
    pub pid: Option<u32>,
}

/// A file. Sizes are gauges; with `code_only` they are of its executable ranges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileUse {
    /// Path as the first process that maps it sees it.
    pub path: String,
    /// Device of the file system, `fe:00`.
    pub device: String,
    /// Inode.
    pub inode: u64,
    /// File-system type, where its mount was seen.
    pub fs: Option<String>,
    /// Whether the name still leads to it.
    pub name: NameState,
    /// Where its pages go when they are evicted.
    pub store: Store,
    /// Length of the file.
    pub length: Option<Bytes>,
    /// Processes that map it.
    pub processes: u64,
    /// Which, by name, most first.
    pub programs: Vec<Program>,
    /// Ranges that map it.
    pub ranges: u64,
    /// Parts of the file that are mapped, each once.
    pub size: Bytes,
    /// Of it, executable.
    pub code_size: Bytes,
    /// Sums of `smaps` over all ranges: a page counts once for each range that maps it.
    pub usage: Option<Usage>,
    /// Resident, each page once.
    pub resident: Option<Bytes>,
    /// Of it, in executable ranges.
    pub code: Option<Bytes>,
    /// What "resident" means here.
    pub basis: Basis,
    /// In the page cache, of the whole file, mapped or not.
    pub cached: Option<Bytes>,
    /// `cached` over `length`, both in whole pages.
    pub cached_share: Option<f64>,
    /// Of `resident`, at most so much is changed and not yet written.
    pub dirty: Option<Bytes>,
    /// Of `resident`, could be dropped and would be read again.
    pub clean: Option<Bytes>,
    /// Where the residency is from.
    pub source: Source,
    /// Why it is not known, or not from the page cache.
    pub why: Option<String>,
}

/// The file behind a range.
pub fn behind<'a>(maps: &'a Maps, mapping: &Mapping) -> Option<&'a MappedFile> {
    maps.files.get(usize::try_from(mapping.file?).ok()?)
}

pub fn device(file: &MappedFile) -> String {
    format!("{:02x}:{:02x}", file.major, file.minor)
}

/// What the ranges of one file add up to.
#[derive(Default)]
struct Sum {
    programs: BTreeMap<String, Program>,
    pieces: Vec<(u64, u64)>,
    code: Vec<(u64, u64)>,
    usage: Option<Usage>,
    ranges: u64,
    processes: u64,
    last: Option<u32>,
}

pub fn files(maps: &Maps, options: &MapsOptions) -> Vec<FileUse> {
    let mut sums: Vec<Sum> = maps.files.iter().map(|_| Sum::default()).collect();
    for process in &maps.processes {
        for mapping in process.mappings.iter().filter(|m| m.execute || !options.code_only) {
            let Some(sum) = mapping.file.and_then(|f| sums.get_mut(usize::try_from(f).ok()?)) else { continue };
            if sum.last != Some(process.pid) {
                sum.last = Some(process.pid);
                sum.processes += 1;
                let named = sum.programs.entry(process.name.clone()).or_default();
                named.processes += 1;
                named.pid = (named.processes == 1).then_some(process.pid);
            }
            sum.ranges += 1;
            sum.pieces.push((mapping.offset, mapping.size().0));
            if mapping.execute {
                sum.code.push((mapping.offset, mapping.size().0));
            }
            add(&mut sum.usage, mapping.usage);
        }
    }
    let mut out: Vec<FileUse> = maps
        .files
        .iter()
        .zip(sums)
        .filter(|(_, sum)| sum.ranges > 0)
        .map(|(file, sum)| one(file, sum, options.code_only, maps.page.max(1)))
        .collect();
    sort(&mut out, options.sort);
    out
}

fn one(file: &MappedFile, sum: Sum, code_only: bool, page: u64) -> FileUse {
    let seen = &file.residency;
    let (all, code) = (seen.present.or(seen.in_ranges), seen.present_code.or(seen.in_code));
    let basis = match (seen.present, seen.in_ranges) {
        (Some(_), _) => Basis::PageTables,
        (None, Some(_)) => Basis::PageCache,
        (None, None) => Basis::Unknown,
    };
    let (resident, on_disk) = (if code_only { code } else { all }, file.store == Store::FileSystem);
    let dirty = seen.dirty.zip(resident).map(|(dirty, resident)| dirty.min(resident));
    let mut programs: Vec<Program> =
        sum.programs.into_iter().map(|(name, program)| Program { name, ..program }).collect();
    ramline_units::sort_by_key(&mut programs, |p| Reverse(p.processes));
    FileUse {
        path: file.path.clone(),
        device: device(file),
        inode: file.inode,
        fs: file.fs.clone(),
        name: file.name,
        store: file.store,
        length: file.length,
        processes: sum.processes,
        programs,
        ranges: sum.ranges,
        size: once(sum.pieces),
        code_size: once(sum.code),
        usage: sum.usage,
        resident,
        code,
        basis,
        cached: seen.cached,
        // The last page of a file is whole in the cache.
        cached_share: seen.cached.and_then(|cached| cached.share_of(file.length?.whole_pages(page))),
        dirty,
        // Where the kernel does not tell what is dirty, all of it might be clean: an upper bound.
        clean: resident.filter(|_| on_disk).and_then(|resident| resident.checked_sub(dirty.unwrap_or_default())),
        source: seen.source,
        why: seen.why.clone(),
    }
}

/// Length of the union.
fn once(mut pieces: Vec<(u64, u64)>) -> Bytes {
    pieces.sort_unstable();
    let (mut end, mut sum) = (0u64, 0u64);
    for (start, length) in pieces {
        let stop = start.saturating_add(length);
        sum = sum.saturating_add(stop.saturating_sub(start.max(end)));
        end = end.max(stop);
    }
    Bytes(sum)
}

fn sort(files: &mut [FileUse], sort: Sort) {
    // Where nothing is known the size decides, after everything that is known.
    let most = |f: &FileUse| Reverse((f.resident, f.size));
    match sort {
        Sort::Resident => ramline_units::sort_by_key(files, |f| (most(f), f.path.clone())),
        Sort::Size => ramline_units::sort_by_key(files, |f| (Reverse(f.size), f.path.clone())),
        Sort::Processes => ramline_units::sort_by_key(files, |f| (Reverse(f.processes), most(f), f.path.clone())),
        Sort::Private => {
            ramline_units::sort_by_key(files, |f| (Reverse(f.usage.map(|u| u.anonymous)), most(f), f.path.clone()));
        }
        Sort::Reread => ramline_units::sort_by_key(files, |f| (Reverse(f.clean), most(f), f.path.clone())),
        Sort::Name => ramline_units::sort_by_key(files, |f| (f.path.clone(), f.inode)),
    }
}

pub fn totals(files: &[FileUse]) -> Totals {
    let mut out = Totals::default();
    for file in files {
        match file.store {
            Store::FileSystem => {}
            Store::Memory => {
                out.memory += file.resident.unwrap_or_default();
                continue;
            }
            Store::HugePages | Store::Device => continue,
        }
        out.files += 1;
        match file.resident {
            Some(resident) => {
                out.known += 1;
                out.resident += resident;
                out.code += file.code.unwrap_or_default();
            }
            None => out.unknown_size += file.size,
        }
        if file.name != NameState::There {
            out.gone += 1;
            out.gone_resident += file.resident.unwrap_or_default();
        }
    }
    debug_assert!(out.known <= count(files.len()));
    out
}

/// What is wanted of a reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MapsOptions {
    /// Order of the files.
    pub sort: Sort,
    /// Executable ranges alone.
    pub code_only: bool,
    /// List every range.
    pub ranges: bool,
}

/// Sums over files. Gauges; each page of a file counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Totals {
    /// Files of file systems: what eviction drops and reads again.
    pub files: u64,
    /// Of these, with a known residency.
    pub known: u64,
    /// Resident, of those.
    pub resident: Bytes,
    /// Of it, in executable ranges.
    pub code: Bytes,
    /// Address space of files whose residency is not known, each part of a file once.
    pub unknown_size: Bytes,
    /// Files without a name, or whose name leads to another file.
    pub gone: u64,
    /// Resident of those.
    pub gone_resident: Bytes,
    /// Shared memory and files in RAM: resident, each page once.
    pub memory: Bytes,
}

impl Totals {
    /// Resident of file systems, without what is in executable ranges.
    #[must_use]
    pub const fn data(&self) -> Bytes {
        self.resident.saturating_sub(self.code)
    }
}

pub fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Adds up what walks said.
pub fn add(sum: &mut Option<Usage>, more: Option<Usage>) {
    more.into_iter().for_each(|more| sum.get_or_insert_default().add(more));
}
