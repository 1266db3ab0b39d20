//! Values of labels: names that come from the machine, bounded in length and without what no name should hold.
//!
//! Worked example: a group called `a"b` with a line break is written `a\"b\\n`, and one of 400 characters as its first 200 with
//! the hash of all of them, so that two long names stay two.

/// The path of a container of a Kubernetes pod under systemd has up to 200 characters.
pub const LONGEST: usize = 240;
/// What is kept of a longer one.
const KEPT: usize = 200;

/// The value as it is exported: hostile characters written out, and not longer than [`LONGEST`] characters.
pub fn bounded(value: &str) -> String {
    let value = ramline_units::escape(value);
    if value.chars().count() <= LONGEST {
        return value.into_owned();
    }
    let kept: String = value.chars().take(KEPT).collect();
    format!("{kept}~{:016x}", hash(&value))
}

/// FNV-1a: distinguishes the names of one machine, and gives the same value on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Between the quotes of a label, by the rules of both formats: backslash, quote and line break are marked with a backslash.
pub fn quote(value: &str, out: &mut String) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_stays_different_from_others() {
        let (a, b) = (format!("{}a", "/x".repeat(300)), format!("{}b", "/x".repeat(300)));
        let (a, b) = (bounded(&a), bounded(&b));
        assert!(a != b && a.len() == 217 && a.starts_with("/x/x"), "{a}");
        let fits = "y".repeat(LONGEST);
        assert_eq!(bounded(&fits), fits);
    }

    #[test]
    fn what_ends_a_value_or_hides_text_is_written_out() {
        let mut out = String::new();
        quote(&bounded("a\"b\\c\nd\u{202e}e\u{1b}"), &mut out);
        assert_eq!(out, "a\\\"b\\\\c\\\\nd\\\\u{202e}e\\\\u{1b}");
    }
}
