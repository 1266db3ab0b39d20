//! `cache save`: which parts of which files are in the page cache now, into a file ([`crate::hotset`]).
//!
//! One walk; a file of which all pages are there is kept as a whole, of any other mincore tells which, and only where cachestat
//! says that something is (a sparse file of many TiB costs what its hot part costs). Kept in memory are hot files, never the others.
//! It lists what is there, not how often it is read, which the kernel does not report. Files in memory (tmpfs), block
//! devices and deleted files are left out: none of them is there after a boot.

mod half_warm;
mod order;

use ramline_kernel::output::Output;
use ramline_kernel::residency::Method;
use ramline_snapshot::cache::{Doing, Saved};

use crate::hotset::{Building, Header, Parts};
use crate::prelude::*;
use crate::shared::now_ms;
use crate::stat::ask;

pub(crate) use half_warm::Restoring;

/// How it is saved.
#[derive(Debug, Clone, Copy, Default)]
pub struct SaveOptions {
    /// Also in the place of a hot set that was much larger.
    pub force: bool,
    /// Refused for being half warm it is only told, and the old one stays.
    pub if_warm: bool,
}

/// Saves the hot set of what was named, or of all local disks, to `output`, which is FILE (without it, it is only found out what would be
/// saved); failures are told as they happen and counted.
///
/// # Errors
/// `Refused` while the page cache is only half warm (see [`half_warm`]), or where FILE is something else; when it cannot be written.
pub fn save(
    context: Context<'_>,
    file: &Path,
    output: Option<Output>,
    names: &[PathBuf],
    walking: &WalkOptions,
    options: SaveOptions,
) -> Result<Saved, KernelError> {
    let begin = Instant::now();
    // A pipe or a device holds no older one, and is not looked into.
    let is_another = || std::fs::metadata(file).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    let no_file = output.as_ref().map_or_else(|| file == Path::new("-") || is_another(), |output| !output.is_file());
    let old = if no_file { None } else { half_warm::old(file)? };
    let all = names.is_empty();
    let names = if all { disks(context.root)? } else { absolute(names)? };
    // Each disk was named by its own mount.
    let walking = WalkOptions { stay_on_mount: all, ..walking.clone() };
    let saving = SaveWalk { page: process::page_size(), unknown: Remarks::default(), passed: Remarks::default() };
    let (walked, entries) = walk::walk(context, &names, &walking, &saving);
    let mut entries: Vec<Entry> = entries.into_iter().flatten().collect();
    order::sort(context.root, &mut entries, saving.page);
    let mut entries: Vec<Entry> = entries.into_iter().flat_map(Entry::split).collect();
    let most = usize::try_from(hotset::MOST_FILES).unwrap_or(usize::MAX);
    let beyond = u64::try_from(entries.len().saturating_sub(most)).unwrap_or(0);
    saving.passed.add("beyond what a hot set holds", beyond, entries.get(most).map(|entry| entry.path.as_path()));
    entries.truncate(most);
    let header = header(context, &entries, saving.page)?;
    let mut skipped = saving.passed.take();
    skipped.extend(walked.skipped);
    let mut out = Saved {
        doing: if output.is_none() { Doing::Dry } else { Doing::Done },
        file: name(file),
        trees: names.iter().map(|path| name(path)).collect(),
        files: header.files,
        hot: Bytes(header.hot),
        whole: u64::try_from(entries.iter().filter(|entry| entry.parts.is_none()).count()).unwrap_or(0),
        before: old.as_ref().map(|old| Bytes(old.hot)),
        unknown: saving.unknown.take(),
        skipped,
        failed: walked.failed,
        evictors: evictors(context.root),
        looked: begin.elapsed().into(),
        ..Saved::default()
    };
    if signals::interrupted() {
        return Err(KernelError::refused("save the hot set to", file, "interrupted: what was there stays", ""));
    }
    let unknown = ramline_units::saturating_sum(out.unknown.iter().map(|remark| remark.files));
    match half_warm::refuse(file, old.as_ref(), &header, unknown) {
        Err(why) if options.if_warm => {
            (context.tell)(&why);
            out.doing = Doing::Dry;
        }
        // What could not be read has its error already: the old one stays, and the answer says that nothing was written.
        Err(_) if !options.force && out.failed > 0 && header.files == 0 => out.doing = Doing::Dry,
        Err(why) if !options.force => return Err(why),
        _ => {}
    }
    if let Some(output) = output.filter(|_| out.doing == Doing::Done) {
        let is_file = output.is_file();
        out.size = Some(hotset::write(output, &header, &entries)?);
        if is_file {
            Restoring::forget(file);
        }
    }
    out.took = begin.elapsed().into();
    Ok(out)
}

fn header(context: Context<'_>, entries: &[Entry], page: u64) -> Result<Header, KernelError> {
    Ok(Header {
        saved_ms: now_ms(),
        machine: process::machine(context.root),
        boot: process::boot_id(context.root)?,
        up_s: process::monotonic().0 / 1_000_000_000,
        page,
        files: u64::try_from(entries.len()).unwrap_or(0),
        hot: entries.iter().fold(0, |sum, entry| entry.hot(page).saturating_add(sum)),
    })
}

struct SaveWalk {
    page: u64,
    unknown: Remarks,
    passed: Remarks,
}

impl Visit for SaveWalk {
    type Worker = Vec<Entry>;

    fn file(&self, worker: &mut Vec<Entry>, found: &FoundFile<'_>) {
        if found.fs.in_memory || !found.is_regular() {
            let text = "in memory, or a device: nothing that could be read again after a boot";
            return self.passed.add(text, 1, Some(&found.path()));
        }
        let length = found.length();
        let seen = match ask(found) {
            Ok(seen) => seen,
            Err(why) => return self.unknown.add(&why, 1, Some(&found.path())),
        };
        // A page beyond the end (of a file that was cut) is nothing to read again.
        if seen.cached == 0 || length == 0 {
            return;
        }
        let path = found.path();
        if !hotset::is_name(&path) {
            let text = "names longer than the kernel opens from the root (4,095 bytes)";
            return self.passed.add(text, 1, Some(&path));
        }
        let parts = if seen.cached >= length.div_ceil(self.page) {
            None
        } else {
            let mut parts = Parts::builder();
            match self.hot(found, (0, length), &mut parts) {
                Ok(()) => Some(parts.finish()),
                Err(error) => return self.unknown.add(&error.cause.to_string(), 1, Some(&path)),
            }
        };
        if parts.as_ref().is_some_and(|parts| parts.pages() == 0) {
            return;
        }
        let FileKey { device, inode } = found.key();
        worker.push(Entry { path, length, mtime_ns: hotset::mtime_ns(found.stat), inode, device, parts });
    }
}

/// mincore is asked about so much at a time.
const WINDOW: u64 = 128 << 20;

impl SaveWalk {
    /// Halves a range until cachestat says all or nothing, or a window is left, of which mincore tells each page.
    fn hot(&self, found: &FoundFile<'_>, (at, length): (u64, u64), parts: &mut Building) -> Result<(), KernelError> {
        if found.fs.method == Method::Cachestat {
            let asked = residency::cachestat(found.file, at, length);
            let seen = asked.map_err(|error| KernelError::io("count the cached pages of", found.path(), error))?;
            let pages = length.div_ceil(self.page);
            if seen.cached == 0 {
                return Ok(());
            }
            if seen.cached >= pages {
                parts.push(at / self.page, pages);
                return Ok(());
            }
            if length > WINDOW {
                let half = (length / 2).div_ceil(WINDOW) * WINDOW;
                self.hot(found, (at, half), parts)?;
                return self.hot(found, (at + half, length - half), parts);
            }
        }
        for (at, length) in residency::present_in(&found.file, &found.path(), (at, length))? {
            parts.push(at / self.page, length.div_ceil(self.page));
        }
        Ok(())
    }
}

/// What is saved when nothing is named: every file system of a disk of this machine, each once, where it is mounted, as `cache top` walks them.
///
/// # Errors
/// When no file system of a disk is mounted.
fn disks(root: &Root) -> Result<Vec<PathBuf>, KernelError> {
    let found = crate::top::places::file_systems(root).0;
    if found.is_empty() {
        let rule = "no file system of a disk is mounted";
        let error = KernelError::refused("save the hot set of", "this machine", rule, "");
        return Err(error.hint("ramline cache save FILE PATH"));
    }
    Ok(found)
}

/// From the root: a hot set is read again from anywhere.
///
/// # Errors
/// When a name leads nowhere.
fn absolute(names: &[PathBuf]) -> Result<Vec<PathBuf>, KernelError> {
    let full = |path: &PathBuf| {
        std::fs::canonicalize(path).map_err(|error| KernelError::io("save the hot set of", Path::new(path), error))
    };
    names.iter().map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::Root;
    use std::io::Write;

    #[test]
    fn the_hot_part_of_a_sparse_file_is_found_without_asking_about_every_page() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let place = ramline_kernel::place::describe(dir.path()).unwrap();
        if ramline_testkit::skip_if(!place.is_disk(), "a sparse file in a hot set", "files here are in memory") {
            return;
        }
        let path = dir.path().join("sparse");
        let mut file = std::fs::File::create(&path).unwrap();
        file.set_len(8 << 40).unwrap();
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(5 << 40)).unwrap();
        file.write_all(&[1; 3 * 4096]).unwrap();
        let root = Root::live();
        let context = Context { root: &root, tell: &|error| panic!("{error}") };
        let set = dir.path().join("set");
        let output = Output::open(&set, hotset::FORMAT, "").unwrap();
        let saved =
            save(context, &set, Some(output), &[path], &WalkOptions::default(), SaveOptions::default()).unwrap();
        assert_eq!((saved.files, saved.hot, saved.whole), (1, Bytes(3 * 4096), 0));
        let reading = hotset::read(&set).unwrap();
        let entries = reading.pieces().unwrap().next().unwrap().unwrap();
        assert_eq!(entries[0].ranges(4096), [(5 << 40, 3 * 4096)]);
    }
}
