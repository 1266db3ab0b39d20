//! A file of touches, as it is, and what is read of it written and read again: the same records. The first byte says whether the rest is a
//! file, the contents of a block with a sound head before it, or a trace of libCacheSim.

use std::collections::HashSet;
use std::io::Cursor;
use std::sync::Arc;

use ramline_trace::curve::MissCurve;
use ramline_trace::oracle_general;
use ramline_trace::recording::{Open, Recording};
use ramline_trace::summary::TouchesSummary;
use ramline_trace::touch::Touches;
use ramline_trace::touches::{Reader, Record, Region, TouchesError, Writer, framed};

type Read = (Vec<Record>, Vec<Region>, bool, Option<TouchesError>);

/// All that is read of a file before its end, or before what is damaged.
fn read(reader: &mut Reader<Cursor<&[u8]>>) -> Read {
    let mut records = Vec::new();
    let error = loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    (records, reader.regions().to_vec(), reader.is_whole(), error)
}

/// One input.
pub fn once(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let file = match choice % 3 {
        0 => rest.to_vec(),
        1 => {
            let Some((&records, contents)) = rest.split_first() else { return };
            framed(4096, 3, u32::from(records), contents)
        }
        _ => {
            let mut file = Vec::new();
            if oracle_general::import(&mut &rest[..], "f", &mut file, u64::MAX).is_err() {
                return;
            }
            let mut out = Vec::new();
            let mut reader = Reader::new(Cursor::new(&file[..])).expect("just written");
            let exported = oracle_general::export(&mut reader, &mut out);
            assert_eq!(exported.is_ok(), !rest.is_empty());
            assert_eq!(out.len(), rest.len());
            file
        }
    };
    let Ok(mut reader) = Reader::new(Cursor::new(&file[..])) else { return };
    let (records, regions, whole, error) = read(&mut reader);
    assert!(!(whole && error.is_some()));
    if choice % 3 == 2 {
        assert!(whole);
    }
    let mut again = Vec::new();
    let mut writer = Writer::new(&mut again, reader.header()).expect("the header was read");
    for region in &regions {
        writer.region(region).expect("the region was read");
    }
    records.iter().for_each(|record| writer.record(record).expect("the record was read"));
    let sample = reader.sample().cloned();
    sample.iter().for_each(|sample| writer.sample(sample).expect("the sample was read"));
    writer.finish().expect("memory can be written");
    let mut second = Reader::new(Cursor::new(&again[..])).expect("just written");
    assert_eq!(second.header(), reader.header());
    let (same, same_regions, is_whole, none) = read(&mut second);
    assert!(is_whole && none.is_none());
    assert!(same == records && same_regions == regions && second.sample() == sample.as_ref());
    // What only a seek comes to.
    if let Ok(index) = reader.index() {
        for block in 0..index.block_count().min(8) {
            if reader.seek(&index, block).is_ok() {
                read(&mut reader);
            }
        }
    }
    let touched: u64 = records
        .iter()
        .map(|record| match record {
            Record::Touch(touch) => touch.pages(4096).count() as u64,
            Record::Epoch(epoch) => epoch.pages.iter().fold(0, |all, run| run.count.saturating_add(all)),
            _ => 0,
        })
        .fold(0, u64::saturating_add);
    if touched < 1 << 14 {
        let mut reader = Reader::new(Cursor::new(&again[..])).expect("just written").within(1 << 22);
        if let Ok(recording) = Recording::read(&mut reader) {
            let drawn = Arc::new(recording).drawn(Open { stores: 0.5, block: 4, seed: 7 });
            let given = drawn.rounds().take_while(Result::is_ok).count() as u64;
            assert!(given <= drawn.touch_count(), "{given} of at most {}", drawn.touch_count());
        }
        let summary = TouchesSummary::from_reader(&mut Reader::new(&again[..]).expect("just written"))
            .expect("memory can be read");
        let curve =
            MissCurve::from_reader(&mut Reader::new(&again[..]).expect("just written"), &[]).expect("it is whole");
        // A summary has pages of touches and of epochs apart; a curve has both.
        let distinct: HashSet<(u32, u64)> = records
            .iter()
            .flat_map(|record| match record {
                Record::Touch(touch) => touch.pages(second.header().page).map(|page| (touch.region, page)).collect(),
                Record::Epoch(epoch) => {
                    epoch.pages.iter().flat_map(|run| run.first..run.end()).map(|page| (epoch.region, page)).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        assert!(summary.whole && summary.distinct_pages <= curve.distinct_pages);
        assert_eq!(distinct.len() as u64, curve.distinct_pages);
        assert!(curve.points.iter().all(|point| point.belady_misses.is_some_and(|least| least <= point.lru_misses)));
    }
}
