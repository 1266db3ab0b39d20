//! Why pages stay: what is left of the files is asked about once more, all processes are looked through once.
//!
//! The order is that of the kernel's own tests: dirty or being written, then mapped or locked, then whether the range holds the
//! whole folio. What none of them explains is called so.

use ramline_gather::mappers::{self, Mapper};
use ramline_snapshot::cache::{EvictedFile, EvictedFiles, Holder, Stay, Why};

use super::{EvictOptions, RemainingFile, reopen};
use crate::prelude::*;

/// Fills in what stays, and why.
pub fn explain(root: &Root, left: Vec<RemainingFile>, options: &EvictOptions, out: &mut EvictedFiles) {
    let left: Vec<RemainingFile> = left.into_iter().filter_map(|file| again(file, options, &mut out.written)).collect();
    let keys: Vec<(FileKey, &Path)> = left.iter().map(|file| (file.key, file.path.as_path())).collect();
    let holders = if keys.is_empty() { HashMap::new() } else { mappers::for_files(root, &keys) };
    let mut sums: HashMap<Why, Bytes> = HashMap::new();
    for file in &left {
        let stay = why(file, holders.get(&file.key).map_or(&[], Vec::as_slice), options);
        let after = if options.dry { would_stay(file, &stay) } else { file.after.cached };
        if after == 0 {
            continue;
        }
        out.after += bytes(after);
        if let Some(first) = stay.why.first() {
            *sums.entry(*first).or_default() += bytes(after);
        }
        out.stays.push(EvictedFile { name: name(&file.path), before: bytes(file.before), after: bytes(after), stay });
    }
    ramline_units::sort_by(&mut out.stays, |a, b| b.after.cmp(&a.after).then_with(|| a.name.cmp(&b.name)));
    out.more = u64::try_from(out.stays.len().saturating_sub(options.top)).unwrap_or(0);
    out.stays.truncate(options.top);
    out.reasons = sums.into_iter().collect();
    ramline_units::sort_by(&mut out.reasons, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// Pages that were in use for a moment go at the second attempt. `None` when all went, or the file is gone. What was written before it
/// went is added to `written`.
fn again(mut file: RemainingFile, options: &EvictOptions, written: &mut Bytes) -> Option<RemainingFile> {
    if file.in_memory || options.dry {
        return Some(file);
    }
    let open = reopen(&file.path, file.key)?;
    let ranges = [options.range.unwrap_or((0, i64::MAX.unsigned_abs()))];
    if let Ok(evicted) = residency::evict_ranges(&open, &file.path, &ranges, false) {
        file.after = evicted.after;
    }
    // Each page that is still unwritten stays; of the others no more can have been written than went.
    let went = file.before.saturating_sub(file.after.cached);
    let gone = file.unwritten.saturating_sub(super::unwritten(&file.after)).min(went);
    *written += bytes(gone);
    (file.after.cached > 0).then_some(file)
}

/// Of a file that only would be evicted. What processes map of it is not counted page by page: then at most all of it stays.
fn would_stay(file: &RemainingFile, stay: &Stay) -> u64 {
    if stay.why.iter().any(|why| *why != Why::Dirty) {
        return file.before;
    }
    if stay.why.is_empty() { 0 } else { file.after.dirty.unwrap_or(0) + file.after.writeback.unwrap_or(0) }
}

fn why(file: &RemainingFile, mappers: &[Mapper], options: &EvictOptions) -> Stay {
    let unwritten = file.after.dirty.zip(file.after.writeback).map(|(dirty, writeback)| dirty + writeback);
    let holders: Vec<Holder> = mappers
        .iter()
        .map(|mapper| Holder { pid: mapper.pid, name: mapper.name.clone(), locked: mapper.locked })
        .collect();
    let mut why = Vec::new();
    if file.in_memory {
        why.push(Why::InMemory);
    } else {
        let is_held = |locked| holders.iter().any(|holder| holder.locked == locked);
        let dirty = unwritten.is_some_and(|pages| pages > 0) && !(options.dry && options.sync);
        let all = [(Why::Dirty, dirty), (Why::Locked, is_held(true)), (Why::Mapped, is_held(false))];
        why.extend(all.into_iter().filter(|(_, is)| *is).map(|(why, _)| why));
        if why.is_empty() && options.range.is_some_and(|range| ends_inside_a_folio(file, range)) {
            why.push(Why::LargeFolio);
        }
        if why.is_empty() && !options.dry {
            why.push(Why::Other);
        }
    }
    Stay { why, dirty: unwritten.map(bytes), holders }
}

/// What is left inside the range goes on outside of it: clean pages nobody maps stay only with the rest of their folio.
fn ends_inside_a_folio(file: &RemainingFile, (offset, length): (u64, u64)) -> bool {
    let Some(runs) = reopen(&file.path, file.key).and_then(|open| residency::present(&open, &file.path).ok()) else {
        return false;
    };
    let (first, last) = (offset / process::page_size() * process::page_size(), offset.saturating_add(length));
    let mut inside = runs.iter().filter(|(at, long)| *at < last && at + long > first).peekable();
    inside.peek().is_some() && inside.all(|(at, long)| *at < first || at + long > last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::residency::{Method, Residency};

    fn left(dirty: Option<u64>) -> RemainingFile {
        let after = Residency {
            cached: 8,
            dirty,
            writeback: dirty.map(|_| 0),
            evicted: None,
            recently_evicted: None,
            method: Method::Cachestat,
        };
        RemainingFile {
            path: "/no/such/file".into(),
            key: FileKey { device: 1, inode: 1 },
            in_memory: false,
            before: 8,
            unwritten: 0,
            after,
        }
    }

    #[test]
    fn every_reason_that_holds_is_named_and_what_none_explains_is_called_so() {
        let mapper = |locked| Mapper { pid: 7, name: "db".to_owned(), locked };
        let done = EvictOptions::default();
        assert_eq!(why(&left(Some(3)), &[], &done).why, [Why::Dirty]);
        assert_eq!(why(&left(Some(3)), &[], &done).dirty, Some(bytes(3)));
        assert_eq!(why(&left(Some(0)), &[mapper(false)], &done).why, [Why::Mapped]);
        assert_eq!(why(&left(None), &[mapper(true), mapper(false)], &done).why, [Why::Locked, Why::Mapped]);
        assert_eq!(why(&left(Some(0)), &[], &done).why, [Why::Other]);
        assert_eq!(why(&RemainingFile { in_memory: true, ..left(Some(0)) }, &[], &done).why, [Why::InMemory]);
    }

    #[test]
    fn looking_only_counts_what_is_dirty_and_at_most_all_of_what_is_mapped() {
        let dry = EvictOptions { dry: true, ..EvictOptions::default() };
        let stay = |dirty, mappers: &[Mapper], options: &EvictOptions| {
            let file = left(dirty);
            let stay = why(&file, mappers, options);
            would_stay(&file, &stay)
        };
        assert_eq!(stay(Some(3), &[], &dry), 3);
        assert_eq!(stay(Some(3), &[], &EvictOptions { sync: true, ..dry.clone() }), 0);
        assert_eq!(stay(Some(0), &[], &dry), 0);
        assert_eq!(stay(Some(0), &[Mapper { pid: 1, name: String::new(), locked: false }], &dry), 8);
    }
}
