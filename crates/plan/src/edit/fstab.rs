//! `/etc/fstab` (fstab(5)): what, where, kind, options, dump, pass.

use super::{LeftAlone, line_end, lines};

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its line, counted from 1.
    pub line: usize,
    /// Device, `UUID=...`, or file.
    pub what: &'a str,
    /// Where; `none` for swap.
    pub at: &'a str,
    /// Kind of file system; `swap`.
    pub fs: &'a str,
    /// Options, by commas.
    pub options: &'a str,
}

impl Entry<'_> {
    /// The value of an option, or nothing for one without a value.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.split(',').find_map(|option| {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            (key == name).then_some(value)
        })
    }
}

/// All entries.
///
/// # Errors
/// A line of another shape: then nothing in the file is to be changed.
pub fn entries(text: &str) -> Result<Vec<Entry<'_>>, LeftAlone> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = bare.split_ascii_whitespace().collect();
        let numbers = fields.get(4..).unwrap_or_default();
        let [what, at, fs, ..] = fields.as_slice() else { return Err(unknown(number, line)) };
        if fields.len() > 6 || !numbers.iter().all(|field| field.parse::<u32>().is_ok()) {
            return Err(unknown(number, line));
        }
        out.push(Entry { line: number + 1, what, at, fs, options: fields.get(3).copied().unwrap_or("defaults") });
    }
    Ok(out)
}

fn unknown(number: usize, line: &str) -> LeftAlone {
    LeftAlone { line: number + 1, rule: format!("'{}' is no entry of fstab(5)", line.escape_debug()) }
}

/// The text with one option of an entry set to a value (`pri=10`); blanks between fields stay as they are.
///
/// # Errors
/// As [`entries`]; a line that has no entry.
pub fn set_option(text: &str, line: usize, name: &str, value: &str) -> Result<String, LeftAlone> {
    let entries = entries(text)?;
    let Some(entry) = entries.iter().find(|entry| entry.line == line) else {
        return Err(LeftAlone { line, rule: "there is no entry".to_owned() });
    };
    let own = format!("{name}={value}");
    let mut options: Vec<&str> = entry
        .options
        .split(',')
        .filter(|option| !option.is_empty() && option.split_once('=').map_or(*option, |(key, _)| key) != name)
        .collect();
    options.push(&own);
    let options = options.join(",");
    let mut out = String::new();
    for (number, old) in text.split_inclusive('\n').enumerate() {
        match number + 1 == line {
            true => out += &with_field(old, 3, &options),
            false => out += old,
        }
    }
    Ok(out)
}

/// The text with an entry added at its end.
#[must_use]
pub fn with_entry(text: Option<&str>, entry: &str) -> String {
    let text = text.unwrap_or_default();
    let end = line_end(text);
    let missing = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{missing}{entry}{end}")
}

/// The text without an entry.
///
/// # Errors
/// As [`entries`]; a line that has no entry.
pub fn without_entry(text: &str, line: usize) -> Result<String, LeftAlone> {
    if !entries(text)?.iter().any(|entry| entry.line == line) {
        return Err(LeftAlone { line, rule: "there is no entry".to_owned() });
    }
    let kept = (1..).zip(text.split_inclusive('\n')).filter(|(number, _)| *number != line);
    Ok(kept.map(|(_, line)| line).collect())
}

/// A line with its n-th field replaced, or added where it ends before.
fn with_field(line: &str, n: usize, value: &str) -> String {
    let (bare, end) = lines(line).next().unwrap_or_default();
    let mut at = 0;
    for index in 0..=n {
        let rest = &bare[at..];
        let start = at + (rest.len() - rest.trim_start().len());
        let rest = &bare[start..];
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        if index == n {
            let blank = if start == at && start > 0 { " " } else { "" };
            return format!("{}{blank}{value}{}{end}", &bare[..start], &bare[start + length..]);
        }
        at = start + length;
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# /etc/fstab\nUUID=1  /     ext4  errors=remount-ro  0  1\n/swap   none  swap  sw,pri=5   0 0\n/b none swap\n";

    #[test]
    fn an_option_is_set_and_every_other_byte_stays() {
        assert_eq!(
            set_option(TEXT, 3, "pri", "-2").unwrap(),
            "# /etc/fstab\nUUID=1  /     ext4  errors=remount-ro  0  1\n/swap   none  swap  sw,pri=-2   0 0\n/b none swap\n"
        );
        assert!(set_option(TEXT, 4, "pri", "9").unwrap().ends_with("/b none swap defaults,pri=9\n"));
        assert!(set_option("/b none swap", 1, "pri", "9").unwrap().ends_with("/b none swap defaults,pri=9"));
    }

    #[test]
    fn entries_are_read_with_their_options() {
        let entries = entries(TEXT).unwrap();
        assert_eq!(
            entries.iter().map(|entry| (entry.line, entry.fs)).collect::<Vec<_>>(),
            [(2, "ext4"), (3, "swap"), (4, "swap")]
        );
        assert_eq!(
            (entries[1].option("pri"), entries[1].option("sw"), entries[1].option("x")),
            (Some("5"), Some(""), None)
        );
    }

    #[test]
    fn a_file_with_a_line_of_another_shape_is_left_alone() {
        assert_eq!(entries("a b\n").unwrap_err().line, 1);
        assert_eq!(entries("\na b c d e f\n").unwrap_err().line, 2);
        assert_eq!(entries("a b c d 0 0 # why\n").unwrap_err().line, 1);
    }

    #[test]
    fn an_entry_is_added_on_a_line_of_its_own() {
        assert_eq!(with_entry(Some("a b c"), "d e f"), "a b c\nd e f\n");
        assert_eq!(with_entry(None, "d e f"), "d e f\n");
    }

    #[test]
    fn lines_keep_their_ends_and_a_new_one_ends_as_they_do() {
        let text = "/a none swap sw 0 0\r\n/b none swap\r\n";
        assert_eq!(set_option(text, 1, "pri", "9").unwrap(), "/a none swap sw,pri=9 0 0\r\n/b none swap\r\n");
        assert_eq!(set_option(text, 2, "pri", "9").unwrap(), "/a none swap sw 0 0\r\n/b none swap defaults,pri=9\r\n");
        assert_eq!(with_entry(Some(text), "d e f"), format!("{text}d e f\r\n"));
    }

    #[test]
    fn an_entry_is_taken_out_with_its_line_and_no_other_byte() {
        let without = without_entry(TEXT, 3).unwrap();
        assert_eq!(without, "# /etc/fstab\nUUID=1  /     ext4  errors=remount-ro  0  1\n/b none swap\n");
        assert_eq!(without_entry(TEXT, 1).unwrap_err().line, 1);
    }
}
