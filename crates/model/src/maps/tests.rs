use ramline_snapshot::maps::{
    Contents, MappedFile, MappedProcess, Mapping, MappingKind, Maps, NameState, Residency, Source, Store,
    Totals as Status, Usage,
};
use ramline_units::Bytes;

use super::*;

const K4: u64 = 4096;

fn range(file: u32, offset: u64, pages: u64, flags: &str, usage: Option<Usage>) -> Mapping {
    Mapping {
        start: 1 << 30,
        end: (1 << 30) + pages * K4,
        read: flags.contains('r'),
        write: flags.contains('w'),
        execute: flags.contains('x'),
        shared: flags.contains('s'),
        offset: offset * K4,
        kind: MappingKind::File,
        file: Some(file),
        usage,
    }
}

fn used(rss: u64, anonymous: u64) -> Option<Usage> {
    Some(Usage { rss: Bytes(rss * K4), anonymous: Bytes(anonymous * K4), ..Usage::default() })
}

fn file(path: &str, inode: u64, pages: u64) -> MappedFile {
    MappedFile {
        path: path.into(),
        major: 0xfe,
        inode,
        length: Some(Bytes(pages * K4)),
        fs: Some("ext4".into()),
        ..MappedFile::default()
    }
}

fn cached(pages: u64, code: u64, dirty: u64) -> Residency {
    let b = |n: u64| Some(Bytes(n * K4));
    Residency {
        source: Source::Cachestat,
        cached: b(pages),
        in_ranges: b(pages),
        in_code: b(code),
        dirty: b(dirty),
        ..Residency::default()
    }
}

fn process(pid: u32, name: &str, mappings: Vec<Mapping>) -> MappedProcess {
    MappedProcess { pid, name: name.into(), mappings, ..MappedProcess::default() }
}

#[test]
fn a_file_counts_once_however_many_processes_map_it() {
    let maps = Maps {
        processes: vec![
            process(1, "a", vec![range(0, 0, 4, "rx", None), range(0, 3, 4, "r", None)]),
            process(2, "b", vec![range(0, 0, 4, "rx", None)]),
            process(3, "b", vec![range(0, 8, 2, "rws", None)]),
        ],
        files: vec![MappedFile { residency: cached(9, 4, 1), ..file("/lib/x.so", 7, 10) }],
        ..Maps::default()
    };
    let all = Mapped::from_maps(&maps, &MapsOptions::default());
    let one = &all.files[0];
    assert_eq!((one.processes, one.ranges), (3, 4));
    assert_eq!((one.size, one.code_size), (Bytes(9 * K4), Bytes(4 * K4)));
    assert_eq!((one.resident, one.clean, one.basis), (Some(Bytes(9 * K4)), Some(Bytes(8 * K4)), Basis::PageCache));
    assert_eq!(one.programs[0], Program { name: "b".into(), processes: 2, pid: None });
    assert_eq!((all.reread.clean, all.reread.code, all.reread.dirty), (Bytes(8 * K4), Bytes(4 * K4), Some(Bytes(K4))));
    let code = Mapped::from_maps(&maps, &MapsOptions { code_only: true, ..MapsOptions::default() });
    assert_eq!((code.files[0].processes, code.files[0].resident), (2, Some(Bytes(4 * K4))));
}

#[test]
fn written_pages_of_private_mappings_are_copies_and_not_read_again() {
    let maps = Maps {
        processes: vec![MappedProcess {
            totals: Some(Status {
                rss: Some(Bytes(7 * K4)),
                anon: Some(Bytes(3 * K4)),
                file: Some(Bytes(4 * K4)),
                ..Status::default()
            }),
            ..process(1, "a", vec![range(0, 0, 4, "rx", used(4, 0)), range(0, 4, 3, "r", used(3, 3))])
        }],
        files: vec![MappedFile {
            residency: Residency { present: Some(Bytes(4 * K4)), present_code: Some(Bytes(4 * K4)), ..cached(7, 4, 0) },
            ..file("/lib/x.so", 7, 7)
        }],
        ..Maps::default()
    };
    let all = Mapped::from_maps(&maps, &MapsOptions::default());
    assert_eq!(all.classes.iter().map(|c| c.class).collect::<Vec<_>>(), [Class::Code, Class::Relocated]);
    assert_eq!((all.reread.clean, all.reread.copies), (Bytes(4 * K4), Some(Bytes(3 * K4))));
    let closure = all.closure.unwrap();
    assert_eq!(closure.lines.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["VmRSS", "RssAnon", "RssFile"]);
    assert!(closure.lines.iter().all(|l| l.ranges == l.kernel), "{closure:?}");
}

#[test]
fn a_class_of_ranges_has_its_shared_its_private_and_its_copied_pages() {
    let usage = Usage {
        rss: Bytes(9),
        shared_clean: Bytes(1),
        shared_dirty: Bytes(2),
        private_clean: Bytes(4),
        private_dirty: Bytes(8),
        anonymous: Bytes(3),
        huge: Bytes(5),
        ..Usage::default()
    };
    let of = |class| ClassUse { class, usage: Some(usage), ..ClassUse::default() };
    let code = of(Class::Code);
    assert_eq!((code.resident(), code.shared(), code.private()), (Some(Bytes(14)), Some(Bytes(3)), Some(Bytes(12))));
    assert_eq!((code.copies(), of(Class::Heap).copies()), (Some(Bytes(3)), None));
    assert_eq!(ClassUse::default().resident(), None);
    assert_eq!(RangeUse { usage: Some(usage), ..RangeUse::default() }.dirty(), Some(Bytes(10)));
    assert_eq!(Totals { resident: Bytes(7), code: Bytes(5), ..Totals::default() }.data(), Bytes(2));
}

#[test]
fn what_a_short_list_leaves_out_and_why_residency_is_unknown_are_added_up() {
    let file = |resident: Option<u64>, basis, why: Option<&str>| FileUse {
        resident: resident.map(Bytes),
        basis,
        cached: resident.filter(|_| basis == Basis::PageCache).map(Bytes),
        why: why.map(str::to_owned),
        ..FileUse::default()
    };
    let mapped = Mapped {
        files: vec![
            file(Some(7), Basis::PageCache, None),
            file(Some(5), Basis::PageTables, Some("denied")),
            file(None, Basis::Unknown, None),
            file(Some(3), Basis::PageTables, Some("denied")),
        ],
        ..Mapped::default()
    };
    assert_eq!((mapped.resident_from(1), mapped.resident_from(9)), (Bytes(8), Bytes::ZERO));
    let not_told = |basis, why: &str, files| UnknownFiles { basis, why: why.to_owned(), files };
    assert_eq!(
        mapped.unknown_files(),
        [not_told(Basis::PageTables, "denied", 2), not_told(Basis::Unknown, "it was not asked", 1)]
    );
}

#[test]
fn what_is_not_known_is_no_zero() {
    let mut hidden = file("/lib/x.so", 7, 7);
    hidden.residency.why = Some("denied".into());
    let memory = MappedFile { store: Store::Memory, residency: cached(5, 0, 0), ..file("/dev/shm/x", 8, 5) };
    let gone = MappedFile { name: NameState::Replaced, residency: cached(2, 0, 0), ..file("/lib/y.so", 9, 2) };
    let maps = Maps {
        processes: vec![process(
            1,
            "a",
            vec![range(0, 0, 4, "r", None), range(1, 0, 5, "rws", None), range(2, 0, 2, "r", None)],
        )],
        files: vec![hidden, memory, gone],
        ..Maps::default()
    };
    let all = Mapped::from_maps(&maps, &MapsOptions::default());
    assert_eq!((all.totals.files, all.totals.known, all.totals.unknown_size), (2, 1, Bytes(4 * K4)));
    assert_eq!((all.totals.gone, all.totals.gone_resident, all.totals.memory), (1, Bytes(2 * K4), Bytes(5 * K4)));
    assert_eq!((all.reread.unknown, all.reread.clean, all.reread.memory), (1, Bytes(2 * K4), Bytes(5 * K4)));
    assert_eq!(all.files.iter().find(|f| f.inode == 7).unwrap().resident, None);
    assert_eq!(all.closure, None);
}

fn copies(fs: [&str; 2], inodes: [u64; 2], ids: [Option<&str>; 2], pieces: [u64; 2]) -> Vec<Duplicate> {
    let of = |i: usize| MappedFile {
        fs: Some(fs[i].into()),
        minor: u32::try_from(i).unwrap(),
        contents: Some(Contents { build_id: ids[i].map(Into::into), pieces: Some(pieces[i]) }),
        residency: cached([6, 3][i], 0, 0),
        ..file(&format!("/root{i}/libc.so.6"), inodes[i], 8)
    };
    let maps = Maps {
        page: K4,
        processes: vec![process(1, "a", vec![range(0, 0, 8, "r", None), range(1, 0, 8, "r", None)])],
        files: vec![of(0), of(1)],
        ..Maps::default()
    };
    Mapped::from_maps(&maps, &MapsOptions::default()).duplicates
}

#[test]
fn two_files_of_one_build_are_copies_and_what_sharing_saves_has_bounds() {
    let found = copies(["ext4", "ext4"], [1, 2], [Some("ab"), Some("ab")], [1, 2]);
    assert_eq!((found.len(), found[0].name.as_str(), found[0].likeness), (1, "libc.so.6", Likeness::BuildId));
    // 6 and 3 of 8 pages: at least one page is resident twice, at most all 3 of the smaller.
    assert_eq!((found[0].saves_at_least, found[0].saves_at_most), (Bytes(K4), Bytes(3 * K4)));
    let all = Mapped { duplicates: [found.clone(), found.clone()].concat(), ..Mapped::default() };
    assert_eq!(all.sharing_saves(), (Bytes(2 * K4), Bytes(6 * K4)));
    assert_eq!(found[0].copies[0].path, "/root0/libc.so.6");
    assert!(copies(["ext4", "ext4"], [1, 2], [Some("ab"), Some("cd")], [1, 1]).is_empty());
    assert!(copies(["ext4", "ext4"], [1, 2], [None, None], [1, 2]).is_empty());
    assert_eq!(copies(["ext4", "ext4"], [1, 2], [None, None], [1, 1])[0].likeness, Likeness::Pieces);
}

#[test]
fn one_layer_under_two_overlays_is_no_copy() {
    assert!(copies(["overlay", "overlay"], [5, 5], [Some("ab"), Some("ab")], [1, 1]).is_empty());
    let maybe = copies(["overlay", "overlay"], [5, 6], [Some("ab"), Some("ab")], [1, 1]);
    assert_eq!((maybe[0].overlay, maybe[0].saves_at_least), (true, Bytes::ZERO));
}
