use super::*;
use std::io::Write;

#[test]
fn mincore_and_cachestat_agree_on_a_file_just_written() {
    let mut file = tempfile::tempfile_in(".").unwrap();
    file.write_all(&vec![1; 64 * 4096]).unwrap();
    assert_eq!(mincore(file.as_fd(), 0, u64::MAX).unwrap().cached, 64 * 4096 / page_size());
    if let Ok(stat) = cachestat(file.as_fd(), 0, 0) {
        assert_eq!(stat.cached, 64 * 4096 / page_size());
    }
}

#[test]
fn parts_of_a_file_are_counted_by_both_calls_alike() {
    let mut file = tempfile::tempfile_in(".").unwrap();
    let page = page_size();
    file.write_all(&vec![1; usize::try_from(8 * page).unwrap()]).unwrap();
    file.set_len(1 << 30).unwrap();
    let ranges = [(page, 2 * page), (6 * page, 100 * page)];
    let all = of_ranges(&file, Path::new("scratch"), &ranges).unwrap();
    assert_eq!(all.cached, 4);
    assert_eq!(ranges_by(file.as_fd(), &ranges, mincore).unwrap().cached, 4);
    assert_eq!(of_ranges(&file, Path::new("scratch"), &[]).unwrap().cached, 0);
    assert_eq!(mincore(file.as_fd(), 0, u64::MAX).unwrap().cached, 8);
    assert_eq!(missing(&file, Path::new("scratch"), (0, 10 * page)).unwrap(), [(8 * page, 2 * page)]);
}

#[test]
fn exactly_the_parts_that_are_brought_in_are_present() {
    let (mut file, page) = (tempfile::tempfile_in(".").unwrap(), page_size());
    file.write_all(&vec![1; usize::try_from(64 * page).unwrap()]).unwrap();
    let name = Path::new("scratch");
    assert_eq!(present(&file, name).unwrap(), [(0, 64 * page)]);
    if !crate::place::describe(".".as_ref()).unwrap().is_disk() {
        return eprintln!("SKIP: not on a disk, where eviction means swapping");
    }
    assert_eq!(evict(&file, name).unwrap().after.cached, 0);
    let wanted = [(2 * page, page), (10 * page, 3 * page), (62 * page, 2 * page)];
    bring_in(&file, name, &wanted, ReadIn::Exactly).unwrap();
    assert_eq!(present(&file, name).unwrap(), wanted);
}

#[test]
fn an_evicted_file_has_no_cached_pages() {
    let mut file = tempfile::tempfile_in(".").unwrap();
    file.write_all(&vec![1; 64 * 4096]).unwrap();
    let place = crate::place::describe(".".as_ref()).unwrap();
    if !place.is_disk() {
        eprintln!("skipped: {} is {}, where eviction means swapping", place.dir.display(), place.fs_type);
        return;
    }
    let evicted = evict(&file, Path::new("scratch")).unwrap();
    assert_eq!(evicted.before.cached, 64 * 4096 / page_size());
    assert_eq!(evicted.after.cached, 0);
}
