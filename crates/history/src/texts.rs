//! Named texts, what differs between two sets of them, and how that is written.
//!
//! Names get numbers in the order in which they appear after a whole frame. A difference is a list of steps: a code, the number of the name
//! (for a new one the name), and what the code says. The steps come first, behind their length, then the values of numbers.

use std::collections::{BTreeMap, HashMap};

use crate::numbers;
use crate::varint::{Input, put};

/// Texts by name.
pub type Texts = BTreeMap<String, String>;

/// The text is gone.
const GONE: u8 = 0;
/// A name that was not there before, with its text.
const NEW: u8 = 1;
/// Another text.
const OTHER: u8 = 2;
/// The same text with other numbers.
const NUMBERS: u8 = 3;

/// Names by number. A name that is gone keeps its number until the next whole frame.
#[derive(Debug, Default)]
pub struct Names {
    list: Vec<String>,
    index: HashMap<String, usize>,
}

impl Names {
    fn add(&mut self, name: &str) {
        self.index.insert(name.to_owned(), self.list.len());
        self.list.push(name.to_owned());
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Names::default();
    }
}

/// Texts in order, each as what makes it of the one before: without time, checksum and compression, for memory.
#[derive(Debug, Default)]
pub struct Changes {
    names: Names,
    last: Texts,
}

impl Changes {
    /// What makes these texts of the last ones.
    pub fn push(&mut self, now: &Texts) -> Vec<u8> {
        write(&mut self.names, &mut self.last, now)
    }

    /// The texts that this makes of the last ones; `None` where it belongs to others.
    pub fn replay(&mut self, changes: &[u8]) -> Option<&Texts> {
        read(&mut self.names, &mut self.last, changes).map(|()| &self.last)
    }
}

/// Writes what makes `after` of `before`, and makes it so.
pub fn write(names: &mut Names, before: &mut Texts, after: &Texts) -> Vec<u8> {
    let (mut steps, mut values) = (Vec::new(), Vec::new());
    before.retain(|name, _| {
        let stays = after.contains_key(name);
        if let (false, Some(index)) = (stays, names.index.get(name)) {
            steps.push(GONE);
            put(&mut steps, *index as u64);
        }
        stays
    });
    for (name, text) in after {
        let old = before.get(name);
        if old == Some(text) {
            continue;
        }
        match names.index.get(name) {
            None => {
                steps.push(NEW);
                put_text(&mut steps, name);
                put_text(&mut steps, text);
                names.add(name);
            }
            Some(index) => match old.and_then(|old| numbers::difference(old, text)) {
                Some(difference) => {
                    steps.push(NUMBERS);
                    put(&mut steps, *index as u64);
                    put(&mut steps, difference.places.len() as u64);
                    steps.extend_from_slice(&difference.places);
                    values.extend_from_slice(&difference.values);
                }
                None => {
                    steps.push(OTHER);
                    put(&mut steps, *index as u64);
                    put_text(&mut steps, text);
                }
            },
        }
        before.insert(name.clone(), text.clone());
    }
    let mut out = Vec::with_capacity(steps.len() + values.len() + 4);
    put(&mut out, steps.len() as u64);
    out.append(&mut steps);
    out.append(&mut values);
    out
}

/// Does what was written; `None` where it belongs to other texts, and these are then of no use.
pub fn read(names: &mut Names, texts: &mut Texts, content: &[u8]) -> Option<()> {
    let mut values = Input(content);
    let length = values.count()?;
    let mut input = Input(values.take(length)?);
    while let Some(code) = input.byte() {
        if code == NEW {
            let (name, text) = (input.text()?, input.text()?);
            if names.index.contains_key(name) {
                return None;
            }
            names.add(name);
            texts.insert(name.to_owned(), text.to_owned());
            continue;
        }
        let name = names.list.get(input.count()?)?;
        match code {
            GONE => drop(texts.remove(name)?),
            OTHER => drop(texts.insert(name.clone(), input.text()?.to_owned())),
            NUMBERS => {
                let count = input.count()?;
                let places = input.take(count)?;
                let text = texts.get_mut(name)?;
                *text = numbers::apply(text, places, &mut values)?;
            }
            _ => return None,
        }
    }
    values.is_empty().then_some(())
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}
