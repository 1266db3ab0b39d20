//! How a text differs from an earlier one in its numbers: most files of the kernel say the same words for ever.
//!
//! A number is a run of at most 19 digits. Two texts have the same form when they are the same but for their numbers. Then the later one is
//! written as the numbers that differ, in two rows of bytes that are kept apart, since the first is much the same from frame to frame:
//!
//! - places: how many numbers that stayed lie before it, its unit, and whether zeros lead (`0.05`);
//! - values: the difference in that unit, and where zeros lead the count of digits.
//!
//! The unit is 4096 or 1024 where both numbers are multiples of it, as most counts of bytes are.

use crate::varint::{Input, put, put_signed};

/// The largest count of digits of which any number has 64 bits.
const MOST_DIGITS: usize = 19;
/// Units as powers of two, the largest first; the code of a unit is its place here.
const UNITS: [u32; 3] = [12, 10, 0];

/// A text as what is no number and what is.
enum Part<'a> {
    Words(&'a str),
    Number(&'a str),
}

/// At most 19 digits, which fit into 64 bits.
fn value(digits: &str) -> u64 {
    digits.bytes().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'))
}

struct Parts<'a>(&'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let text = self.0;
        let is_digit = text.as_bytes().first()?.is_ascii_digit();
        let end = text.bytes().position(|byte| byte.is_ascii_digit() != is_digit).unwrap_or(text.len());
        let (part, rest) = text.split_at(end);
        self.0 = rest;
        Some(if is_digit && part.len() <= MOST_DIGITS { Part::Number(part) } else { Part::Words(part) })
    }
}

/// What changes one text into another.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Which numbers, and how their values are written.
    pub places: Vec<u8>,
    /// By how much.
    pub values: Vec<u8>,
}

/// What changes `before` into `after`; `None` where they differ in more than numbers.
pub fn difference(before: &str, after: &str) -> Option<Difference> {
    let (mut old, mut new, mut out, mut same) = (Parts(before), Parts(after), Difference::default(), 0_u64);
    loop {
        match (old.next(), new.next()) {
            (None, None) => return Some(out),
            (Some(Part::Words(old)), Some(Part::Words(new))) if old == new => {}
            (Some(Part::Number(old)), Some(Part::Number(new))) => {
                if old == new {
                    same += 1;
                    continue;
                }
                let (was, is) = (value(old), value(new));
                let leads = new.len() > 1 && new.starts_with('0');
                let zeros = (was | is).trailing_zeros();
                let (code, bits) = (0_u64..).zip(UNITS).find(|(_, bits)| *bits <= zeros)?;
                put(&mut out.places, (same << 3) | (code << 1) | u64::from(leads));
                put_signed(&mut out.values, is.wrapping_sub(was).cast_signed() >> bits);
                if leads {
                    put(&mut out.values, new.len() as u64);
                }
                same = 0;
            }
            _ => return None,
        }
    }
}

/// The later text, of which the values are taken; `None` where the difference belongs to another one.
pub fn apply(before: &str, places: &[u8], values: &mut Input<'_>) -> Option<String> {
    let mut input = Input(places);
    let mut out = String::with_capacity(before.len() + 16);
    let next = |input: &mut Input<'_>| if input.is_empty() { Some(None) } else { input.number().map(Some) };
    let mut coming = next(&mut input)?;
    let mut same = 0_u64;
    for part in Parts(before) {
        match part {
            Part::Words(text) => out.push_str(text),
            Part::Number(text) if coming.is_some_and(|coded| coded >> 3 == same) => {
                let coded = coming?;
                let bits = *UNITS.get(usize::try_from((coded >> 1) & 3).ok()?)?;
                let difference = values.signed()?.wrapping_shl(bits);
                let number = value(text).wrapping_add(difference.cast_unsigned()).to_string();
                if coded & 1 == 1 {
                    let digits = values.count()?;
                    if digits > MOST_DIGITS || digits <= number.len() {
                        return None;
                    }
                    (number.len()..digits).for_each(|_| out.push('0'));
                }
                out.push_str(&number);
                (coming, same) = (next(&mut input)?, 0);
            }
            Part::Number(text) => {
                out.push_str(text);
                same += 1;
            }
        }
    }
    coming.is_none().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survives(before: &str, after: &str) -> usize {
        let difference = difference(before, after).unwrap_or_else(|| panic!("{before} and {after} have one form"));
        let mut values = Input(&difference.values);
        assert_eq!(apply(before, &difference.places, &mut values).as_deref(), Some(after));
        assert!(values.is_empty());
        difference.places.len() + difference.values.len()
    }

    #[test]
    fn a_text_with_other_numbers_is_their_differences() {
        assert_eq!(survives("MemFree: 100 kB\nCached: 7 kB", "MemFree: 101 kB\nCached: 7 kB"), 2);
        assert_eq!(survives("a 1 b 2", "a 1 b 2"), 0);
        survives("some avg10=0.00 total=999999", "some avg10=10.05 total=1000000");
        survives("avg 1.5", "avg 1.05");
        survives("7", "0");
        survives("9 00 1", "10 000 01");
        survives("x 9999999999999999999 y", "x 0 y");
        assert_eq!(survives("time 1796017289068615589", "time 1796017289068615590"), 2);
        assert_eq!(survives("8192 4096 2048 1", "4096 4202496 1024 2"), 9, "1,025 pages are two bytes");
    }

    #[test]
    fn other_words_have_another_form() {
        assert_eq!(difference("a 1", "b 1"), None);
        assert_eq!(difference("a 1", "a 1 2"), None);
        assert_eq!(difference("a 1", "a -1"), None);
        assert_eq!(difference("18446744073709551615", "1"), None, "too long for a number");
        assert!(difference("18446744073709551615 1", "18446744073709551615 2").is_some());
    }

    #[test]
    fn any_bytes_as_a_difference_are_refused_or_make_a_text() {
        let mut state = 7_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bytes = state.to_le_bytes();
            let (places, values) = bytes.split_at(usize::from(bytes[7] & 7));
            let _ = apply("a 1 b 22 c 333", places, &mut Input(values));
        }
        assert_eq!(apply("a 1", &[12], &mut Input(&[2])), None, "there is no second number");
    }
}
