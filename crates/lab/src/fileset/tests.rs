use super::*;

/// How often a file is brought in.
const ATTEMPTS: u32 = 3;

fn half(parts: &[(u64, u64)]) -> (u64, u64) {
    let (mut seen, mut taken) = (0, 0);
    let all: Vec<_> = parts.iter().flat_map(|part| every_second(*part, &mut seen, &mut taken)).collect();
    assert_eq!(all.iter().map(|(_, length)| length).sum::<u64>(), taken);
    (taken, seen)
}

#[test]
fn half_of_it_is_half_of_large_files_and_of_many_small_ones() {
    for parts in
        [vec![(0, 10 << 20)], (0..1000).map(|i| (0, 4096 * (1 + i % 7))).collect(), vec![(0, 3 << 20), (0, 4096)]]
    {
        let (taken, seen) = half(&parts);
        assert!(taken * 2 <= seen + PIECE && taken * 2 + PIECE >= seen, "{taken} of {seen}");
    }
}

#[test]
fn what_stays_is_named_with_who_maps_it() {
    let stay = |name: &str, mapped_by| Stays { path: PathBuf::from(name), bytes: Bytes::from_mib(1), mapped_by };
    let mut set = FileSet::default();
    assert_eq!(set.what_stays(), None);
    set.stays = vec![stay("/lib/libc.so.6", 37), stay("/x/locked", 0)];
    let text = set.what_stays().unwrap();
    assert!(text.contains("2.0 MiB") && text.contains("libc.so.6 (mapped by 37 processes), locked"), "{text}");
}

#[test]
fn a_file_is_made_cold_half_warm_and_warm_and_each_is_proven() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let no_disk = !ramline_kernel::place::describe(dir.path()).unwrap().is_disk();
    if ramline_testkit::skip_if(no_disk, "a file made cold", "not on a disk, where eviction means swapping") {
        return;
    }
    let path = dir.path().join("file");
    std::fs::write(&path, vec![7; 4 << 20]).unwrap();
    let set = FileSet::from_files(&[path]).unwrap();
    let share = |warmth| set.bring_about(warmth).unwrap().share();
    let both = || (share(Warmth::Cold), share(Warmth::Warm));
    let mut seen = both();
    for _ in 1..ATTEMPTS {
        if seen == (0.0, 1.0) {
            break;
        }
        // DAMON may evict pages of a file that was read a moment ago (tests/harness/steady.py).
        ramline_testkit::repeated("a file made cold and warm", &format!("{seen:?} of it were in the page cache"));
        seen = both();
    }
    assert_eq!(seen, (0.0, 1.0));
    assert!((share(Warmth::Half) - 0.5).abs() < 0.05);
    assert_eq!(set.needed(), Bytes::from_mib(4));
}

#[test]
fn directories_and_files_in_memory_are_refused_by_name() {
    let refused = |path: &str| FileSet::from_files(&[path.into()]).unwrap_err().to_string();
    assert!(refused("/etc").contains("/etc is not a regular file"));
    assert!(refused("/nowhere").contains("/nowhere"));
}
