//! libCacheSim's oracleGeneral: traces of caches, to be simulated there, or to be taken over from there. Another foreign format goes beside it: a function
//! that reads it and writes a [`Writer`], and a line in `trace import`.
//!
//! Records of 24 bytes, little-endian, nothing before or between them: time in seconds (u32), object (u64), its size (u32), and the number of
//! the request that asks for it next, counted from 1 over the file, or -1 (i64). Read in libCacheSim's traceConv in November 2026.
//!
//! What is lost on the way out: how a page is touched, threads, epochs and rounds. On the way in: sizes and times; an object becomes a page
//! that is read whole.

use std::io::{Read, Seek, Write};

use crate::FileId;
use crate::numbering::{PageNumbers, key, touches_within};
use crate::touches::{
    Access, Header, Maker, Origin, PageTouch, Reader, Record, Region, TouchesError, Writer, each_touch,
};

/// Bytes of a record.
const RECORD: usize = 24;
/// What a file compressed with zstd begins with (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Where their order takes too much.
const MANY: &str = "it has more touches than can be kept in the memory that can be taken here";
/// Pages of what is taken over.
const PAGE: u32 = 4096;

/// Why a trace is not taken over or given away.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// Of the file of touches.
    #[error(transparent)]
    Touches(#[from] TouchesError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Compressed.
    #[error("it is compressed with zstd, and oracleGeneral is read uncompressed")]
    Compressed,
    /// Cut off, or of another format.
    #[error("it is no oracleGeneral, or cut off: {0} bytes are left behind the last record of 24")]
    Cut(usize),
    /// A record that cannot be.
    #[error("it is no oracleGeneral: record {0} is asked for next before the first request")]
    Record(u64),
    /// Nothing to write.
    #[error("it holds no single touches, and oracleGeneral has nothing else")]
    NoTouches,
    /// It is cut off.
    #[error("it is cut off, and what comes next would be wrong at its end")]
    NotWhole,
}

/// Writes every page touch of a file as a request: the object is region and page in one number (region x 2^40 + page). How many there were.
///
/// The file is read twice; 4 bytes a touch are kept in between.
///
/// # Errors
/// The file is damaged, cut off, or without touches; reading or writing fails.
pub fn export(reader: &mut Reader<impl Read + Seek>, out: &mut impl Write) -> Result<u64, OracleError> {
    let page_size = reader.header().page;
    reader.rewind()?;
    // For each touch, how many touches later its page is touched again; 0: never.
    let (room, most) = (reader.room(), touches_within(reader.room()));
    let (mut until, mut pages, mut last) = (Vec::<u32>::new(), PageNumbers::within(room), Vec::<u32>::new());
    let beyond = || TouchesError::Beyond("it has 2^32 touches or more");
    each_touch(reader, |touch| {
        for page in touch.pages(page_size) {
            let number = pages.number(touch.region, page).ok_or_else(|| pages.beyond())? as usize;
            if until.len() >= most {
                return Err(TouchesError::Beyond(MANY));
            }
            let now = u32::try_from(until.len()).map_err(|_| beyond())?;
            match last.get_mut(number) {
                None => last.push(now),
                Some(last) => {
                    if let Some(until) = until.get_mut(*last as usize) {
                        *until = now - *last;
                    }
                    *last = now;
                }
            }
            until.push(0);
        }
        Ok(())
    })?;
    if !reader.is_whole() {
        return Err(OracleError::NotWhole);
    }
    if until.is_empty() {
        return Err(OracleError::NoTouches);
    }
    reader.rewind()?;
    let (mut until, mut number, mut cpu_ns) = (until.into_iter(), 0i64, 0u64);
    each_touch(reader, |touch| {
        cpu_ns = cpu_ns.saturating_add(touch.cpu_ns);
        let seconds = u32::try_from(cpu_ns / 1_000_000_000).unwrap_or(u32::MAX);
        for page in touch.pages(page_size) {
            number += 1;
            let next = until.next().filter(|&until| until > 0).map_or(-1, |until| number + i64::from(until));
            let mut record = [0; RECORD];
            record[..4].copy_from_slice(&seconds.to_le_bytes());
            record[4..12].copy_from_slice(&key(touch.region, page).to_le_bytes());
            record[12..16].copy_from_slice(&page_size.to_le_bytes());
            record[16..].copy_from_slice(&next.to_le_bytes());
            out.write_all(&record)?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(number.unsigned_abs())
}

/// Requests become reads of whole pages of one file: the first object that is asked for is page 0, the next new one page 1. How many
/// requests there were; `room` bytes may be taken.
///
/// # Errors
/// It is compressed, cut off, or something else; reading or writing fails.
pub fn import(from: &mut impl Read, name: &str, out: impl Write, room: u64) -> Result<u64, OracleError> {
    let (mut order, mut objects, most) = (Vec::new(), PageNumbers::within(room), touches_within(room));
    let mut piece = Vec::new();
    loop {
        piece.clear();
        from.take(RECORD as u64 * 4096).read_to_end(&mut piece)?;
        if order.is_empty() && piece.starts_with(&ZSTD) {
            return Err(OracleError::Compressed);
        }
        let records = piece.chunks_exact(RECORD);
        if !records.remainder().is_empty() {
            return Err(OracleError::Cut(records.remainder().len()));
        }
        for record in records {
            let eight = |at: usize| record.get(at..at + 8).and_then(|eight| eight.try_into().ok()).unwrap_or([0; 8]);
            if i64::from_le_bytes(eight(16)) < -1 {
                return Err(OracleError::Record(order.len() as u64 + 1));
            }
            let object = objects.number_for_key(u64::from_le_bytes(eight(4)));
            order.push(object.ok_or_else(|| objects.beyond())?);
        }
        if order.len() > most {
            return Err(TouchesError::Beyond(MANY).into());
        }
        if piece.is_empty() {
            break;
        }
    }
    let origin = Origin { maker: Maker::Import, name: format!("oracleGeneral {name}"), seed: None };
    let mut writer = Writer::new(out, &Header { page: PAGE, origin })?;
    let bytes = objects.count() as u64 * u64::from(PAGE);
    let region = writer.region(&Region::file(FileId { device: 0, inode: 1 }, None, bytes))?;
    let access = Access::Read { within: 0, bytes: PAGE };
    for &page in &order {
        let touch = PageTouch { region, page: u64::from(page), access, thread: 0, cpu_ns: 0 };
        writer.record(&Record::Touch(touch))?;
    }
    writer.finish()?;
    Ok(order.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn request(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
        let (time, object) = (time.to_le_bytes(), object.to_le_bytes());
        [&time[..], &object, &size.to_le_bytes(), &next.to_le_bytes()].concat()
    }

    #[test]
    fn a_file_of_touches_becomes_requests_with_the_next_of_each() {
        let header = Header { page: 4096, origin: Origin::generated("t", None) };
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        for _ in 0..2 {
            writer.region(&Region::anonymous(1 << 30)).unwrap();
        }
        let two = Access::Read { within: 0, bytes: 8192 };
        for (region, page, access) in [(0, 7, Access::Load), (1, 7, Access::Store), (0, 6, two), (1, 7, Access::Load)] {
            let touch = PageTouch { region, page, access, thread: 0, cpu_ns: 600_000_000 };
            writer.record(&Record::Touch(touch)).unwrap();
        }
        let file = writer.finish().unwrap();
        let mut out = Vec::new();
        assert_eq!(export(&mut Reader::new(Cursor::new(&file)).unwrap(), &mut out).unwrap(), 5);
        let want = [
            request(0, 7, 4096, 4),
            request(1, 1 << 40 | 7, 4096, 5),
            request(1, 6, 4096, -1),
            request(1, 7, 4096, -1),
            request(2, 1 << 40 | 7, 4096, -1),
        ];
        assert_eq!(out, want.concat());
        let cut = export(&mut Reader::new(Cursor::new(&file[..file.len() - 1])).unwrap(), &mut Vec::new());
        assert!(matches!(cut, Err(OracleError::NotWhole)));
    }

    #[test]
    fn requests_become_reads_of_dense_pages_and_back() {
        let given = [request(5, 900, 10, 3), request(6, u64::MAX, 1 << 30, -1), request(7, 900, 10, -1)].concat();
        let mut file = Vec::new();
        assert_eq!(import(&mut &given[..], "x", &mut file, u64::MAX).unwrap(), 3);
        let mut reader = Reader::new(Cursor::new(&file)).unwrap();
        let mut pages = Vec::new();
        each_touch(&mut reader, |touch| {
            pages.push((touch.page, touch.access));
            Ok(())
        })
        .unwrap();
        let read = Access::Read { within: 0, bytes: 4096 };
        assert_eq!(pages, [(0, read), (1, read), (0, read)]);
        assert_eq!(reader.regions()[0].bytes, 8192);
        let mut out = Vec::new();
        export(&mut reader, &mut out).unwrap();
        assert_eq!(out, [request(0, 0, 4096, 3), request(0, 1, 4096, -1), request(0, 0, 4096, -1)].concat());
    }

    #[test]
    fn what_is_compressed_cut_off_or_something_else_is_refused_by_name() {
        let error = |bytes: &[u8]| import(&mut &bytes[..], "x", Vec::new(), u64::MAX).unwrap_err().to_string();
        assert!(error(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0]).contains("compressed with zstd"));
        assert!(error(&request(1, 2, 3, -1)[..20]).contains("20 bytes are left"));
        assert!(error(&request(1, 2, 3, -2)).contains("record 1"));
        assert_eq!(import(&mut &[][..], "x", Vec::new(), u64::MAX).unwrap(), 0);
    }
}
