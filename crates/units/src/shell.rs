//! Words as a shell reads them: a command that a message proposes can be copied as it stands.
//!
//! ```
//! assert_eq!(ramline_units::command_line(["say.sh", "$HOME", "it's", "a b", ""]), r"say.sh '$HOME' 'it'\''s' 'a b' ''");
//! assert_eq!(ramline_units::quoted("a\nb"), r"$'a\012b'");
//! ```

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use crate::is_hostile;

/// The text as one word of a shell. What a terminal would act on stands as octal bytes in `$'...'` (POSIX.1-2024; bash, ksh, zsh).
#[must_use]
pub fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    if !text.chars().any(is_hostile) {
        return Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")));
    }
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            _ if is_hostile(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    write!(out, "\\{byte:03o}").ok();
                }
            }
            _ => out.push(c),
        }
    }
    out.push('\'');
    Cow::Owned(out)
}

/// A path as one word of a shell.
#[must_use]
pub fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy()).into_owned()
}

/// Words as a command line.
#[must_use]
pub fn command_line<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref()).into_owned()).collect();
    words.join(" ")
}
