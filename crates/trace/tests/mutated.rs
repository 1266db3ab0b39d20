//! Files of touches that were changed by chance: read to an end or an error, never more of them than there is, and what is read can be written again.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::io::Cursor;

use ramline_evidence::rng::SplitMix64;
use ramline_trace::touches::{
    Access, Change, Epoch, EpochAccess, EpochState, Header, Origin, PageTouch, Reader, Record, Region, Run, Sample,
    Writer, framed,
};

const REGIONS: u32 = 3;

/// Records of every kind.
fn records(random: &mut SplitMix64, count: u64) -> Vec<Record> {
    let mut one = |_| {
        let small = |random: &mut SplitMix64, bound| u32::try_from(random.below(bound)).unwrap();
        let region = small(random, u64::from(REGIONS));
        let run = Run { first: random.below(1 << 30), count: 1 + random.below(9) };
        match random.below(20) {
            0 => Record::Round(small(random, 1 << 32)),
            1 => Record::Epoch(Epoch {
                time_ns: random.below(1 << 40),
                region,
                by: [EpochAccess::Mapped, EpochAccess::Read, EpochAccess::ReadCall, EpochAccess::Written]
                    [small(random, 4) as usize],
                pages: vec![run],
            }),
            2 => Record::Mapping { region, change: Change::Unmap(run) },
            3 => Record::Mapping { region, change: Change::Grow(random.next_u64()) },
            4 => {
                let (time_ns, cpu_ns, resident_pages) =
                    (random.below(1 << 40), random.below(1 << 40), random.below(1 << 40));
                let (reclaimed, incomplete) = (random.below(2) == 0, random.below(2) == 0);
                Record::State(EpochState { time_ns, cpu_ns, resident_pages, reclaimed, incomplete })
            }
            kind => {
                let extent = (small(random, 4096), 1 + small(random, 1 << 16));
                let access = match kind {
                    5..10 => Access::Load,
                    10..15 => Access::Store,
                    15..18 => Access::Read { within: extent.0, bytes: extent.1 },
                    _ => Access::Write { within: extent.0, bytes: extent.1 },
                };
                let bits = random.below(40);
                let (page, thread) = (random.below(1 << bits), small(random, 3));
                Record::Touch(PageTouch { region, page, access, thread, cpu_ns: random.below(3) })
            }
        }
    };
    (0..count).map(&mut one).collect()
}

fn written(records: &[Record], regions: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Header { page: 4096, origin: Origin::generated("m", None) }).unwrap();
    for _ in 0..regions {
        writer.region(&Region::anonymous(1 << 30)).unwrap();
    }
    records.iter().for_each(|record| writer.record(record).unwrap());
    writer.sample(&Sample { by_algorithm: vec![("lz4".to_owned(), vec![0, 1500, 4096])] }).unwrap();
    writer.finish().unwrap()
}

/// Changes, removes, repeats and cuts off, one to four times.
fn mutate(bytes: &mut Vec<u8>, random: &mut SplitMix64) {
    for _ in 0..=random.below(4) {
        let length = bytes.len() as u64;
        let mut place = || usize::try_from(random.below(length.max(1))).unwrap();
        let (at, other) = (place(), place());
        match (random.below(6), bytes.is_empty()) {
            (_, true) => bytes.push(7),
            (0, _) => bytes[at] ^= 1 << random.below(8),
            (1, _) => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            (2, _) => bytes.truncate(at),
            (3, _) => drop(bytes.drain(at.min(other)..at.max(other))),
            (4, _) => bytes.insert(at, 0xff),
            _ => {
                let again = bytes[at.min(other)..at.max(other)].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
}

#[test]
fn twenty_thousand_changed_files_are_read_without_harm() {
    let mut random = SplitMix64::new(19);
    let original = records(&mut random, 60);
    let file = written(&original, REGIONS as usize);
    // The contents of its one block, to be changed below a checksum that is right.
    let start = file.windows(4).position(|four| four == b"BLCK").unwrap();
    let length = u32::from_le_bytes(file[start + 4..start + 8].try_into().unwrap()) as usize;
    let contents = &file[start + 24..start + 24 + length];
    let (mut read, mut damaged) = (0u64, 0u64);
    for number in 0..20_000 {
        let bytes = if number % 4 == 0 {
            let mut bytes = file.clone();
            mutate(&mut bytes, &mut random);
            bytes
        } else {
            let mut contents = contents.to_vec();
            mutate(&mut contents, &mut random);
            framed(4096, REGIONS, u32::try_from(1 + random.below(80)).unwrap(), &contents)
        };
        let Ok(mut reader) = Reader::new(Cursor::new(&bytes)) else { continue };
        let mut found = Vec::new();
        loop {
            match reader.next_record() {
                Ok(Some(record)) => found.push(record),
                Ok(None) => break,
                Err(_) => {
                    damaged += 1;
                    assert!(!reader.is_whole());
                    break;
                }
            }
        }
        assert!(found.len() <= bytes.len(), "a record takes a byte at least");
        read += found.len() as u64;
        let again = written(&found, reader.regions().len());
        let mut second = Reader::new(&again[..]).unwrap();
        let same: Vec<Record> = std::iter::from_fn(|| second.next_record().unwrap()).collect();
        assert!(second.is_whole() && same == found);
        if let Ok(index) = reader.index() {
            assert!(index.block_count() <= bytes.len());
        }
    }
    assert!(read > 100_000 && damaged > 10_000, "{read} records, {damaged} damaged");
}
