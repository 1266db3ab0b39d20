//! What files hold, for those that may be copies of each other: same last name, same length, another inode.
//!
//! Whole files are not compared. The build id is read from the notes of an ELF file; of the contents ten pieces
//! of 4 KiB, so that at most 40 KiB of a candidate pass through the page cache.

use std::os::unix::fs::FileExt;

use ramline_kernel::stream::{self, Hint};
use ramline_kernel::{FNV1A, fnv1a};
use ramline_snapshot::maps::{Contents, MappedFile, Store};

use super::clock::Clock;
use super::files::open;
use crate::prelude::*;

/// Shorter ones are not worth a line.
const LEAST: u64 = 4096;
const PIECE: u64 = 4096;
const PIECES: u64 = 10;
/// Notes and program headers longer than this are not of a library.
const MOST: u64 = 64 << 10;

/// Fills in the contents of all files that have a namesake of the same length; returns how many there was no time for.
pub fn compare(files: &mut [MappedFile], clock: &Clock) -> u64 {
    let mut alike: HashMap<(String, u64), Vec<usize>> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        let (Some(length), Some(_)) = (file.length, &file.via) else { continue };
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if length.0 >= LEAST && matches!(file.store, Store::FileSystem | Store::Memory) && !name.is_empty() {
            alike.entry((name.to_owned(), length.0)).or_default().push(index);
        }
    }
    let mut left_out = 0;
    for index in alike.into_values().filter(|list| list.len() > 1).flatten() {
        let file = &mut files[index];
        if clock.is_over() {
            left_out += 1;
        } else {
            file.contents = file.via.as_deref().and_then(|via| contents(&open(via).ok()?, via));
        }
    }
    left_out
}

fn contents(file: &File, via: &Path) -> Option<Contents> {
    // Ten pages are wanted, not what read-ahead would add. Where it cannot be switched off, more pages pass through.
    drop(stream::advise(file, via, 0, 0, Hint::Random));
    Some(Contents { build_id: build_id(file), pieces: pieces(file) })
}

/// FNV-1a over the length and ten pieces spread evenly, the first and the last included.
fn pieces(file: &File) -> Option<u64> {
    let length = file.metadata().ok()?.len();
    let mut hash = fnv1a(FNV1A, &length.to_le_bytes());
    let last = length.saturating_sub(PIECE);
    let mut buffer = vec![0; usize::try_from(PIECE).ok()?];
    for n in 0..PIECES {
        let offset = u64::try_from(u128::from(last) * u128::from(n) / u128::from(PIECES - 1)).ok()?;
        let wanted = usize::try_from(PIECE.min(length)).ok()?;
        file.read_exact_at(&mut buffer[..wanted], offset).ok()?;
        hash = fnv1a(hash, &buffer[..wanted]);
    }
    Some(hash)
}

/// The build id in hexadecimal digits; `None` for what is no ELF file, or has none.
pub fn build_id(file: &File) -> Option<String> {
    let mut head = [0; 64];
    file.read_exact_at(&mut head, 0).ok()?;
    let elf = Elf::from_header(&head)?;
    let mut table = vec![0; usize::try_from((elf.entry * elf.entries).min(MOST)).ok()?];
    file.read_exact_at(&mut table, elf.table).ok()?;
    table.chunks_exact(usize::try_from(elf.entry).ok()?).find_map(|entry| {
        let (offset, length) = elf.note(entry)?;
        let mut notes = vec![0; usize::try_from(length.min(MOST)).ok()?];
        file.read_exact_at(&mut notes, offset).ok()?;
        elf.id_in(&notes)
    })
}

/// Where an ELF file has its program headers (System V ABI, chapter 4; both sizes and both byte orders).
struct Elf {
    wide: bool,
    big: bool,
    table: u64,
    entry: u64,
    entries: u64,
}

impl Elf {
    fn from_header(head: &[u8; 64]) -> Option<Elf> {
        let (wide, big) = match head {
            [0x7f, b'E', b'L', b'F', class @ (1 | 2), order @ (1 | 2), ..] => (*class == 2, *order == 2),
            _ => return None,
        };
        let mut elf = Elf { wide, big, table: 0, entry: 0, entries: 0 };
        let (table, sizes) = if wide { (elf.number(head, 32, 8)?, 54) } else { (elf.number(head, 28, 4)?, 42) };
        elf.table = table;
        elf.entry = elf.number(head, sizes, 2)?;
        elf.entries = elf.number(head, sizes + 2, 2)?;
        (elf.entry >= if wide { 56 } else { 32 } && elf.entries > 0).then_some(elf)
    }

    fn number(&self, bytes: &[u8], at: usize, length: usize) -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        let fold = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.big { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) })
    }

    /// Offset and length, if this program header is of notes (PT_NOTE).
    fn note(&self, entry: &[u8]) -> Option<(u64, u64)> {
        let (offset, length, size) = if self.wide { (8, 32, 8) } else { (4, 16, 4) };
        let range = Some((self.number(entry, offset, size)?, self.number(entry, length, size)?));
        range.filter(|_| self.number(entry, 0, 4) == Some(4))
    }

    /// The note of type 3 by "GNU".
    fn id_in(&self, notes: &[u8]) -> Option<String> {
        let padded = |n: usize| n.checked_next_multiple_of(4);
        let mut at = 0usize;
        loop {
            let size = |field: usize| usize::try_from(self.number(notes, at.checked_add(field * 4)?, 4)?).ok();
            let (name, length, kind) = (size(0)?, size(1)?, size(2)?);
            let first = at.checked_add(12)?;
            let start = first.checked_add(padded(name)?)?;
            if kind == 3 && notes.get(first..first.checked_add(name)?)? == b"GNU\0" {
                let id = notes.get(start..start.checked_add(length)?)?;
                return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            at = start.checked_add(padded(length)?)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_testkit::skip_if;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn the_build_id_of_a_program_is_the_one_that_readelf_finds() {
        let test = "the build id of a program";
        let told = |path: &Path| {
            let done = std::process::Command::new("readelf").arg("-n").arg(path).output().ok()?;
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            text.lines().find_map(|line| Some(line.trim().strip_prefix("Build ID: ")?.to_owned()))
        };
        let programs = [std::env::current_exe().unwrap(), "/bin/sh".into(), "/bin/ls".into()];
        let programs = programs.map(|path| (told(&path), path));
        if skip_if(programs.iter().all(|(id, _)| id.is_none()), test, "needs readelf, and a program with a build id") {
            return;
        }
        for (id, path) in programs {
            assert_eq!(build_id(&File::open(&path).unwrap()), id, "{}", path.display());
        }
    }

    #[test]
    fn a_program_that_is_damaged_has_another_build_id_or_none() {
        let exe = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(build_id(&file(b"not ELF")), None);
        // Every byte of the header turned round: another answer or none, never a panic.
        for at in 0..64 {
            let mut bytes = exe[..4096.min(exe.len())].to_vec();
            bytes[at] ^= 0xff;
            drop(build_id(&file(&bytes)));
        }
    }

    #[test]
    fn a_note_is_read_in_both_byte_orders() {
        let note = |number: fn(u32) -> [u8; 4]| {
            let mut out = Vec::new();
            for (name, kind, id) in [(&b"Xen\0"[..], 3, &[1u8; 4][..]), (b"GNU\0", 3, &[0xab, 0xcd])] {
                out.extend(number(u32::try_from(name.len()).unwrap()));
                out.extend(number(u32::try_from(id.len()).unwrap()));
                out.extend(number(kind));
                out.extend(name);
                out.extend(id);
                out.resize(out.len().next_multiple_of(4), 0);
            }
            out
        };
        let elf = |big| Elf { wide: true, big, table: 0, entry: 56, entries: 1 };
        assert_eq!(elf(false).id_in(&note(u32::to_le_bytes)).as_deref(), Some("abcd"));
        assert_eq!(elf(true).id_in(&note(u32::to_be_bytes)).as_deref(), Some("abcd"));
        assert_eq!(elf(true).id_in(&[0xff; 40]), None);
    }

    #[test]
    fn copies_hash_alike_and_a_changed_end_does_not() {
        let mut bytes = vec![7u8; 100_000];
        let first = pieces(&file(&bytes));
        assert_eq!(first, pieces(&file(&bytes)));
        bytes[99_999] = 8;
        assert_ne!(first, pieces(&file(&bytes)));
        assert!(pieces(&file(b"x")).is_some());
    }
}
