//! Text for terminals and locales that know ASCII alone (`LC_ALL=C`, `TERM=dumb`): each character by the nearest one of those.
//!
//! The last step before printing, over finished text, so that no renderer needs to know. A character takes as many
//! columns as before wherever that is possible, so that tables stay straight. JSON stays as it is.
//!
//! ```
//! use ramline_sheet::text::plain;
//! assert_eq!(plain("zram · −3.0 MiB ███░"), "zram - -3.0 MiB ###.");
//! ```

use std::borrow::Cow;

use super::width;

/// The same text in ASCII. A letter that has no like becomes `?`, once for each column.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match like(c) {
            _ if c.is_ascii() => out.push(c),
            Some(like) => out.push_str(like),
            None => out.extend(std::iter::repeat_n('?', width(c.encode_utf8(&mut [0; 4])))),
        }
    }
    Cow::Owned(out)
}

/// What screens are drawn with, and what people type.
const fn like(c: char) -> Option<&'static str> {
    Some(match c {
        '·' | '•' | '−' | '–' | '—' | '‐' | '‑' | '─' | '━' | '┄' | '╌' | '═' => "-",
        '\u{a0}' | '\u{202f}' | '\u{2007}' | '\u{2800}' => " ",
        '…' | '░' | '▁' | '▂' => ".",
        '▒' | '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '╭' | '╮' | '╯' | '╰' | '✓' | '✔' => {
            "+"
        }
        '▃' | '▄' => "=",
        '█' | '▉' | '▊' | '▋' | '▌' | '▍' | '▎' | '▏' | '▓' | '▅' | '▆' | '▇' | '■' => "#",
        '│' | '┃' | '║' | '╎' => "|",
        '×' | '✗' | '✘' => "x",
        'µ' | 'μ' => "u",
        '°' | '●' | '○' | '◆' | '★' => "o",
        '‘' | '’' | '′' => "'",
        '“' | '”' | '„' | '″' => "\"",
        '↑' | '▲' | '△' => "^",
        '↓' | '▼' | '▽' => "v",
        '▶' | '▸' | '›' => ">",
        '◀' | '◂' | '‹' => "<",
        '⚠' => "!",
        '≈' => "~",
        '→' => "->",
        '←' => "<-",
        '≥' => ">=",
        '≤' => "<=",
        '±' => "+-",
        // The spinner.
        '\u{2801}'..='\u{28ff}' => "*",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_screens_are_drawn_with_has_a_like_and_colours_stay() {
        assert_eq!(plain("a · b – 2 … 1.5 µs ±3 ≥ 4"), "a - b - 2 . 1.5 us +-3 >= 4");
        assert_eq!(plain("\u{1b}[1m▇▁⠹\u{1b}[0m"), "\u{1b}[1m#.*\u{1b}[0m");
        assert!(matches!(plain("as it is\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_letter_without_a_like_keeps_its_columns() {
        assert_eq!(plain("größe メモ e\u{301}"), "gr??e ???? e");
        for text in ["größe メモリ", "│█░ ─", "a\u{301}b"] {
            assert!(plain(text).is_ascii());
            assert_eq!(width(&plain(text)), width(text), "{text}");
        }
    }
}
