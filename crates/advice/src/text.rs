//! Words and numbers the findings and explanations share: evidence, rates, shell words.
//!
//! What it is not: a renderer. Names from the machine stay data here; only what ends up in a command line is quoted,
//! so that a file or mount name can never become a second command when the reader pastes it.

use std::fmt::Display;

use crate::prelude::*;

/// One line of evidence.
pub(crate) fn evidence(what: &str, value: impl Display, source: impl Into<String>) -> Evidence {
    Evidence { what: what.to_owned(), value: value.to_string(), source: source.into() }
}

/// Lines of evidence as they are collected.
pub(crate) trait AddEvidence {
    /// Adds one.
    fn put(&mut self, what: &str, value: impl Display, source: impl Into<String>);

    /// Adds one that may not have been seen.
    fn add(&mut self, what: &str, value: Option<impl Display>, source: impl Into<String>) {
        if let Some(value) = value {
            self.put(what, value, source);
        }
    }
}

impl AddEvidence for Vec<Evidence> {
    fn put(&mut self, what: &str, value: impl Display, source: impl Into<String>) {
        self.push(evidence(what, value, source));
    }
}

/// A share as a percentage: whole numbers from 10 % on.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value.abs() >= 10.0 || value == 0.0 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// A count per second with its span: `412 pages/s over 2.0 s`.
pub(crate) fn rate(per_second: f64, unit: &str, span: Nanos) -> String {
    let decimals = usize::from(per_second < 10.0);
    format!("{per_second:.decimals$} {unit}/s over {span}")
}

/// Bytes from a number of bytes that came out of floating-point arithmetic.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range of u64; printed with one decimal"
)]
pub(crate) fn bytes_of(value: f64) -> Bytes {
    Bytes(if value.is_finite() { value.clamp(0.0, 1.8e19) as u64 } else { 0 })
}

/// A duration from a number of nanoseconds that came out of floating-point arithmetic.
pub(crate) fn nanos_of(value: f64) -> Nanos {
    Nanos(bytes_of(value).0)
}

/// One word of a shell command, quoted where it has to be.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if text.chars().any(char::is_control) {
        let mut out = String::from("$'");
        for c in text.chars() {
            match c {
                '\'' => out.push_str("\\'"),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('\'');
        return out;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

/// With a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Without a capital at its beginning.
pub(crate) fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_stays_one_word_of_the_command() {
        assert_eq!(word("/dev/vda2"), "/dev/vda2");
        assert_eq!(word("/mnt/a b; rm -rf ~"), "'/mnt/a b; rm -rf ~'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("a\nb'\\"), "$'a\\u000ab\\'\\\\'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn shares_and_rates_carry_their_unit() {
        assert_eq!((percent(0.0).as_str(), percent(0.034).as_str(), percent(0.5).as_str()), ("0 %", "3.4 %", "50 %"));
        assert_eq!(rate(412.4, "pages", Nanos(2_000_000_000)), "412 pages/s over 2.0 s");
        assert_eq!(rate(2.54, "faults", Nanos(1_500_000_000)), "2.5 faults/s over 1.5 s");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }

    #[test]
    fn a_number_that_is_none_becomes_no_bytes() {
        assert_eq!(bytes_of(f64::NAN), Bytes(0));
        assert_eq!(bytes_of(-3.0), Bytes(0));
        assert_eq!(nanos_of(1500.4), Nanos(1500));
    }
}
