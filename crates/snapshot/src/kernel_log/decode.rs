//! Bytes of a line to text: another encoding than UTF-8, colours of a terminal, escapes of /dev/kmsg and of rsyslog.

/// A line as text. Bytes that are no UTF-8 are read as Latin-1, which loses none; colours and other sequences of a terminal are dropped.
pub(super) fn text_of(line: &[u8]) -> String {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|byte| char::from(*byte)).collect(),
    };
    if !text.contains(['\u{1b}', '\r', '\0', '\u{feff}']) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\u{1b}' => {
                if letters.next_if_eq(&'[').is_some() {
                    // Parameters, and the letter that ends the sequence (ECMA-48).
                    while letters.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
                    letters.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
                }
            }
            '\r' | '\0' | '\u{feff}' => {}
            _ => out.push(c),
        }
    }
    out
}

/// Line feeds that were written out: `\x0a` by /dev/kmsg, `#012` by rsyslog. Other escapes of /dev/kmsg become their bytes.
pub(super) fn unescaped(text: &str) -> String {
    if !text.contains("\\x") && !text.contains("#01") {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |at: usize| rest.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, rest.get(1), hex(2), hex(3)) {
            (b'\\', Some(b'x'), Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                rest = rest.get(4..).unwrap_or_default();
            }
            (b'#', ..) if rest.starts_with(b"#012") || rest.starts_with(b"#011") => {
                bytes.push(if rest.starts_with(b"#012") { b'\n' } else { b'\t' });
                rest = rest.get(4..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    text_of(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_other_encodings_do_not_hide_a_line() {
        assert_eq!(text_of(b"\x1b[32m[    1.0]\x1b[0m Mem-Info:\r"), "[    1.0] Mem-Info:");
        assert_eq!(text_of(b"f\xe9vr. 01"), "f\u{e9}vr. 01");
    }

    #[test]
    fn line_feeds_that_were_written_out_are_line_feeds() {
        assert_eq!(unescaped("a:1\\x0a b:2#012c:3"), "a:1\n b:2\nc:3");
        assert_eq!(unescaped("ends in \\x0"), "ends in \\x0");
    }
}
