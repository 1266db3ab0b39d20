//! The records of a block as bytes. What both sides remember from record to record is forgotten at the end of a block, so that each block is
//! read by itself.
//!
//! A touch begins with a byte:
//!
//! | bits | |
//! |---|---|
//! | 0, 1 | load, store, read, write |
//! | 2 to 4 | the distance in pages from the last touch of the region: 0: one ahead; 1: the same page; 2 to 6: in 1, 2, 3, 4 or 6 bytes, zigzag |
//! | 5 | its region is named: it is not the one that followed the last time after the region of the touch before |
//! | 6 | a byte says what else is named: 1 the thread, 2 the CPU time, 4 the extent of reads and writes (first byte in the page, bytes) |
//! | 7 | it is no touch: 0x80 a round, 0x81 an epoch, 0x82 map, 0x83 unmap, 0x84 grow, 0x85 the state of an epoch, 0x86 pages of an epoch's reads, 0x87 of its writes, 0x88 of its reads call by call |
//!
//! After it stand region, what else is named, and the distance, in this order. A block begins with region 0 followed by itself, as is every
//! region that was not left yet, page 0 of each, thread 0, no CPU time, and an extent of one whole page.

pub mod decode;
pub mod encode;

/// What is in a touch's first byte.
const DISTANCE_SHIFT: u32 = 2;
const NAMED: u8 = 1 << 5;
const MORE: u8 = 1 << 6;
const CONTROL: u8 = 1 << 7;
/// What else is named.
const THREAD: u8 = 1;
const CPU: u8 = 2;
const EXTENT: u8 = 4;
/// What is no touch.
const ROUND: u8 = CONTROL;
const EPOCH: u8 = CONTROL | 1;
const MAP: u8 = CONTROL | 2;
const UNMAP: u8 = CONTROL | 3;
const GROW: u8 = CONTROL | 4;
const STATE: u8 = CONTROL | 5;
const EPOCH_READ: u8 = CONTROL | 6;
const EPOCH_WRITTEN: u8 = CONTROL | 7;
const EPOCH_CALL: u8 = CONTROL | 8;
/// Flags of a state.
const RECLAIMED: u8 = 1;
const INCOMPLETE: u8 = 2;

/// Of each code of a distance: its bytes, their mask, and what is meant where there are none.
const LENGTH: [usize; 8] = [0, 0, 1, 2, 3, 4, 6, 0];
const MASK: [u64; 8] = [0, 0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xffff_ffff_ffff, 0];
const FIXED: [u64; 8] = [2, 0, 0, 0, 0, 0, 0, u64::MAX];

/// What is remembered of a region.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The page that was touched last.
    page: u64,
    /// The region that was touched after it the last time.
    next: u32,
}

/// What is remembered from record to record.
#[derive(Debug)]
pub struct State {
    page_size: u32,
    region: u32,
    thread: u32,
    cpu_ns: u64,
    within: u32,
    bytes: u32,
    /// Pages of the extent.
    pages: u64,
    places: Vec<Place>,
    /// Regions that were named in this block: only they and the first are not as they were at its beginning.
    named: Vec<u32>,
}

impl State {
    pub const fn new(page_size: u32) -> State {
        State {
            page_size,
            region: 0,
            thread: 0,
            cpu_ns: 0,
            within: 0,
            bytes: page_size,
            pages: 1,
            places: Vec::new(),
            named: Vec::new(),
        }
    }

    /// A block begins; there are so many regions by now.
    pub fn begin(&mut self, regions: u32) {
        for region in self.named.drain(..).chain([0]) {
            if let Some(place) = self.places.get_mut(region as usize) {
                *place = Place { page: 0, next: region };
            }
        }
        self.know(regions);
        (self.region, self.thread, self.cpu_ns) = (0, 0, 0);
        self.extent(0, self.page_size);
    }

    /// There are so many regions.
    pub fn know(&mut self, regions: u32) {
        let known = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.extend((known..regions).map(|region| Place { page: 0, next: region }));
    }

    fn extent(&mut self, within: u32, bytes: u32) {
        (self.within, self.bytes) = (within, bytes);
        self.pages = (u64::from(within) + u64::from(bytes)).div_ceil(u64::from(self.page_size));
    }

    fn knows(&self, region: u32) -> bool {
        (region as usize) < self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Access, Change, Epoch, EpochAccess, EpochState, PageTouch, Record, Run};
    use super::*;

    fn touch(region: u32, page: u64, access: Access) -> Record {
        Record::Touch(PageTouch { region, page, access, thread: 0, cpu_ns: 0 })
    }

    fn coded(records: &[Record]) -> Vec<u8> {
        let (mut state, mut out) = (State::new(4096), Vec::new());
        state.begin(3);
        records.iter().for_each(|record| state.put(record, &mut out).unwrap());
        out
    }

    fn decoded(bytes: &[u8], count: usize) -> Result<Vec<Record>, &'static str> {
        let mut state = State::new(4096);
        state.begin(3);
        let padded = [bytes, &[0; 8]].concat();
        let mut at = 0;
        let read = (0..count).map(|_| state.get(&padded, &mut at)).collect::<Result<Vec<_>, _>>()?;
        assert_eq!(at, bytes.len());
        Ok(read)
    }

    #[test]
    fn pages_one_after_the_other_take_a_byte_each_and_so_do_regions_in_turn() {
        let records: Vec<Record> = (1..100).map(|page| touch(0, page, Access::Load)).collect();
        assert_eq!(coded(&records).len(), 99);
        let turns: Vec<Record> =
            (1..100).flat_map(|page| [touch(0, page, Access::Load), touch(2, page, Access::Store)]).collect();
        // The first time each region that follows is named.
        assert_eq!(coded(&turns).len(), 198 + 2);
        assert_eq!(decoded(&coded(&turns), 198).unwrap(), turns);
    }

    #[test]
    fn every_kind_of_record_is_read_as_it_was_written() {
        let extent = Access::Read { within: 100, bytes: 9000 };
        let run = |first, count| Run { first, count };
        let epoch = |by, pages| Record::Epoch(Epoch { time_ns: 1 << 40, region: 1, by, pages });
        let records = [
            Record::Round(0),
            touch(1, (1 << 40) - 1, Access::Store),
            touch(1, 0, Access::Load),
            touch(1, 0, Access::Load),
            Record::Touch(PageTouch { region: 2, page: 300, access: extent, thread: 7, cpu_ns: 123 }),
            Record::Touch(PageTouch { region: 2, page: 303, access: extent, thread: 7, cpu_ns: 123 }),
            touch(0, 70_000, Access::Write { within: 0, bytes: 4096 }),
            epoch(EpochAccess::Mapped, vec![run(0, 1), run(2, 500), run(1 << 39, 1)]),
            epoch(EpochAccess::Read, vec![run(70, 32)]),
            epoch(EpochAccess::Written, vec![run(3, 1)]),
            epoch(EpochAccess::ReadCall, vec![run(7, 2), run(90, 2)]),
            Record::Mapping { region: 2, change: Change::Map(run(5, 7)) },
            Record::Mapping { region: 2, change: Change::Unmap(run(6, 1)) },
            Record::Mapping { region: 0, change: Change::Grow(1 << 50) },
            Record::State(EpochState {
                time_ns: 7,
                cpu_ns: 1 << 50,
                resident_pages: 300,
                reclaimed: true,
                incomplete: false,
            }),
            Record::State(EpochState { incomplete: true, ..EpochState::default() }),
            Record::Round(u32::MAX),
        ];
        assert_eq!(decoded(&coded(&records), records.len()).unwrap(), records);
    }

    #[test]
    fn what_makes_no_sense_is_refused_on_both_sides() {
        for (bytes, says) in [
            (&[0x80 | 9][..], "no such record"),
            (&[7 << 2], "the distance"),
            (&[NAMED, 3], "no such region"),
            (&[2 << 2, 1], "outside its region"),
            (&[3 << 2, 1], "cut off"),
            (&[MORE, 8], "no such part"),
            (&[EPOCH, 0, 9, 0], "no such region"),
            (&[EPOCH, 0, 0, 5, 1], "cut off"),
            (&[MORE | 2, 4, 0, 0], "extent"),
            (&[STATE, 0, 0, 0, 4], "no such flag"),
            (&[STATE, 0, 0, 0], "cut off"),
            (&[], "cut off"),
        ] {
            let error = decoded(bytes, 1).unwrap_err();
            assert!(error.contains(says), "{bytes:?}: {error}");
        }
        let mut state = State::new(4096);
        state.begin(1);
        let beyond = touch(0, (1 << 40) - 1, Access::Read { within: 0, bytes: 4097 });
        let touching = Record::Epoch(Epoch {
            time_ns: 0,
            region: 0,
            by: EpochAccess::Mapped,
            pages: vec![Run { first: 0, count: 2 }, Run { first: 2, count: 1 }],
        });
        for record in [touch(1, 0, Access::Load), touch(0, 1 << 40, Access::Load), beyond, touching] {
            assert!(state.put(&record, &mut Vec::new()).is_err(), "{record:?}");
        }
    }
}
