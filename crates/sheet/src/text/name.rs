//! Names in a column that is narrower than they are: which letters stay.
//!
//! A text is escaped before it is cut.
//!
//! Worked example: `systemd-networkd-wait-online.service` in 20 columns is `systemd-n..e.service`.

use super::width;

/// What stands where letters were left out.
const GONE: &str = "..";
/// Hexadecimal digits from this many on are an id and no word.
const ID: usize = 32;
/// So many digits of an id tell it from others; engines show as many.
const SHORT_ID: usize = 12;

/// A name in so many columns: its beginning and its end, which tell more than the middle.
#[must_use]
pub fn middle_out(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_owned();
    }
    let letters: Vec<char> = name.chars().collect();
    let (mut head, mut tail) = (String::new(), String::new());
    // A letter may take two columns: from both ends inwards, as long as there is room.
    for (first, last) in letters.iter().zip(letters.iter().rev()) {
        let longer = (format!("{head}{first}"), format!("{last}{tail}"));
        if width(&longer.0) + width(&longer.1) + GONE.len() > columns {
            break;
        }
        (head, tail) = longer;
    }
    format!("{head}{GONE}{tail}")
}

/// A text that goes on: its beginning, marked as such, in so many columns.
#[must_use]
pub fn beginning(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut used = GONE.len();
    for letter in text.chars() {
        used += width(letter.encode_utf8(&mut [0; 4]));
        if used > columns {
            break;
        }
        out.push(letter);
    }
    out + GONE
}

/// A path in at most `columns`, as far as leaving directories out of its middle can do that: its beginning and its last name tell
/// most.
#[must_use]
pub fn shorter(path: &str, columns: usize) -> String {
    const GONE: &str = "/.../";
    if width(path) <= columns || path.matches('/').count() < 3 {
        return path.to_owned();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let room = columns.saturating_sub(width(last) + width(GONE));
    let mut kept = String::new();
    for part in path.split('/').skip(1) {
        if width(&kept) + 1 + width(part) > room {
            break;
        }
        kept = format!("{kept}/{part}");
    }
    format!("{kept}{GONE}{last}")
}

/// The end of a text of more than `most` letters: of a path it tells more.
#[must_use]
pub fn end(text: &str, most: usize) -> String {
    const GONE: &str = "...";
    let letters = text.chars().count();
    if letters <= most {
        return text.to_owned();
    }
    format!("{GONE}{}", text.chars().skip(letters.saturating_sub(most) + GONE.len()).collect::<String>())
}

/// A path with long ids cut to the 12 digits that engines show.
#[must_use]
pub fn short_ids(path: &str) -> String {
    let mut out = String::new();
    let mut run = 0;
    for c in path.chars() {
        run = if c.is_ascii_hexdigit() { run + 1 } else { 0 };
        out.push(c);
        if run == ID {
            out.truncate(out.len() - (ID - SHORT_ID));
        } else if run > ID {
            out.pop();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_twelve_digits_and_words_are_not() {
        let hex = "0123456789abcdef";
        assert_eq!(short_ids(&format!("/a/docker-{}.scope", hex.repeat(4))), "/a/docker-0123456789ab.scope");
        assert_eq!(short_ids(&format!("/{}/x", hex.repeat(2))), "/0123456789ab/x");
        assert_eq!(short_ids(&format!("/{hex}")), format!("/{hex}"));
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        assert_eq!(middle_out("systemd-networkd-wait-online.service", 20), "systemd-n..e.service");
        assert_eq!(middle_out("short", 20), "short");
        assert!(width(&middle_out(&"メモリ".repeat(20), 21)) <= 21);
    }

    #[test]
    fn the_beginning_of_a_text_and_the_end_of_a_path_are_marked_as_parts() {
        assert_eq!(beginning("/usr/bin/python3 -m x", 12), "/usr/bin/p..");
        assert_eq!(width(&beginning("メモリメモリ", 7)), 6);
        assert_eq!(end("/kubepods/burstable/pod1", 10), "...le/pod1");
        assert_eq!(end("/a", 10), "/a");
    }

    #[test]
    fn a_path_keeps_its_beginning_and_its_last_name() {
        let path = "/usr/lib/x86_64-linux-gnu/perl/5.36/Foo.so";
        assert_eq!(shorter(path, 42), path);
        assert_eq!(shorter(path, 40), "/usr/lib/x86_64-linux-gnu/.../Foo.so");
        assert_eq!(shorter(path, 20), "/usr/lib/.../Foo.so");
        assert_eq!(shorter(path, 8), "/.../Foo.so");
        assert_eq!(shorter("/etc/a-long-name-of-a-file", 8), "/etc/a-long-name-of-a-file");
    }
}
