//! Which parts of a file processes map.

use ramline_snapshot::maps::MappedProcess;

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
