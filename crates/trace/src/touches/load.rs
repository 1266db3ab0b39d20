//! From any source of touches to a file of them.

use std::io::Write;

use super::record::{Access, PageTouch, Record};
use super::region::{Backing, Region};
use super::{Header, Writer};
use crate::FileId;
use crate::error::TouchesError;
use crate::touch::{self, Memory, Touch, Touches};

/// Writes what fills memory, then the rounds; a load has one thread, and no CPU time of its own.
///
/// # Errors
/// Writing fails; the load touches what the format cannot hold.
pub fn write_load<W: Write>(load: &dyn Touches, header: &Header, out: W) -> Result<W, TouchesError> {
    let mut writer = Writer::new(out, header)?;
    for (number, region) in (1..).zip(load.regions()) {
        writer.region(&described(region, number))?;
    }
    for touch in load.fill() {
        writer.record(&Record::Touch(page_touch(touch?, header.page)))?;
    }
    let (mut round, mut left) = (0, 0);
    for touch in load.rounds() {
        if left == 0 && load.round_count().is_some_and(|rounds| round < rounds) {
            writer.record(&Record::Round(round))?;
            (round, left) = (round + 1, load.touches_of_a_round());
        }
        writer.record(&Record::Touch(page_touch(touch?, header.page)))?;
        left = left.saturating_sub(1);
    }
    writer.finish()
}

/// A file of a load has no name and lies nowhere: device 0, and the number of its region, counted from 1, as inode.
fn described(region: touch::Region, number: u64) -> Region {
    let backing = match region.memory {
        Memory::File => Backing::File { id: FileId { device: 0, inode: number }, name: None },
        Memory::Anonymous => Backing::Anonymous,
        Memory::Shared => Backing::Shared,
    };
    Region { backing, bytes: region.bytes, executable: false }
}

/// The touch of the page of a byte.
fn page_touch(touch: Touch, page_size: u32) -> PageTouch {
    let size = u64::from(page_size.max(1));
    let access = match touch.access {
        // A recording is written by its recorder.
        touch::Access::Load | touch::Access::Free | touch::Access::Compute(_) | touch::Access::Begin => Access::Load,
        touch::Access::Store => Access::Store,
        touch::Access::Read(bytes) => Access::Read { within: u32::try_from(touch.offset % size).unwrap_or(0), bytes },
    };
    PageTouch { region: touch.region, page: touch.offset / size, access, thread: 0, cpu_ns: 0 }
}

#[cfg(test)]
mod tests {
    use super::super::{Origin, Reader};
    use super::*;
    use crate::generate::{CodePlusData, Load};

    #[test]
    fn a_load_is_read_back_touch_by_touch_with_its_rounds() {
        let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 2, seed: 256, shared: true };
        let load = Load::CodePlusData(load);
        let header = Header { page: 4096, origin: Origin::generated("code-plus-data", Some(256)) };
        let file = write_load(&load, &header, Vec::new()).unwrap();
        let mut reader = Reader::new(&file[..]).unwrap();
        let read: Vec<Record> = std::iter::from_fn(|| reader.next_record().unwrap()).collect();
        assert!(reader.is_whole());
        assert_eq!(reader.regions()[1].backing, Backing::Shared);
        let touches: Vec<Touch> = Touches::fill(&load).chain(Touches::rounds(&load)).map(Result::unwrap).collect();
        let pages: Vec<(u32, u64)> = touches.iter().map(|touch| (touch.region, touch.offset / 4096)).collect();
        let of =
            |record: &Record| if let Record::Touch(touch) = record { Some((touch.region, touch.page)) } else { None };
        assert_eq!(read.iter().filter_map(of).collect::<Vec<_>>(), pages);
        let rounds: Vec<usize> = (0..read.len()).filter(|&at| matches!(read[at], Record::Round(_))).collect();
        assert_eq!(rounds, [1 + 14 * 256, 1 + 14 * 256 + 1 + 2 * 768]);
        // A store a page is a byte; the pairs of the rounds are 1 byte and 3.
        assert!(file.len() < 14 * 256 + 4 * 768 * 2 + 300, "{}", file.len());
    }
}
