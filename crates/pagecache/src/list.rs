//! Lists of file names: one a line, or separated by NUL where there is a NUL (`find -print0`), so that any name can be given.

use std::ffi::OsStr;
use std::io::Read;

use ramline_kernel::input;

use crate::prelude::*;

/// A million names of usual length.
const MOST: u64 = 64 << 20;

/// The names in a file; `-` is standard input.
///
/// # Errors
/// When it cannot be read, or names no file.
pub fn read(list: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let tried = "read the list of files";
    let mut bytes = Vec::new();
    if list == Path::new("-") {
        // Waited for as long as it takes: whoever names it knows what is there.
        io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes).tried(tried, list)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST) {
            let numbers = format!("at most {}", Bytes(MOST));
            return Err(KernelError::refused(tried, list, "it is larger than any such list", numbers));
        }
    } else {
        bytes = input::read_named(tried, list, MOST)?;
    }
    let names = parse(&bytes);
    if names.is_empty() {
        return Err(KernelError::refused(tried, list, "it names no file", ""));
    }
    Ok(names)
}

fn parse(bytes: &[u8]) -> Vec<PathBuf> {
    let separator = if bytes.contains(&0) { 0 } else { b'\n' };
    let names = bytes.split(|byte| *byte == separator).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_on_lines_or_between_nuls() {
        assert_eq!(parse(b"a b\n\nc\n"), [PathBuf::from("a b"), PathBuf::from("c")]);
        assert_eq!(parse(b"a\nb\0c\0"), [PathBuf::from("a\nb"), PathBuf::from("c")]);
        assert!(parse(b"\n").is_empty());
    }
}
