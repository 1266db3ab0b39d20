//! How records of the kernel's tracing are laid out: its own `format` files, read at run time.
//!
//! Fields differ between kernels in place, size and order; nothing is assumed of them but their names.
//!
//! ```
//! use ramline_trace::Format;
//! let text = "name: x\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:dev_t s_dev;\toffset:4;\tsize:4;\tsigned:0;\n";
//! let format = Format::parse(text);
//! assert_eq!((format.id(), format.field("s_dev").unwrap().number(&[0, 0, 0, 0, 1, 0, 0, 0])), (Some(7), Some(1)));
//! ```

use std::collections::BTreeMap;

/// Where a field is in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    /// Its bytes; `None` when the record is too short.
    #[must_use]
    pub fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Its number, of 1, 2, 4 or 8 bytes in the byte order of this machine.
    #[must_use]
    pub fn number(self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        Some(match *bytes {
            [one] => u64::from(one),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }

    /// Where it begins, and how long it is.
    #[must_use]
    pub const fn place(self) -> (usize, usize) {
        (self.offset, self.size)
    }
}

/// The fields of one kind of record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Format {
    id: Option<u16>,
    fields: BTreeMap<String, Field>,
}

impl Format {
    /// From a `format` file; lines that make no sense are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Format {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        Format { id, fields: text.lines().filter_map(field).collect() }
    }

    /// Its number, with which its records begin.
    #[must_use]
    pub const fn id(&self) -> Option<u16> {
        self.id
    }

    /// A field by its name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }
}

/// ` field:unsigned long i_ino; offset:8; size:8; signed:0;`; an array has `[16]` behind its name.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
    let name = parts.next()?.rsplit([' ', '*']).next()?.split('[').next()?;
    let (mut offset, mut size) = (None, None);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => size = value.parse().ok(),
            _ => {}
        }
    }
    Some((name.to_owned(), Field { offset: offset?, size: size? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(format: &Format, name: &str, record: &[u8]) -> Option<u64> {
        format.field(name)?.number(record)
    }

    const TASK: &str = "name: task_newtask\nID: 205\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n\
        \tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"pid=%d\", REC->pid\n";

    #[test]
    fn fields_are_found_by_their_names_and_never_beyond_the_record() {
        let format = Format::parse(TASK);
        let mut record = vec![0u8; 40];
        record[8..12].copy_from_slice(&77u32.to_ne_bytes());
        record[12..15].copy_from_slice(b"cat");
        assert_eq!(number(&format, "pid", &record), Some(77));
        assert_eq!(
            format.field("comm").and_then(|field| field.bytes(&record)).map(|comm| &comm[..4]),
            Some(&b"cat\0"[..])
        );
        assert_eq!(number(&format, "clone_flags", &record[..39]), None);
        assert_eq!(number(&format, "order", &record), None);
    }

    #[test]
    fn hostile_text_gives_no_fields() {
        for text in
            ["", "field:", "field:int x;offset:-1;size:4;", "field:int x;offset:99999999999999999999;size:4", "ID: x"]
        {
            let format = Format::parse(text);
            assert_eq!((format.id(), number(&format, "x", &[0; 8])), (None, None), "{text}");
        }
    }
}
