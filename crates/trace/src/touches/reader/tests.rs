use std::io::Cursor;

use super::super::record::{Access, Epoch, EpochAccess, Run};
use super::super::{Origin, Writer};
use super::*;

/// Three blocks of touches, between them an epoch and a second region.
fn records() -> Vec<Record> {
    let touch = |n: u64| {
        let (thread, cpu_ns) = (u32::from(n % 1000 == 999), 10 + n % 3);
        let access = if n.is_multiple_of(7) { Access::Read { within: 5, bytes: 8192 } } else { Access::Load };
        Record::Touch(PageTouch { region: u32::from(n > 100_000), page: n * n % 50_000, access, thread, cpu_ns })
    };
    let epoch = Record::Epoch(Epoch {
        time_ns: 5,
        region: 0,
        by: EpochAccess::Mapped,
        pages: vec![Run { first: 1, count: 2 }],
    });
    (0..100_000).map(touch).chain([epoch]).chain((100_001..150_000).map(touch)).collect()
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &Header { page: 4096, origin: Origin::generated("t", None) }).unwrap();
    writer.region(&Region::anonymous(1 << 30)).unwrap();
    for (number, record) in records.iter().enumerate() {
        if number == 100_001 {
            writer.region(&Region::anonymous(1 << 31)).unwrap();
        }
        writer.record(record).unwrap();
    }
    writer.finish().unwrap()
}

fn read(reader: &mut Reader<impl Read>) -> Result<Vec<Record>, TouchesError> {
    std::iter::from_fn(|| reader.next_record().transpose()).collect()
}

#[test]
fn a_file_is_read_as_it_was_written_and_from_any_block_on() {
    let (records, mut file) = (records(), Vec::new());
    file.extend(written(&records));
    let mut reader = Reader::new(&file[..]).unwrap();
    assert_eq!(read(&mut reader).unwrap(), records);
    assert!(reader.is_whole() && reader.bytes() == file.len() as u64 && reader.regions().len() == 2);
    let mut reader = Reader::new(Cursor::new(&file)).unwrap();
    let index = reader.index().unwrap();
    assert_eq!((index.records(), index.block_count(), reader.regions().len()), (150_000, 3, 2));
    for (block, first) in [(2, 100_001), (1, 65_536), (0, 0)] {
        reader.seek(&index, block).unwrap();
        assert_eq!(read(&mut reader).unwrap(), records[first..]);
        assert!(reader.is_whole());
    }
    assert_eq!((index.block_at(0), index.block_at(u64::MAX)), (Some(0), Some(2)));
    assert!(reader.seek(&index, 3).is_err());
}

#[test]
fn a_sample_of_pages_is_known_when_the_records_were_read_and_is_in_no_index() {
    let mut writer = Writer::new(Vec::new(), &Header { page: 4096, origin: Origin::generated("t", None) }).unwrap();
    writer.region(&Region::anonymous(1 << 30)).unwrap();
    records()[..10].iter().for_each(|record| writer.record(record).unwrap());
    let sample = Sample { by_algorithm: vec![("lz4".to_owned(), vec![0, 1500, 4096])] };
    writer.sample(&sample).unwrap();
    let file = writer.finish().unwrap();
    let mut reader = Reader::new(Cursor::new(&file)).unwrap();
    assert_eq!(reader.index().unwrap().records(), 10);
    assert_eq!((read(&mut reader).unwrap().len(), reader.sample()), (10, Some(&sample)));
    assert!(reader.is_whole());
    let mut plain = Reader::new(Cursor::new(written(&records()[..10]))).unwrap();
    assert_eq!((read(&mut plain).unwrap().len(), plain.sample()), (10, None));
}

#[test]
fn of_a_file_that_is_cut_off_all_whole_blocks_are_read() {
    let records = records();
    let file = written(&records);
    let index = Reader::new(Cursor::new(&file)).unwrap().index().unwrap();
    let third = usize::try_from(index.blocks().nth(2).unwrap().at).unwrap();
    for (length, whole) in
        [(file.len() - 1, 150_000), (file.len() - TAIL - 3, 150_000), (third + 100, 100_001), (third, 100_001)]
    {
        let mut reader = Reader::new(&file[..length]).unwrap();
        assert_eq!(read(&mut reader).unwrap().len(), whole, "{length} bytes");
        assert!(!reader.is_whole());
        assert!(matches!(Reader::new(Cursor::new(&file[..length])).unwrap().index(), Err(TouchesError::NoIndex)));
    }
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let file = written(&records()[..2000]);
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 0x10;
        let whole = Reader::new(&changed[..]).is_ok_and(|mut reader| read(&mut reader).is_ok() && reader.is_whole());
        assert!(!whole, "byte {at}");
    }
}

#[test]
fn what_is_no_such_file_is_refused_by_what_it_is() {
    let file = written(&[]);
    let error = |bytes: &[u8]| Reader::new(bytes).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error(b"").contains("no file of touches"));
    assert!(error(b"\x7fELF and more than 16 bytes").contains("no file of touches"));
    assert!(error(&file[..10]).contains("cut off in its header"));
    assert!(error(&file[..30]).contains("cut off in its header"));
    let mut newer = file.clone();
    newer[16] = 5;
    assert!(error(&newer).contains("is of version 5 of the format, and this ramline reads up to version 4"));
    // What is recorded is of a later version than everything else, and all before are read.
    for version in [2, 3, 4] {
        newer[16] = version;
        assert_eq!((file[16], error(&newer).as_str()), (1, ""));
    }
    let header = Reader::new(&file[..]).unwrap().header().clone();
    assert!(header.check_page(4096).is_ok());
    assert!(header.check_page(16384).unwrap_err().to_string().contains("4096 bytes, and pages of 16384 bytes"));
    let odd = Header { page: 5000, ..header };
    assert!(Writer::new(Vec::new(), &odd).is_err());
}
