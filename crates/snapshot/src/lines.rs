//! Reading a file line by line: a line that is not understood costs that line and not the file.
//!
//! Kernels and vendors add lines: a table above `/proc/meminfo`, a counter without a name in `/proc/zoneinfo`. What is passed over is
//! counted and said once. It is a fault, which the exit status tells, only where something may be lost: the line names what this version
//! reads, holds bytes that no kernel prints, or is cut off. A file of which no line is understood is malformed.
//!
//! Worked example: of "a: b:\nMemFree: 4 kB\n" the first line is passed over, without harm; of "MemFree: lots\nMemTotal: 8 kB\n" MemFree is lost.

use std::cell::RefCell;

use crate::prelude::*;

/// The file a text is from: its path, and what becomes of a line that is not understood.
pub trait Origin {
    /// The file.
    fn path(&self) -> &str;
    /// Called for each line that is passed over; `lost` when it may have held something.
    fn pass_over(&self, line: Malformed, lost: bool);
}

/// A path alone: what is passed over is not noted.
impl Origin for str {
    fn path(&self) -> &str {
        self
    }

    fn pass_over(&self, _: Malformed, _: bool) {}
}

/// A path, and a note of what was passed over.
#[derive(Debug)]
pub struct Noted {
    path: String,
    passed: RefCell<Option<Passed>>,
}

#[derive(Debug)]
struct Passed {
    first: Malformed,
    lines: u64,
    lost: bool,
}

impl Noted {
    /// Of this file, nothing noted yet.
    #[must_use]
    pub fn new(path: &str) -> Noted {
        Noted { path: path.to_owned(), passed: RefCell::new(None) }
    }

    /// The note: how many lines, and the first that matters most. `None` when every line was understood.
    #[must_use]
    pub fn note(self) -> Option<Unseen> {
        let Passed { first, lines, lost } = self.passed.into_inner()?;
        let one = Unseen::from(&first);
        let reason = match lines {
            1 => format!("{}; the rest was read", one.reason),
            _ => format!("{lines} lines are not understood, such as {}; the rest was read", one.reason),
        };
        Some(Unseen { reason, garbage: lost, ..one })
    }
}

impl Origin for Noted {
    fn path(&self) -> &str {
        &self.path
    }

    fn pass_over(&self, line: Malformed, lost: bool) {
        let mut passed = self.passed.borrow_mut();
        match passed.as_mut() {
            Some(passed) => {
                passed.lines = passed.lines.saturating_add(1);
                // Of several, one that may have held something is shown.
                if lost && !passed.lost {
                    passed.first = line;
                    passed.lost = true;
                }
            }
            None => *passed = Some(Passed { first: line, lines: 1, lost }),
        }
    }
}

/// What `parse` makes of each line. A line it makes nothing of is passed over, and `matters` says of its first word whether it may have
/// held something.
///
/// # Errors
/// No line is understood, and there is one: the first of them.
pub(crate) fn parse_lines<T, All: FromIterator<T>>(
    from: &(impl Origin + ?Sized),
    text: &str,
    matters: impl Fn(&str) -> bool,
    mut parse: impl FnMut(&str) -> Option<T>,
) -> Result<All, Malformed> {
    let mut bad = Vec::new();
    let mut understood = false;
    let read = |(index, line)| {
        let made = parse(line);
        match &made {
            Some(_) => understood = true,
            None => bad.push((index, line)),
        }
        made
    };
    let all = text.lines().enumerate().filter_map(read).collect();
    if let (false, Some((index, line))) = (understood, bad.first()) {
        return Err(Malformed::new(from.path(), *index, line));
    }
    for (index, line) in bad {
        from.pass_over(Malformed::new(from.path(), index, line), is_lost(text, line, &matters));
    }
    Ok(all)
}

/// The end of the text is the end of a line that was cut off where there is no newline: the kernel ends every line with one.
fn is_lost(text: &str, line: &str, matters: impl Fn(&str) -> bool) -> bool {
    let word = line.trim_start().split([':', ' ', '\t', '=']).next().unwrap_or_default();
    let printed = |c: char| c == '\t' || !c.is_control() && c != char::REPLACEMENT_CHARACTER;
    let cut = !text.ends_with('\n') && text.ends_with(line);
    matters(word) || cut || !line.chars().all(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<Vec<u64>, Malformed>, Option<Unseen>) {
        let from = Noted::new("f");
        let number = |line: &str| line.strip_prefix("n ")?.parse().ok();
        (parse_lines(&from, text, |word| word == "n", number), from.note())
    }

    #[test]
    fn a_line_that_is_not_understood_costs_that_line_and_is_counted() {
        let (numbers, note) = read("n 1\nother words\n\nn 2\n");
        assert_eq!(numbers.unwrap(), [1, 2]);
        let note = note.unwrap();
        assert_eq!(
            note.reason,
            "2 lines are not understood, such as line 2: cannot read 'other words'; the rest was read"
        );
        assert!(!note.garbage, "nothing of ours was in them");
        assert_eq!(read("n 1\n").1, None);
    }

    #[test]
    fn a_line_that_held_something_is_the_one_that_is_shown() {
        for (text, shown) in [
            ("n 1\nother\nn x\n", "line 3: cannot read 'n x'"),
            ("n 1\n\u{1}\n", "line 2: cannot read '\\u{1}'"),
            ("n 1\n  cut o", "line 2: cannot read '  cut o'"),
        ] {
            let note = read(text).1.unwrap();
            assert!(note.garbage && note.reason.contains(shown), "{text:?}: {}", note.reason);
        }
    }

    #[test]
    fn a_file_of_which_no_line_is_understood_is_malformed_and_an_empty_one_is_empty() {
        assert_eq!(read("a\nb\n").0.unwrap_err().line, 1);
        assert_eq!(read("").0.unwrap(), Vec::<u64>::new());
    }
}
