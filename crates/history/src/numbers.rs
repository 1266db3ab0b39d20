//! How a text differs from an earlier one in its numbers: most files of the kernel say the same words for ever.
//!
//! A number is a run of at most 18 digits. Two texts have the same form when they are the same but for their numbers. Then the later one is
//! written as the numbers that differ: how many lie between, the difference, and the count of digits where zeros lead (`0.05`).

use crate::varint::{Input, put, put_difference};

/// The largest count of digits of which any number has 64 bits.
const MOST_DIGITS: usize = 18;

/// A text as what is no number and what is.
enum Part<'a> {
    Words(&'a str),
    Number { text: &'a str, value: u64 },
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
        Some(match part.parse() {
            Ok(value) if is_digit && part.len() <= MOST_DIGITS => Part::Number { text: part, value },
            _ => Part::Words(part),
        })
    }
}

/// What changes `before` into `after`; `None` where they differ in more than numbers.
pub fn difference(before: &str, after: &str) -> Option<Vec<u8>> {
    let (mut old, mut new, mut out, mut same) = (Parts(before), Parts(after), Vec::new(), 0_u64);
    loop {
        match (old.next(), new.next()) {
            (None, None) => return Some(out),
            (Some(Part::Words(old)), Some(Part::Words(new))) if old == new => {}
            (Some(Part::Number { text: old, value: was }), Some(Part::Number { text: new, value: is })) => {
                if old == new {
                    same += 1;
                    continue;
                }
                let leads = new.len() > 1 && new.starts_with('0');
                put(&mut out, (same << 1) | u64::from(leads));
                put_difference(&mut out, was, is);
                if leads {
                    put(&mut out, new.len() as u64);
                }
                same = 0;
            }
            _ => return None,
        }
    }
}

/// The later text; `None` where the difference belongs to another one.
pub fn apply(before: &str, difference: &[u8]) -> Option<String> {
    let mut input = Input(difference);
    let mut out = String::with_capacity(before.len() + 16);
    let next = |input: &mut Input<'_>| if input.is_empty() { Some(None) } else { input.number().map(Some) };
    let mut coming = next(&mut input)?;
    let mut same = 0_u64;
    for part in Parts(before) {
        match part {
            Part::Words(text) => out.push_str(text),
            Part::Number { value, .. } if coming.is_some_and(|coded| coded >> 1 == same) => {
                let number = input.difference(value)?.to_string();
                if coming.is_some_and(|coded| coded & 1 == 1) {
                    let digits = input.count()?;
                    if digits > MOST_DIGITS || digits <= number.len() {
                        return None;
                    }
                    (number.len()..digits).for_each(|_| out.push('0'));
                }
                out.push_str(&number);
                (coming, same) = (next(&mut input)?, 0);
            }
            Part::Number { text, .. } => {
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
        assert_eq!(apply(before, &difference).as_deref(), Some(after));
        difference.len()
    }

    #[test]
    fn a_text_with_other_numbers_is_their_differences() {
        assert_eq!(survives("MemFree: 100 kB\nCached: 7 kB", "MemFree: 101 kB\nCached: 7 kB"), 2);
        assert_eq!(survives("a 1 b 2", "a 1 b 2"), 0);
        survives("some avg10=0.00 total=999999", "some avg10=10.05 total=1000000");
        survives("avg 1.5", "avg 1.05");
        survives("7", "0");
        survives("9 00 1", "10 000 01");
        survives("x 999999999999999999 y", "x 0 y");
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
            let _ = apply("a 1 b 22 c 333", &bytes[..usize::from(bytes[7] & 7)]);
        }
        assert_eq!(apply("a 1", &[2, 2]), None, "there is no second number");
    }
}
