use std::io::Cursor;
use std::sync::Arc;

use super::*;
use crate::touch::{Access, Touches};
use crate::touches::{Epoch, EpochAccess, Maker, Origin, Writer};

const ANONYMOUS: u32 = 0;
const FILE: u32 = 1;

fn run(first: u64, count: u64) -> Run {
    Run { first, count }
}

fn state(time: u64) -> Record {
    Record::State(EpochState { time_ns: time, cpu_ns: 3_000_000, resident_pages: 7, ..EpochState::default() })
}

fn epoch(time_ns: u64, region: u32, pages: &[Run]) -> Record {
    Record::Epoch(Epoch { time_ns, region, by: EpochAccess::Mapped, pages: pages.to_vec() })
}

fn written(page: u32, records: &[Record]) -> Vec<u8> {
    let origin = Origin { maker: Maker::Recorder, name: "here".to_owned(), seed: None };
    let mut writer = Writer::new(Vec::new(), &Header { page, origin }).unwrap();
    writer.region(&crate::touches::Region::anonymous(1 << 40)).unwrap();
    let id = crate::FileId { device: 1, inode: 2 };
    writer.region(&crate::touches::Region::file(id, None, 100 << 12)).unwrap();
    records.iter().for_each(|record| writer.record(record).unwrap());
    writer.finish().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<Recording, TouchesError> {
    Recording::read(&mut Reader::new(Cursor::new(bytes))?.within(1 << 30))
}

fn recording(records: &[Record]) -> Arc<Recording> {
    Arc::new(read(written(4096, records)).unwrap())
}

fn pages(recording: &Arc<Recording>, open: Open) -> Vec<(Access, u64)> {
    let drawn = recording.drawn(open);
    let touches: Vec<_> = drawn.rounds().map(Result::unwrap).collect();
    assert!(touches.len() as u64 <= drawn.touch_count());
    touches.iter().map(|touch| (touch.access, touch.offset / 4096)).collect()
}

const OPEN: Open = Open { stores: 0.0, block: 64, seed: 7 };

#[test]
fn memory_is_numbered_by_address_without_gaps_and_files_at_their_place() {
    let far = run(1 << 30, 2);
    let all = recording(&[state(5), epoch(5, ANONYMOUS, &[run(600, 3), far]), epoch(5, FILE, &[run(40, 1)])]);
    assert_eq!(all.regions.len(), 2);
    let [file, memory] = [all.regions[0], all.regions[1]];
    // From the block of 16 before the page to the window of 128 KiB behind it.
    assert_eq!(
        (file.memory, file.bytes >> 12, memory.memory, memory.bytes >> 12),
        (Memory::File, 41, Memory::Anonymous, 5)
    );
    let by = EpochAccess::Mapped;
    let (memory, file) = (Stretch { region: 1, first: 0, count: 5, by }, Stretch { region: 0, first: 8, count: 1, by });
    assert_eq!(all.stretches.iter().map(|one| one.count).sum::<u32>(), 6);
    assert!(all.stretches.contains(&file) && all.stretches[0].region == memory.region);
    assert_eq!(all.scattered_tables(), 1, "two tables, and five pages beside each other need one");
}

#[test]
fn what_is_touched_first_is_stored_and_what_was_given_back_begins_anew() {
    let free = Record::Mapping { region: ANONYMOUS, change: Change::Unmap(run(4, 2)) };
    let all = recording(&[
        state(5),
        epoch(5, ANONYMOUS, &[run(4, 2)]),
        state(10),
        epoch(10, ANONYMOUS, &[run(4, 1)]),
        free,
        state(15),
        epoch(15, ANONYMOUS, &[run(5, 1)]),
    ]);
    let (store, load, free, time) = (Access::Store, Access::Load, Access::Free, (Access::Compute(3000), 0));
    let begin = (Access::Begin, 0);
    assert_eq!(
        pages(&all, OPEN),
        [begin, (store, 0), (store, 1), time, begin, (load, 0), time, begin, (free, 0), (free, 1), (store, 1), time]
    );
    let stored = pages(&all, Open { stores: 1.0, ..OPEN });
    assert!(stored.contains(&(store, 0)) && !stored.iter().any(|one| one.0 == load));
    assert!(!all.began_later() && all.drawn(OPEN).fill().count() == 0);
}

#[test]
fn what_was_held_before_and_the_files_that_are_touched_fill_memory() {
    let map = Record::Mapping { region: ANONYMOUS, change: Change::Map(run(4, 3)) };
    let all = recording(&[map, state(5), epoch(5, FILE, &[run(9, 2)]), state(6), epoch(6, FILE, &[run(9, 1)])]);
    let fill: Vec<_> = all.drawn(OPEN).fill().map(|touch| touch.unwrap().access).collect();
    // Page 9 of the file is touched in two epochs, so it is the last; what is touched in none is the first.
    let (load, store) = (Access::Load, Access::Store);
    assert_eq!(fill, [store, store, store, load, load]);
    assert_eq!(all.drawn(OPEN).fill().last().unwrap().unwrap().offset, 9 << 12);
    // Two touches are in an epoch of two pages, one in an epoch of one: 5/3.
    assert_eq!((all.extent().most_of_an_epoch, all.extent().typical_of_an_epoch), (2, 1));
    assert_eq!(
        (all.extent().held, all.extent().epochs, all.extent().touched, all.extent().cpu_ns),
        (3, 2, 3, 6_000_000)
    );
}

#[test]
fn what_a_damaged_or_odd_recording_holds_is_an_error_or_a_load_within_its_regions() {
    let far = run((1 << 40) - 9, 8);
    let held = Record::Mapping { region: ANONYMOUS, change: Change::Map(run(0, 700)) };
    let free = Record::Mapping { region: ANONYMOUS, change: Change::Unmap(run(0, (1 << 40) - 1)) };
    let records = [
        held,
        state(5),
        epoch(5, ANONYMOUS, &[run(3, 600), far]),
        epoch(5, FILE, &[run(9, 3)]),
        free,
        state(9),
        epoch(9, ANONYMOUS, &[run(5, 1)]),
    ];
    let within = |all: &Arc<Recording>| {
        let (drawn, regions) = (all.drawn(OPEN), all.regions.clone());
        drawn
            .fill()
            .chain(drawn.rounds())
            .map(Result::unwrap)
            .all(|touch| touch.offset < regions[touch.region as usize].bytes)
    };
    assert!(within(&recording(&records)));
    let mut random = ramline_evidence::rng::SplitMix64::new(7);
    for _ in 0..500 {
        let mut records = Vec::new();
        for time in 1..9 {
            let at = |random: &mut ramline_evidence::rng::SplitMix64| {
                let bits = random.below(12);
                random.below(1 << bits)
            };
            let region = u32::try_from(random.below(2)).unwrap();
            let some = run(at(&mut random), 1 + at(&mut random));
            let change = [Change::Map(some), Change::Unmap(some), Change::Grow(at(&mut random) << 12)]
                [usize::try_from(random.below(3)).unwrap()];
            records.push(Record::Mapping { region, change });
            if random.below(4) > 0 {
                records.push(state(time));
            }
            records.push(epoch(time, region, &[run(at(&mut random), 1 + at(&mut random))]));
        }
        assert!(within(&recording(&records)), "{records:?}");
    }
    // A file that is mapped at its far end has no region of all before it.
    let odd = recording(&[state(5), epoch(5, FILE, &[far])]);
    assert!(odd.regions[0].bytes < 1 << 20 && within(&odd));
    // Of one with a large hole its pages are counted without it.
    let wide = recording(&[state(5), epoch(5, FILE, &[run(0, 1), far])]);
    assert!(wide.regions[0].bytes == (1 + far.count) << 12 && within(&wide));
}

#[test]
fn order_within_an_epoch_is_of_blocks_and_all_of_its_time_passes() {
    let all = recording(&[state(5), epoch(5, ANONYMOUS, &[run(0, 256)])]);
    let of = |block| pages(&all, Open { block, ..OPEN });
    let neighbours = |block| {
        let pages: Vec<u64> = of(block).iter().filter(|one| one.0 == Access::Store).map(|one| one.1).collect();
        pages.windows(2).filter(|pair| pair[1] == pair[0] + 1).count()
    };
    assert!(neighbours(1) < 16, "{}", neighbours(1));
    assert!(neighbours(64) >= 252, "{}", neighbours(64));
    for block in [1, 16, 300] {
        let time: u32 = of(block).iter().map(|one| if let Access::Compute(us) = one.0 { us } else { 0 }).sum();
        assert_eq!(time, 3000, "{block}");
    }
}

#[test]
fn what_is_no_recording_is_refused_and_one_that_is_cut_off_is_read_as_far_as_it_goes() {
    let error = |bytes| read(bytes).unwrap_err().to_string();
    let records = [state(5), epoch(5, ANONYMOUS, &[run(0, 2)])];
    assert!(error(written(16384, &records)).contains("16384 bytes, and pages of 4096 bytes"));
    assert!(error(written(4096, &[state(5)])).contains("no single touches"));
    let touch =
        crate::touches::PageTouch { region: 0, page: 0, access: crate::touches::Access::Load, thread: 0, cpu_ns: 0 };
    assert!(error(written(4096, &[Record::Touch(touch)])).contains("epochs and single touches"));
    let mut cut = written(4096, &records);
    cut.truncate(cut.len() - 5);
    assert!(!read(cut).unwrap().is_whole());
}

#[test]
fn reads_of_files_keep_their_order_whatever_stands_between_them() {
    let read = |first, by| Record::Epoch(Epoch { time_ns: 5, region: FILE, by, pages: vec![run(first, 1)] });
    let (back, forth) = (EpochAccess::Read, EpochAccess::Written);
    let all = [state(5), epoch(5, ANONYMOUS, &[run(0, 40)]), read(90, back), read(3, forth), read(60, back)];
    for seed in 0..20 {
        let drawn = pages(&recording(&all), Open { block: 1, seed, ..OPEN });
        let of_file: Vec<u64> =
            drawn.iter().filter(|(access, _)| *access == Access::Read(4096)).map(|(_, page)| *page).collect();
        assert_eq!(of_file, [90, 3, 60], "seed {seed}");
    }
}

#[test]
fn what_one_call_read_is_one_read_of_several_pages_and_else_each_page_is_one() {
    let read = |pages: &[Run], by| Record::Epoch(Epoch { time_ns: 5, region: FILE, by, pages: pages.to_vec() });
    let calls = read(&[run(3, 2), run(60, 4)], EpochAccess::ReadCall);
    let all = [state(5), epoch(5, ANONYMOUS, &[run(0, 4)]), calls, read(&[run(90, 2)], EpochAccess::Read)];
    let drawn = pages(&recording(&all), Open { block: 1, ..OPEN });
    let reads: Vec<_> = drawn.into_iter().filter(|(access, _)| matches!(access, Access::Read(_))).collect();
    let of = |pages: u32, first: u64| (Access::Read(pages * 4096), first);
    assert_eq!(reads, [of(2, 3), of(4, 60), of(1, 90), of(1, 91)]);
}
