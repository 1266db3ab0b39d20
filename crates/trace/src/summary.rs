//! What a file of touches holds, in numbers: regions, touches, distinct pages, epochs, and whether it is whole.

use std::collections::BTreeSet;
use std::io::Read;

use ramline_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

use crate::numbering::PageNumbers;
use crate::touches::{Access, Backing, Maker, PageTouch, Reader, Record, Region, Run, Sample, TouchesError};

/// What a file of touches holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TouchesSummary {
    /// How it came about: a generator, a recorder or import.
    pub maker: String,
    /// The generator, the recorded command or the imported format.
    pub made_of: String,
    /// Seed of the generator.
    pub seed: Option<u64>,
    /// Bytes of a page.
    pub page_size: Bytes,
    /// It ends with an index that agrees with everything before it.
    pub whole: bool,
    /// Where and how it is damaged; what is behind that was not read.
    pub damage: Option<String>,
    /// Bytes that were read whole.
    pub file_size: Bytes,
    /// Touches; a read(2) or write(2) is one.
    pub touches: u64,
    /// Bytes of the file for each touch, all else included.
    pub bytes_per_touch: Option<f64>,
    /// Pages touched at least once.
    pub distinct_pages: u64,
    /// The same in bytes.
    pub distinct_size: Bytes,
    /// Touches that read through a mapping.
    pub loads: u64,
    /// Touches that write through a mapping.
    pub stores: u64,
    /// Touches by read(2).
    pub reads: u64,
    /// Touches by write(2).
    pub writes: u64,
    /// Touches that write, of all.
    pub write_share: Option<f64>,
    /// Threads with touches.
    pub threads: u64,
    /// CPU time of all threads between touches, or in epochs.
    pub cpu: Nanos,
    /// Rounds.
    pub rounds: u64,
    /// Epochs.
    pub epochs: u64,
    /// Epochs in which memory was reclaimed, so that touches may be missing.
    pub epochs_reclaimed: u64,
    /// Epochs in which some page tables could not be read.
    pub epochs_incomplete: u64,
    /// The most that was resident at the end of an epoch.
    pub resident_peak: Option<Bytes>,
    /// Changes of mappings.
    pub changes: u64,
    /// What sampled pages compress to, by algorithm.
    pub compresses: Vec<CompressedSummary>,
    /// Its regions.
    pub regions: Vec<RegionSummary>,
}

/// What sampled pages compress to with one algorithm.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CompressedSummary {
    /// The algorithm.
    pub algorithm: String,
    /// Pages of the sample.
    pub pages: u64,
    /// Bytes of all of them, compressed.
    pub size: Bytes,
    /// The same as a share of what they take uncompressed.
    pub share: Option<f64>,
}

/// What was touched of a region.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RegionSummary {
    /// Its number, from 0.
    pub region: u32,
    /// file, anonymous or shared.
    pub memory: String,
    /// Name of the file, where it is known.
    pub name: Option<String>,
    /// It is mapped executable.
    pub executable: bool,
    /// Its length at the beginning.
    pub length: Bytes,
    /// Touches.
    pub touches: u64,
    /// Touches that write.
    pub writes: u64,
    /// Pages touched at least once.
    pub distinct_pages: u64,
    /// Pages that are in at least one epoch.
    pub epoch_pages: u64,
}

impl TouchesSummary {
    /// The summary of a file, which is read to its end or to what is damaged; the summary says so.
    ///
    /// # Errors
    /// Reading fails; it touches more pages than fit into [`Reader::room`].
    pub fn from_reader(reader: &mut Reader<impl Read>) -> Result<TouchesSummary, TouchesError> {
        let (page_size, pages) = (reader.header().page, PageNumbers::within(reader.room()));
        let mut counting = Counting { page_size, pages, ..Counting::default() };
        let damage = loop {
            match reader.next_record() {
                Ok(Some(record)) => counting.take(&record),
                Ok(None) => break None,
                Err(TouchesError::Io(error)) => return Err(error.into()),
                Err(damage) => break Some(damage.to_string()),
            }
            if counting.pages.is_full() {
                return Err(counting.pages.beyond());
            }
        };
        Ok(counting.finish(reader, damage))
    }
}

/// The counts so far.
#[derive(Debug, Default)]
struct Counting {
    page_size: u32,
    so_far: TouchesSummary,
    pages: PageNumbers,
    threads: BTreeSet<u32>,
    last_epoch: Option<u64>,
    regions: Vec<RegionSummary>,
    epoch_pages: Vec<Union>,
}

impl Counting {
    fn take(&mut self, record: &Record) {
        match record {
            Record::Touch(touch) => self.touch(touch),
            Record::Round(_) => self.so_far.rounds += 1,
            Record::Mapping { .. } => self.so_far.changes += 1,
            Record::State(state) => {
                self.epoch(state.time_ns);
                let (page, so_far) = (u64::from(self.page_size), &mut self.so_far);
                so_far.cpu = Nanos(so_far.cpu.0.saturating_add(state.cpu_ns));
                so_far.epochs_reclaimed += u64::from(state.reclaimed);
                so_far.epochs_incomplete += u64::from(state.incomplete);
                so_far.resident_peak = so_far.resident_peak.max(Some(Bytes(state.resident_pages.saturating_mul(page))));
            }
            Record::Epoch(epoch) => {
                self.epoch(epoch.time_ns);
                grown(&mut self.epoch_pages, epoch.region).add(&epoch.pages);
            }
        }
    }

    fn epoch(&mut self, time_ns: u64) {
        self.so_far.epochs += u64::from(self.last_epoch != Some(time_ns));
        self.last_epoch = Some(time_ns);
    }

    fn touch(&mut self, touch: &PageTouch) {
        let so_far = &mut self.so_far;
        so_far.touches += 1;
        so_far.cpu = Nanos(so_far.cpu.0.saturating_add(touch.cpu_ns));
        *match touch.access {
            Access::Load => &mut so_far.loads,
            Access::Store => &mut so_far.stores,
            Access::Read { .. } => &mut so_far.reads,
            Access::Write { .. } => &mut so_far.writes,
        } += 1;
        self.threads.insert(touch.thread);
        let region = grown(&mut self.regions, touch.region);
        region.touches += 1;
        region.writes += u64::from(touch.access.is_write());
        for page in touch.pages(self.page_size) {
            let before = self.pages.count();
            // Where there are too many to number, they are not counted either: 2^32 pages of 4 KiB are 16 TiB.
            self.pages.number(touch.region, page);
            region.distinct_pages += u64::from(self.pages.count() > before);
        }
    }

    fn finish(self, reader: &Reader<impl Read>, damage: Option<String>) -> TouchesSummary {
        let (header, mut all) = (reader.header(), self.so_far);
        all.maker = match header.origin.maker {
            Maker::Generator => "a generator",
            Maker::Recorder => "a recorder",
            Maker::Import => "import",
        }
        .to_owned();
        (all.made_of, all.seed) = (header.origin.name.clone(), header.origin.seed);
        all.page_size = Bytes(u64::from(header.page));
        (all.whole, all.damage) = (reader.is_whole(), damage);
        all.file_size = Bytes(reader.bytes());
        all.distinct_pages = self.pages.count() as u64;
        all.distinct_size = Bytes(all.distinct_pages.saturating_mul(u64::from(header.page)));
        all.bytes_per_touch = ratio(all.file_size.0, all.touches);
        all.write_share = ratio(all.stores + all.writes, all.touches);
        all.threads = self.threads.len() as u64;
        all.compresses =
            reader.sample().map(|sample| CompressedSummary::from_sample(sample, header.page)).unwrap_or_default();
        let (mut counts, mut unions) = (self.regions.into_iter(), self.epoch_pages.into_iter());
        all.regions = (0..)
            .zip(reader.regions())
            .map(|(number, region)| {
                let counted = counts.next().unwrap_or_default();
                let epoch_pages = unions.next().map_or(0, Union::pages);
                described(region, RegionSummary { region: number, epoch_pages, ..counted })
            })
            .collect();
        all
    }
}

impl CompressedSummary {
    /// One summary for each algorithm of a sample; of pages of this size.
    #[must_use]
    pub fn from_sample(sample: &Sample, page: u32) -> Vec<CompressedSummary> {
        sample.by_algorithm.iter().map(|(name, lengths)| CompressedSummary::new(name, lengths, page)).collect()
    }

    fn new(algorithm: &str, lengths: &[u16], page: u32) -> CompressedSummary {
        let (size, pages) = (Bytes(lengths.iter().map(|length| u64::from(*length)).sum()), lengths.len() as u64);
        let share = size.share_of(Bytes(pages.saturating_mul(page.into())));
        CompressedSummary { algorithm: algorithm.to_owned(), pages, size, share }
    }
}

fn described(region: &Region, counted: RegionSummary) -> RegionSummary {
    let (memory, name) = match &region.backing {
        Backing::File { name, .. } => ("file", name.clone()),
        Backing::Anonymous => ("anonymous", None),
        Backing::Shared => ("shared", None),
    };
    RegionSummary {
        memory: memory.to_owned(),
        name,
        executable: region.executable,
        length: Bytes(region.bytes),
        ..counted
    }
}

/// The entry of a region; regions are dense, and as many as the file describes.
fn grown<T: Default>(all: &mut Vec<T>, region: u32) -> &mut T {
    let at = region as usize;
    if all.len() <= at {
        all.resize_with(at + 1, T::default);
    }
    &mut all[at]
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    Bytes(part).share_of(Bytes(whole))
}

/// Pages that are in at least one of many sets of runs.
#[derive(Debug, Default)]
struct Union {
    runs: Vec<Run>,
    /// Of the runs, so many ascend and are apart.
    merged: usize,
}

impl Union {
    fn add(&mut self, runs: &[Run]) {
        self.runs.extend_from_slice(runs);
        // Twice as many before each sorting: the whole takes n log n.
        if self.runs.len() > 2 * self.merged + 1024 {
            self.merge();
        }
    }

    fn merge(&mut self) {
        self.runs.sort_unstable_by_key(|run| run.first);
        let mut merged: Vec<Run> = Vec::new();
        for run in self.runs.drain(..) {
            match merged.last_mut() {
                Some(last) if run.first <= last.end() => last.count = run.end().max(last.end()) - last.first,
                _ => merged.push(run),
            }
        }
        (self.merged, self.runs) = (merged.len(), merged);
    }

    fn pages(mut self) -> u64 {
        self.merge();
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::touches::{Epoch, EpochAccess, EpochState, Header, Origin, Writer};

    fn summary(records: &[Record]) -> TouchesSummary {
        let header = Header { page: 4096, origin: Origin::generated("t", Some(7)) };
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        for _ in 0..2 {
            writer.region(&Region::anonymous(1 << 30)).unwrap();
        }
        records.iter().for_each(|record| writer.record(record).unwrap());
        let file = writer.finish().unwrap();
        let summary = TouchesSummary::from_reader(&mut Reader::new(&file[..]).unwrap()).unwrap();
        assert_eq!(summary.file_size, Bytes(file.len() as u64));
        summary
    }

    #[test]
    fn touches_are_counted_by_kind_and_pages_once() {
        let touch = |page, access| Record::Touch(PageTouch { region: 1, page, access, thread: 3, cpu_ns: 50 });
        let read = Access::Read { within: 4000, bytes: 200 };
        let all =
            [touch(5, Access::Load), touch(5, Access::Store), touch(5, read), Record::Round(0), touch(6, Access::Load)];
        let summary = summary(&all);
        assert_eq!((summary.touches, summary.loads, summary.stores, summary.reads), (4, 2, 1, 1));
        assert_eq!((summary.distinct_pages, summary.distinct_size), (2, Bytes(8192)));
        assert_eq!((summary.write_share, summary.cpu, summary.rounds, summary.threads), (Some(0.25), Nanos(200), 1, 1));
        let region = &summary.regions[1];
        assert_eq!((region.touches, region.writes, region.distinct_pages), (4, 1, 2));
        assert_eq!((summary.regions[0].touches, summary.whole, summary.seed), (0, true, Some(7)));
    }

    #[test]
    fn records_of_one_time_are_one_epoch_and_pages_of_many_epochs_count_once() {
        let epoch = |time_ns, first, count| {
            Record::Epoch(Epoch { time_ns, region: 0, by: EpochAccess::Mapped, pages: vec![Run { first, count }] })
        };
        let all: Vec<Record> =
            [epoch(1, 0, 10), epoch(1, 50, 1)].into_iter().chain((2..2000).map(|t| epoch(t, 5, 10))).collect();
        let summary = summary(&all);
        assert_eq!((summary.epochs, summary.regions[0].epoch_pages), (1999, 16));
        assert_eq!((summary.touches, summary.bytes_per_touch, summary.write_share), (0, None, None));
    }

    #[test]
    fn the_state_of_an_epoch_is_no_epoch_of_its_own() {
        let state = |time_ns, resident_pages, reclaimed| {
            Record::State(EpochState { time_ns, cpu_ns: 40, resident_pages, reclaimed, incomplete: false })
        };
        let pages = Record::Epoch(Epoch {
            time_ns: 1,
            region: 0,
            by: EpochAccess::Mapped,
            pages: vec![Run { first: 3, count: 2 }],
        });
        let summary = summary(&[state(1, 7, false), pages, state(2, 9, true), state(3, 8, false)]);
        assert_eq!((summary.epochs, summary.epochs_reclaimed, summary.epochs_incomplete), (3, 1, 0));
        assert_eq!((summary.cpu, summary.resident_peak), (Nanos(120), Some(Bytes(9 * 4096))));
    }

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_summed_up_as_far_as_it_goes() {
        let header = Header { page: 4096, origin: Origin::generated("t", None) };
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        writer.region(&Region::anonymous(1 << 30)).unwrap();
        for page in 0..70_000 {
            let touch = PageTouch { region: 0, page, access: Access::Load, thread: 0, cpu_ns: 0 };
            writer.record(&Record::Touch(touch)).unwrap();
        }
        let mut file = writer.finish().unwrap();
        let cut = TouchesSummary::from_reader(&mut Reader::new(&file[..file.len() - 1000]).unwrap()).unwrap();
        assert_eq!((cut.touches, cut.whole, cut.damage), (65_536, false, None));
        let at = file.len() - 1000;
        file[at] ^= 1;
        let damaged = TouchesSummary::from_reader(&mut Reader::new(&file[..]).unwrap()).unwrap();
        assert!(damaged.touches == 65_536 && damaged.damage.unwrap().contains("checksum"));
    }
}
