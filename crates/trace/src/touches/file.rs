//! A whole file of touches as a source of them: read once to know its sizes, and again each time its touches are asked for.
//!
//! What it is not: for what has no order or no single touches. A file of epochs, of mappings that change, or one that is cut off is refused by what it is.

use std::io::{Read, Seek};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::reader::Reader;
use super::record::{Access, PageTouch, Record};
use super::region::Backing;
use super::{Header, Region};
use crate::error::TouchesError;
use crate::touch::{self, Memory, Touch, Touched, Touches};

/// Bytes of the pages that are simulated.
const PAGE: u32 = 4096;

/// A file, and what was counted in it.
#[derive(Debug)]
pub struct TouchFile<R: Read> {
    reader: Mutex<Reader<R>>,
    header: Header,
    regions: Vec<touch::Region>,
    filled: u64,
    touches: u64,
    rounds: u32,
    several_pages: bool,
    threads: bool,
    cpu_time: bool,
    stores_to_files: bool,
}

impl<R: Read + Seek> TouchFile<R> {
    /// Reads it once, from its beginning.
    ///
    /// # Errors
    /// Its pages are not of 4 KiB; it is cut off, damaged or without touches; it holds what has no order of touches, or a region or a touch that makes no sense.
    pub fn new(mut reader: Reader<R>) -> Result<TouchFile<R>, TouchesError> {
        let header = reader.header().clone();
        header.check_page(PAGE)?;
        let (mut filled, mut touches, mut rounds) = (0, 0_u64, 0_u32);
        let (mut several_pages, mut threads, mut cpu_time) = (false, false, false);
        let mut stores_to_files = false;
        let mut ends: Vec<u64> = Vec::new();
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Touch(touch) => {
                    as_touch(touch)?;
                    let (pages, region) = (touch.pages(PAGE), touch.region as usize);
                    several_pages |= pages.end - pages.start > 1;
                    threads |= touch.thread != 0;
                    cpu_time |= touch.cpu_ns != 0;
                    let backing = reader.regions().get(region).map(|region| &region.backing);
                    stores_to_files |= touch.access == Access::Store && matches!(backing, Some(Backing::File { .. }));
                    if ends.len() <= region {
                        ends.resize(region + 1, 0);
                    }
                    if let Some(end) = ends.get_mut(region) {
                        *end = pages.end.max(*end);
                    }
                    touches += 1;
                }
                Record::Round(_) => {
                    if rounds == 0 {
                        (filled, touches) = (touches, 0);
                    }
                    rounds = rounds.saturating_add(1);
                }
                Record::Epoch(_) | Record::State(_) => {
                    return Err(TouchesError::NotSimulated("epochs, whose touches have no order"));
                }
                Record::Mapping { .. } => return Err(TouchesError::NotSimulated("mappings that change")),
            }
        }
        if !reader.is_whole() {
            return Err(TouchesError::CutOff);
        }
        if touches == 0 {
            return Err(TouchesError::NoTouches);
        }
        let regions = reader.regions().iter().map(plain).collect::<Vec<_>>();
        let is_outside = |(end, region): (&u64, &touch::Region)| *end > region.bytes / u64::from(PAGE);
        if ends.len() > regions.len() || ends.iter().zip(&regions).any(is_outside) {
            return Err(TouchesError::NotSimulated("touches outside of their region"));
        }
        let reader = Mutex::new(reader);
        Ok(TouchFile {
            reader,
            header,
            regions,
            filled,
            touches,
            rounds,
            several_pages,
            threads,
            cpu_time,
            stores_to_files,
        })
    }

    /// What holds for the whole file.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// What it says that is not simulated, in words.
    pub fn left_out(&self) -> Vec<&'static str> {
        let all = [
            (self.threads, "its threads, which are taken as one in the order of the file"),
            (self.cpu_time, "the CPU time between its touches"),
            (self.stores_to_files, "its stores to files, which are taken as reads"),
        ];
        all.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect()
    }

    /// So many touches behind so many that are passed over.
    fn given(&self, pass: u64, left: u64) -> Touched<'_> {
        Box::new(FileTouches { from: &self.reader, reader: None, pass, left })
    }
}

/// Touches of a file. The file is read by one of them at a time: from its first touch to its last, or until it is dropped.
struct FileTouches<'a, R: Read> {
    from: &'a Mutex<Reader<R>>,
    reader: Option<MutexGuard<'a, Reader<R>>>,
    pass: u64,
    left: u64,
}

/// The reader, at the first record.
fn begin<R: Read + Seek>(from: &Mutex<Reader<R>>) -> Result<MutexGuard<'_, Reader<R>>, TouchesError> {
    let mut reader = match from.try_lock() {
        Ok(reader) => reader,
        Err(TryLockError::Poisoned(reader)) => reader.into_inner(),
        Err(TryLockError::WouldBlock) => {
            return Err(std::io::Error::other("its touches are asked for twice at the same time").into());
        }
    };
    reader.rewind()?;
    Ok(reader)
}

impl<R: Read + Seek> FileTouches<'_, R> {
    fn one(&mut self) -> Result<Touch, TouchesError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(begin(self.from)?),
        };
        loop {
            match reader.next_record()? {
                Some(Record::Touch(_)) if self.pass > 0 => self.pass -= 1,
                Some(Record::Touch(touch)) => return as_touch(touch),
                Some(_) => {}
                // It was whole before.
                None => return Err(TouchesError::CutOff),
            }
        }
    }
}

impl<R: Read + Seek> Iterator for FileTouches<'_, R> {
    type Item = Result<Touch, TouchesError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let one = self.one();
        self.left = if one.is_ok() { self.left - 1 } else { 0 };
        if self.left == 0 {
            self.reader = None;
        }
        Some(one)
    }
}

/// A region as it is simulated: in whole pages.
fn plain(region: &Region) -> touch::Region {
    let memory = match region.backing {
        Backing::File { .. } => Memory::File,
        Backing::Anonymous => Memory::Anonymous,
        Backing::Shared => Memory::Shared,
    };
    touch::Region { memory, bytes: region.bytes.div_ceil(u64::from(PAGE)).saturating_mul(PAGE.into()) }
}

fn as_touch(touch: PageTouch) -> Result<Touch, TouchesError> {
    let (access, within) = match touch.access {
        Access::Load => (touch::Access::Load, 0),
        Access::Store => (touch::Access::Store, 0),
        Access::Read { within, bytes } => (touch::Access::Read(bytes), within),
        Access::Write { .. } => return Err(TouchesError::NotSimulated("writes by write(2)")),
    };
    let offset = touch.page.saturating_mul(PAGE.into()).saturating_add(within.into());
    Ok(Touch { region: touch.region, access, offset })
}

impl<R: Read + Seek + Send> Touches for TouchFile<R> {
    fn regions(&self) -> Vec<touch::Region> {
        self.regions.clone()
    }

    fn fill(&self) -> Touched<'_> {
        self.given(0, self.filled)
    }

    fn rounds(&self) -> Touched<'_> {
        self.given(self.filled, self.touches)
    }

    fn round_count(&self) -> Option<u32> {
        (self.rounds > 0).then_some(self.rounds)
    }

    fn touch_count(&self) -> u64 {
        self.touches
    }

    fn touches_of_a_round(&self) -> u64 {
        (self.touches / u64::from(self.rounds.max(1))).max(1)
    }

    fn reads_several_pages(&self) -> bool {
        self.several_pages
    }

    fn table_bytes(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::{Epoch, EpochAccess, Origin, Run, Writer, write_load};
    use super::*;
    use crate::generate::Load;

    fn file(page: u32, records: &[Record]) -> Vec<u8> {
        let mut writer =
            Writer::new(Vec::new(), &Header { page, origin: Origin::generated("made here", None) }).unwrap();
        let region = writer.region(&super::Region::anonymous(8 * u64::from(page))).unwrap();
        assert_eq!(region, 0);
        records.iter().for_each(|record| writer.record(record).unwrap());
        writer.finish().unwrap()
    }

    fn opened(bytes: Vec<u8>) -> Result<TouchFile<Cursor<Vec<u8>>>, TouchesError> {
        TouchFile::new(Reader::new(Cursor::new(bytes))?)
    }

    fn touch(page: u64, access: Access) -> Record {
        Record::Touch(PageTouch { region: 0, page, access, thread: 0, cpu_ns: 0 })
    }

    /// A file keeps no place within a page, but of reads.
    fn page(touch: Result<Touch, TouchesError>) -> Touch {
        let touch = touch.unwrap();
        let within = if matches!(touch.access, touch::Access::Read(_)) { 0 } else { touch.offset % 4096 };
        Touch { offset: touch.offset - within, ..touch }
    }

    #[test]
    fn every_load_is_the_same_from_its_file() {
        for name in Load::NAMES {
            let load = Load::named(name, 2 << 20, 2, 256).unwrap();
            let header = Header { page: PAGE, origin: Origin::generated(name, Some(256)) };
            let file = opened(write_load(&load, &header, Vec::new()).unwrap()).unwrap();
            let (load, file): (&dyn Touches, &dyn Touches) = (&load, &file);
            assert_eq!(file.regions(), load.regions(), "{name}");
            // In any order, and more than once.
            for _ in 0..2 {
                let both = |source: &dyn Touches| {
                    let [rounds, fill] = [source.rounds(), source.fill()].map(|all| all.map(Result::unwrap));
                    (rounds.count(), fill.collect::<Vec<_>>())
                };
                assert_eq!(both(file), both(load), "{name}");
            }
            assert!(file.rounds().map(page).eq(load.rounds().map(page)), "{name}");
            let sizes = |source: &dyn Touches| {
                let round = (source.round_count(), source.touch_count(), source.touches_of_a_round());
                (round, source.reads_several_pages(), source.size())
            };
            assert_eq!(sizes(file), sizes(load), "{name}");
        }
    }

    #[test]
    fn a_file_without_rounds_is_one() {
        let file = opened(file(PAGE, &[touch(7, Access::Store), touch(0, Access::Load)])).unwrap();
        assert_eq!((file.round_count(), file.touches_of_a_round(), file.fill().count()), (None, 2, 0));
        assert!(file.left_out().is_empty() && file.header().page == PAGE);
    }

    #[test]
    fn what_cannot_be_simulated_is_refused_by_what_it_is() {
        let one = [touch(7, Access::Store)];
        let error = |bytes: Vec<u8>| opened(bytes).map(drop).unwrap_err().to_string();
        let whole = file(PAGE, &one);
        assert_eq!(error(whole[..whole.len() - 1].to_vec()), "it is cut off: its last touches are not there");
        assert!(error(file(65536, &one)).contains("pages are of 65536 bytes, and pages of 4096 bytes are wanted"));
        assert_eq!(error(file(PAGE, &[])), "it holds no single touches");
        assert_eq!(error(file(PAGE, &[Record::Round(0)])), "it holds no single touches");
        let epoch = Epoch { time_ns: 1, region: 0, by: EpochAccess::Mapped, pages: vec![Run { first: 0, count: 1 }] };
        assert!(error(file(PAGE, &[Record::Epoch(epoch)])).contains("epochs, whose touches have no order"));
        assert!(error(file(PAGE, &[touch(0, Access::Write { within: 0, bytes: 1 })])).contains("writes by write(2)"));
        assert!(
            error(Vec::new()).contains("cut off in its header") || error(Vec::new()).contains("no file of touches")
        );
    }
}
