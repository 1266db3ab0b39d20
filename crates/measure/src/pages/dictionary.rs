//! What a dictionary would gain: trained on every second page, tried on the others.
//!
//! What it is not: a dictionary to use. It is made of contents, so it stays in locked memory and is zeroed; zram takes one from a file (Linux 6.12),
//! which would lie on a disk. lz4 is compared with itself through a library that takes dictionaries, which need not be the one of the table.

use ramline_evidence::pages::{DictionaryGain, Lengths};
use ramline_kernel::arena::Arena;
use ramline_units::Bytes;
use zstd::dict::EncoderDictionary;

use super::error::PagesError;
use super::sample::{Sample, repeated, stop_if_interrupted, wide};
use super::store::Store;
use super::train::train;

/// As much as lz4 can look back.
pub const SIZE: usize = 64 << 10;
/// Pages to train on at most: 64 times the dictionary.
const MOST: usize = 1024;
/// Fewer say nothing.
const LEAST: usize = 128;

/// Of the zstd levels and of lz4 among `algorithms`; what could not be done is added to `skipped`.
pub fn measure(
    sample: &Sample,
    algorithms: &[String],
    store: &mut Store,
    skipped: &mut Vec<String>,
) -> Result<Vec<DictionaryGain>, PagesError> {
    let page = sample.page_bytes();
    let usable: Vec<usize> = (0..sample.len()).filter(|index| repeated(sample.page(*index)).is_none()).collect();
    let (learn, test): (Vec<usize>, Vec<usize>) = usable.iter().partition(|index| *index % 2 == 0);
    if learn.len() < LEAST || test.is_empty() {
        skipped.push(format!("dictionaries: {} pages to train one on, {LEAST} are needed", learn.len()));
        return Ok(Vec::new());
    }
    let step = learn.len().div_ceil(MOST);
    let chosen: Vec<usize> = learn.iter().step_by(step).copied().collect();
    let room = store.lend();
    for (to, index) in room.chunks_exact_mut(page).zip(&chosen) {
        to.copy_from_slice(sample.page(*index));
    }
    let bytes = room.get(..chosen.len() * page).unwrap_or_default();
    let mut room = Arena::new(Bytes(wide(SIZE)))?;
    let length = train(bytes, page, room.bytes_mut());
    let dictionary = &room.bytes()[SIZE - length..];
    if dictionary.is_empty() {
        skipped.push("dictionaries: the pages share nothing".to_owned());
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for name in algorithms {
        stop_if_interrupted()?;
        let gain = match name.split_once(':').unwrap_or((name, "")) {
            ("lz4", "" | "1") => lz4(sample, &test, dictionary, store),
            ("zstd", level) => zstd_at(level.parse().unwrap_or(3), sample, &test, dictionary, store),
            _ => continue,
        };
        let Some((without, with)) = gain else {
            skipped.push(format!("{name} with a dictionary: the library did not take a page"));
            continue;
        };
        let size = Bytes(wide(dictionary.len()));
        out.push(DictionaryGain { algorithm: name.clone(), dictionary: size, pages: wide(test.len()), without, with });
    }
    Ok(out)
}

/// Lengths of the pages by two ways to compress them.
fn both(
    sample: &Sample,
    test: &[usize],
    store: &mut Store,
    mut without: impl FnMut(&[u8], &mut [u8]) -> Option<usize>,
    mut with: impl FnMut(&[u8], &mut [u8]) -> Option<usize>,
) -> Option<(Lengths, Lengths)> {
    let empty = Lengths::new(wide(sample.page_bytes()));
    let mut lengths = (empty.clone(), empty);
    for index in test {
        lengths.0.add(wide(without(sample.page(*index), store.scratch())?));
        lengths.1.add(wide(with(sample.page(*index), store.scratch())?));
    }
    Some(lengths)
}

fn lz4(sample: &Sample, test: &[usize], dictionary: &[u8], store: &mut Store) -> Option<(Lengths, Lengths)> {
    use lz4_flex::block::{compress_into, compress_into_with_dict};
    let with = |page: &[u8], out: &mut [u8]| compress_into_with_dict(page, out, dictionary).ok();
    both(sample, test, store, |page, out| compress_into(page, out).ok(), with)
}

fn zstd_at(
    level: i32,
    sample: &Sample,
    test: &[usize],
    dictionary: &[u8],
    store: &mut Store,
) -> Option<(Lengths, Lengths)> {
    let mut plain = zstd::bulk::Compressor::new(level).ok()?;
    let prepared = EncoderDictionary::copy(dictionary, level);
    let mut trained = zstd::bulk::Compressor::with_prepared_dictionary(&prepared).ok()?;
    let with = |page: &[u8], out: &mut [u8]| trained.compress_to_buffer(page, out).ok();
    both(sample, test, store, |page, out| plain.compress_to_buffer(page, out).ok(), with)
}
