//! Names that come from the machine are data: on a terminal they must not move the cursor, ring, or turn text round.
//!
//! One function for every name of a command, mount, file or device before it is printed as text.
//! HTML is escaped by its renderer; markup passes through here unchanged,
//! because on a terminal it is harmless.
//!
//! ```
//! assert_eq!(ramline_units::escape("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
//! assert_eq!(ramline_units::escape("/mnt/my disk"), "/mnt/my disk");
//! ```

use std::borrow::Cow;

/// The name with control bytes and invisible or direction-changing characters written out (`\n`, `\u{202e}`).
///
/// Printable characters of every script stay as they are, a backslash too: a name is not code.
#[must_use]
pub fn escape(name: &str) -> Cow<'_, str> {
    rewrite(name, is_hostile, |c, out| out.extend(c.escape_default()))
}

/// The text with each character of a kind written otherwise.
fn rewrite(text: &str, is_of_kind: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(&is_of_kind) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| if is_of_kind(c) { write(c, &mut out) } else { out.push(c) });
    Cow::Owned(out)
}

/// A text in which some bytes stand as a mark and so many digits (`\040`, `\x2d`): those that may be turned back are.
#[must_use]
pub fn unescape(text: &str, mark: &str, (digits, radix): (usize, u32), may: impl Fn(u8) -> bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first() {
        let code = rest.strip_prefix(mark.as_bytes()).and_then(|code| std::str::from_utf8(code.get(..digits)?).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, radix).ok()).filter(|byte| may(*byte));
        out.push(byte.unwrap_or(*first));
        rest = &rest[byte.map_or(1, |_| mark.len() + digits)..];
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Control characters (Unicode category Cc), format characters that reorder, join or hide text (Cf), line and paragraph
/// separators (Zl, Zp), variation selectors, and private use, which a terminal's font may draw as anything.
#[must_use]
#[inline]
pub fn is_hostile(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(u32::from(c),
            0x00ad | 0x034f | 0x061c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
            | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xe000..=0xf8ff
            | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1bca0..=0x1bca3
            | 0x1d173..=0x1d17a | 0xe0000..=0x0010_ffff)
}

/// A whole text as it may go to a stream: what no name should have brought is written out, line breaks and tabs stay. With `colours`
/// the sequences that only choose one (`ESC [ 1 ; 31 m`) stay as well. The last thing before printing, so that no string can miss it.
#[must_use]
pub fn printable(text: &str, colours: bool) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t') || !is_hostile(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match colour(rest).filter(|_| colours) {
            Some(length) => {
                out.push_str(rest.get(..length).unwrap_or_default());
                length
            }
            None => {
                if stays(c) {
                    out.push(c)
                } else {
                    out.extend(c.escape_default())
                }
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Cow::Owned(out)
}

/// Bytes of the sequence at the beginning that chooses a colour, if there is one.
fn colour(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    (end <= 32 && inner.get(end..)?.starts_with('m')).then_some(end + 3)
}

/// A JSON document in which hostile characters, which only its strings can hold, are written as `\uXXXX`: it says the same.
#[must_use]
pub fn escape_json(document: &str) -> Cow<'_, str> {
    rewrite(
        document,
        |c| c != '\n' && is_hostile(c),
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        },
    )
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

    #[test]
    fn a_stream_gets_line_breaks_and_colours_and_nothing_else_that_acts() {
        assert_eq!(printable("a\tb\nc", false), "a\tb\nc");
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J", true), "\u{1b}[1;31mred\u{1b}[0m \\u{1b}[2J");
        assert_eq!(
            printable("\u{1b}[1mbold\u{1b}]0;title\u{7}\u{202e}", false),
            "\\u{1b}[1mbold\\u{1b}]0;title\\u{7}\\u{202e}"
        );
        assert_eq!(printable("\u{1b}[", true), "\\u{1b}[");
    }

    #[test]
    fn json_says_the_same_without_hostile_characters() {
        assert_eq!(escape_json("{\"a\":\"\u{9b}2J\u{e0041}\"}\n"), "{\"a\":\"\\u009b2J\\udb40\\udc41\"}\n");
    }
}
