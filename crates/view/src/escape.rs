//! Names that come from the machine are data: on a terminal they must not move the cursor, ring, or turn text round.
//!
//! What it is: one function for every name of a command, mount, file or device before it is printed as text.
//! What it is not: HTML escaping, which the HTML renderer does by itself; markup passes through here unchanged,
//! because on a terminal it is harmless.
//!
//! ```
//! assert_eq!(ramline_view::escape("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
//! assert_eq!(ramline_view::escape("/mnt/my disk"), "/mnt/my disk");
//! ```

use std::borrow::Cow;

/// The name with control bytes and invisible or direction-changing characters written out (`\n`, `\u{202e}`).
///
/// Printable characters of every script stay as they are, a backslash too: a name is not code.
#[must_use]
pub fn escape(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_hostile) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if is_hostile(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Control characters (Unicode category Cc), format characters that reorder, join or hide text (Cf), line and paragraph
/// separators (Zl, Zp), variation selectors, and private use, which a terminal's font may draw as anything.
#[must_use]
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x00ad | 0x034f | 0x061c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
            | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xe000..=0xf8ff
            | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1bca0..=0x1bca3
            | 0x1d173..=0x1d17a | 0xe0000..=0x0010_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_line_breaks_are_written_out() {
        assert_eq!(escape("\u{1b}]0;owned\u{7}"), "\\u{1b}]0;owned\\u{7}");
        assert_eq!(escape("two\nlines\ttab\r"), "two\\nlines\\ttab\\r");
        // The eight-bit form of ESC [ is a control character as well.
        assert_eq!(escape("\u{9b}2J"), "\\u{9b}2J");
    }

    #[test]
    fn right_to_left_override_and_invisible_characters_are_written_out() {
        assert_eq!(escape("gpj.\u{202e}exe"), "gpj.\\u{202e}exe");
        assert_eq!(escape("zero\u{200b}width"), "zero\\u{200b}width");
        assert_eq!(escape("\u{feff}\u{2066}x\u{e0041}"), "\\u{feff}\\u{2066}x\\u{e0041}");
    }

    #[test]
    fn markup_and_every_script_stay_readable_on_a_terminal() {
        for name in ["<script>alert(1)</script>", "C:\\x", "größe", "メモリ", "/mnt/my disk"] {
            assert!(matches!(escape(name), Cow::Borrowed(same) if same == name));
        }
    }
}
