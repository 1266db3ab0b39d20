use super::*;
use ramline_testkit::skip_if;
use std::io::Write;

fn no_disk(test: &str) -> bool {
    let place = crate::place::describe(".".as_ref()).unwrap();
    let why = format!("{} is {}, where eviction means swapping", place.dir.display(), place.fs_type);
    skip_if(!place.is_disk(), test, &why)
}

/// No descriptor: a kernel that knows the call says so; one without it, or that forbids it, says something else.
#[expect(unsafe_code, reason = "the number of a call, to ask whether there is one")]
fn has_cachestat() -> bool {
    // SAFETY: nothing is read or written before the descriptor is found bad.
    let done = unsafe { libc::syscall(451, -1, std::ptr::null::<u8>(), std::ptr::null::<u8>(), 0) };
    done == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EBADF)
}

#[test]
fn mincore_and_cachestat_agree_on_a_file_just_written() {
    let mut file = tempfile::tempfile_in(".").unwrap();
    file.write_all(&vec![1; 64 * 4096]).unwrap();
    assert_eq!(mincore(file.as_fd(), 0, u64::MAX).unwrap().cached, 64 * 4096 / page_size());
    if skip_if(!has_cachestat(), "cachestat agrees with mincore", "needs cachestat (Linux 6.5), not forbidden here") {
        return;
    }
    assert_eq!(cachestat(file.as_fd(), 0, 0).unwrap().cached, 64 * 4096 / page_size());
}

#[test]
fn parts_of_a_file_are_counted_by_both_calls_alike() {
    let mut file = tempfile::tempfile_in(".").unwrap();
    let page = page_size();
    file.write_all(&vec![1; usize::try_from(8 * page).unwrap()]).unwrap();
    file.set_len(1 << 30).unwrap();
    let ranges = [(page, 2 * page), (6 * page, 100 * page)];
    let all = count_ranges(&file, Path::new("scratch"), &ranges).unwrap();
    assert_eq!(all.cached, 4);
    assert_eq!(ranges_by(file.as_fd(), &ranges, mincore).unwrap().cached, 4);
    assert_eq!(count_ranges(&file, Path::new("scratch"), &[]).unwrap().cached, 0);
    assert_eq!(mincore(file.as_fd(), 0, u64::MAX).unwrap().cached, 8);
    assert_eq!(missing(&file, Path::new("scratch"), (0, 10 * page)).unwrap(), [(8 * page, 2 * page)]);
}

#[test]
fn exactly_the_parts_that_are_brought_in_are_present() {
    let (mut file, page) = (tempfile::tempfile_in(".").unwrap(), page_size());
    file.write_all(&vec![1; usize::try_from(64 * page).unwrap()]).unwrap();
    let name = Path::new("scratch");
    assert_eq!(present(&file, name).unwrap(), [(0, 64 * page)]);
    if no_disk("parts that are brought in") {
        return;
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
    if no_disk("an evicted file") {
        return;
    }
    let evicted = evict(&file, Path::new("scratch")).unwrap();
    assert_eq!(evicted.before.cached, 64 * 4096 / page_size());
    assert_eq!(evicted.after.cached, 0);
}
