//! Sections with keys, as zram-generator.conf and units of systemd have them.

use super::{LeftAlone, OWN, joined, line_end, lines};

/// The text with these keys of one section set; the section is added at the end where it is not there.
///
/// # Errors
/// A line that is neither comment, section nor key, and a key that goes on over several lines.
pub fn set(text: Option<&str>, section: &str, keys: &[(&str, &str)]) -> Result<String, LeftAlone> {
    let text = text.unwrap_or(OWN);
    check(text)?;
    let of_file = line_end(text);
    let mut out: Vec<(String, &str)> = Vec::new();
    let mut left: Vec<(&str, &str)> = keys.to_vec();
    let (mut inside, mut seen, mut end) = (false, false, 0);
    for (line, own) in lines(text) {
        if let Some(name) = section_of(line) {
            inside = name == section;
            seen |= inside;
        }
        let key = if inside { key_of(line) } else { None };
        match key.and_then(|key| left.iter().position(|(name, _)| *name == key).map(|at| left.remove(at))) {
            Some((name, value)) => out.push((format!("{name} = {value}"), own)),
            // A second line of a key that has been set: the later one would win.
            None if key.is_some_and(|key| keys.iter().any(|(name, _)| *name == key)) => {}
            None => out.push((line.to_owned(), own)),
        }
        if inside && !line.trim().is_empty() {
            end = out.len();
        }
    }
    if !seen {
        if out.last().is_some_and(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            out.push((String::new(), of_file));
        }
        out.push((format!("[{section}]"), of_file));
        end = out.len();
    }
    let added = left.iter().map(|(name, value)| (format!("{name} = {value}"), of_file));
    out.splice(end..end, added);
    Ok(joined(out, of_file))
}

/// The text without a section.
///
/// # Errors
/// As [`set`].
pub fn without(text: &str, section: &str) -> Result<String, LeftAlone> {
    check(text)?;
    let mut inside = false;
    let kept = lines(text).filter(|(line, _)| {
        if let Some(name) = section_of(line) {
            inside = name == section;
        }
        !inside
    });
    Ok(joined(kept, line_end(text)))
}

/// A key of a section, the last one where there are several.
#[must_use]
pub fn get<'a>(text: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let mut inside = false;
    let mut found = None;
    for line in text.lines() {
        if let Some(name) = section_of(line) {
            inside = name == section;
        }
        if inside && key_of(line) == Some(key) {
            found = line.split_once('=').map(|(_, value)| value.trim());
        }
    }
    found
}

/// The names of all sections, in order.
pub fn sections(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(section_of)
}

fn section_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with(['#', ';', '[']) {
        return None;
    }
    line.split_once('=').map(|(key, _)| key.trim())
}

fn check(text: &str) -> Result<(), LeftAlone> {
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        let known =
            bare.is_empty() || bare.starts_with(['#', ';']) || section_of(line).is_some() || key_of(line).is_some();
        if !known || bare.ends_with('\\') {
            let rule = format!("'{}' is neither comment, section nor key", line.escape_debug());
            return Err(LeftAlone { line: number + 1, rule });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a\n[zram0]\nzram-size = ram / 2\n\n[zram1]\nzram-size = 1\n";

    #[test]
    fn keys_are_changed_in_their_section_and_added_at_its_end() {
        assert_eq!(
            set(Some(TEXT), "zram0", &[("zram-size", "ram"), ("swap-priority", "200")]).unwrap(),
            "# a\n[zram0]\nzram-size = ram\nswap-priority = 200\n\n[zram1]\nzram-size = 1\n"
        );
    }

    #[test]
    fn a_section_that_is_not_there_is_added_and_a_file_too() {
        assert_eq!(set(Some(TEXT), "zram2", &[("a", "1")]).unwrap(), format!("{TEXT}\n[zram2]\na = 1\n"));
        assert_eq!(set(None, "zram0", &[("a", "1")]).unwrap(), format!("{OWN}[zram0]\na = 1\n"));
    }

    #[test]
    fn lines_keep_their_ends_and_new_ones_end_as_they_do() {
        let text = "# a\r\n[zram0]\r\nzram-size = ram\r\n";
        let after = set(Some(text), "zram0", &[("zram-size", "1"), ("b", "2")]).unwrap();
        assert_eq!(after, "# a\r\n[zram0]\r\nzram-size = 1\r\nb = 2\r\n");
        assert_eq!(set(Some(text), "z", &[("a", "1")]).unwrap(), format!("{text}\r\n[z]\r\na = 1\r\n"));
        assert_eq!(without(&after, "zram0").unwrap(), "# a\r\n");
    }

    #[test]
    fn of_a_key_given_twice_one_line_is_left() {
        assert_eq!(set(Some("[z]\na = 1\nb = 2\na = 3\n"), "z", &[("a", "9")]).unwrap(), "[z]\na = 9\nb = 2\n");
    }

    #[test]
    fn what_is_no_such_file_is_left_alone_by_its_line() {
        assert_eq!(set(Some("[z]\nhello\n"), "z", &[]).unwrap_err().line, 2);
        assert_eq!(set(Some("[z]\na = 1 \\\n 2\n"), "z", &[]).unwrap_err().line, 2);
    }

    #[test]
    fn a_section_goes_with_its_keys_and_a_key_is_read_from_the_last_line() {
        assert_eq!(without(TEXT, "zram0").unwrap(), "# a\n[zram1]\nzram-size = 1\n");
        assert_eq!(get("[z]\na = 1\na = 2\n[y]\na = 3\n", "z", "a"), Some("2"));
        assert_eq!(sections(TEXT).collect::<Vec<_>>(), ["zram0", "zram1"]);
    }
}
