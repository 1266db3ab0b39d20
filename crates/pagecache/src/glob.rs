//! Patterns for names: `*`, `?`, `[a-z]`, `[!a]`, `\` before a character that means itself.
//!
//! A pattern without `/` is held against the last part of a path, one with `/` against the whole path;
//! `*` then also crosses `/`.
//!
//! Worked example: `*.log` excludes `/var/log/a.log` as well as a directory `b.log` with everything in it.

use std::str::FromStr;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pieces: Vec<Piece>,
    whole: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Byte(u8),
    Any,
    Many,
    Set { not: bool, ranges: Vec<(u8, u8)> },
}

/// A pattern that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no pattern: a [ without its ], or a \\ at the end; write for example '*.log' or '/srv/*/cache'")]
pub struct BadGlob(String);

impl FromStr for Glob {
    type Err = BadGlob;

    fn from_str(text: &str) -> Result<Glob, BadGlob> {
        let bad = || BadGlob(text.to_owned());
        let (mut pieces, mut rest) = (Vec::new(), text.as_bytes());
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                b'*' if pieces.last() == Some(&Piece::Many) => {}
                b'*' => pieces.push(Piece::Many),
                b'?' => pieces.push(Piece::Any),
                b'\\' => {
                    let (byte, after) = rest.split_first().ok_or_else(bad)?;
                    pieces.push(Piece::Byte(*byte));
                    rest = after;
                }
                b'[' => {
                    let (piece, after) = set(rest).ok_or_else(bad)?;
                    pieces.push(piece);
                    rest = after;
                }
                byte => pieces.push(Piece::Byte(*byte)),
            }
        }
        Ok(Glob { pieces, whole: text.contains('/') })
    }
}

/// What stands after `[`; a `]` first is a member.
fn set(text: &[u8]) -> Option<(Piece, &[u8])> {
    let not = matches!(text.first(), Some(b'!' | b'^'));
    let mut rest = if not { text.get(1..)? } else { text };
    let mut ranges = Vec::new();
    loop {
        let (first, after) = rest.split_first()?;
        if *first == b']' && !ranges.is_empty() {
            return Some((Piece::Set { not, ranges }, after));
        }
        let (last, after) = match after {
            [b'-', last, after @ ..] if *last != b']' => (last, after),
            _ => (first, after),
        };
        ranges.push((*first, *last));
        rest = after;
    }
}

impl Piece {
    fn is(&self, byte: u8) -> bool {
        match self {
            Piece::Byte(own) => *own == byte,
            Piece::Any => true,
            Piece::Many => false,
            Piece::Set { not, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&byte)) != *not,
        }
    }
}

impl Glob {
    /// True when the whole path has to be given to [`Glob::is_match`], not only its last part.
    #[must_use]
    pub const fn wants_path(&self) -> bool {
        self.whole
    }

    /// Whether a name is of this pattern. In linear space; in time the product of the lengths at worst.
    #[must_use]
    pub fn is_match(&self, name: &[u8]) -> bool {
        let (mut at, mut piece) = (0, 0);
        // Where to go on when it does not fit after the last `*`.
        let mut back: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.pieces.get(piece) {
                Some(Piece::Many) => {
                    back = Some((piece, at));
                    piece += 1;
                }
                Some(one) if one.is(name[at]) => {
                    at += 1;
                    piece += 1;
                }
                _ => {
                    let Some((star, from)) = back else { return false };
                    back = Some((star, from + 1));
                    (piece, at) = (star + 1, from + 1);
                }
            }
        }
        self.pieces[piece..].iter().all(|rest| *rest == Piece::Many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, fits) in [
            ("*.log", "a.log", true),
            ("*.log", "a.log.1", false),
            ("a*b*c", "axxbyybzc", true),
            ("a*b*c", "axxbyybz", false),
            ("?", "ab", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("", "", true),
            ("**", "anything", true),
        ] {
            assert_eq!(pattern.parse::<Glob>().unwrap().is_match(name.as_bytes()), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_with_a_slash_is_about_the_whole_path() {
        let glob: Glob = "/srv/*/cache".parse().unwrap();
        assert!(glob.wants_path() && glob.is_match(b"/srv/a/b/cache") && !glob.is_match(b"/srv/cache"));
    }

    #[test]
    fn what_is_no_pattern_says_how_one_is_written() {
        for bad in ["[a", "a\\", "[!", "[]"] {
            assert!(bad.parse::<Glob>().unwrap_err().to_string().contains("for example"), "{bad}");
        }
    }
}
