//! The regions of a file of touches: what memory it is that is touched.

use super::MOST_REGIONS;
use super::code::{Numbers, put, put_bytes};
use crate::FileId;
use crate::error::TouchesError;

/// The longest name of a file: PATH_MAX.
const LONGEST: usize = 4096;

/// A region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// What is behind it.
    pub backing: Backing,
    /// Its length in bytes.
    pub bytes: u64,
    /// Mapped executable: the kernel protects such pages of a file.
    pub executable: bool,
}

/// What is behind a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backing {
    /// A file.
    File {
        /// Which.
        id: FileId,
        /// Its name, where it is known.
        name: Option<String>,
    },
    /// Private anonymous memory.
    Anonymous,
    /// Shared anonymous memory, as a tmpfs has it.
    Shared,
}

impl Region {
    /// Private anonymous memory of so many bytes.
    #[must_use]
    pub const fn anonymous(bytes: u64) -> Region {
        Region { backing: Backing::Anonymous, bytes, executable: false }
    }

    /// A file of so many bytes.
    #[must_use]
    pub const fn file(id: FileId, name: Option<String>, bytes: u64) -> Region {
        Region { backing: Backing::File { id, name }, bytes, executable: false }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), TouchesError> {
        let (kind, named) = match &self.backing {
            Backing::File { name, .. } => (0, name.is_some()),
            Backing::Anonymous => (1, false),
            Backing::Shared => (2, false),
        };
        out.push(kind | u8::from(named) << 2 | u8::from(self.executable) << 3);
        put(out, self.bytes);
        if let Backing::File { id, name } = &self.backing {
            put(out, u64::from(id.device));
            put(out, id.inode);
            if let Some(name) = name {
                if name.len() > LONGEST {
                    return Err(TouchesError::Beyond("the name of a file is longer than 4096 bytes"));
                }
                put_bytes(out, name.as_bytes());
            }
        }
        Ok(())
    }

    pub(super) fn get(from: &mut Numbers<'_>) -> Option<Region> {
        let flags = from.byte()?;
        let bytes = from.number()?;
        let named = flags & 4 != 0;
        let backing = match flags & 3 {
            0 => {
                let id = FileId { device: from.small()?, inode: from.number()? };
                let name = if named { Some(from.text().filter(|name| name.len() <= LONGEST)?) } else { None };
                Backing::File { id, name }
            }
            1 if !named => Backing::Anonymous,
            2 if !named => Backing::Shared,
            _ => return None,
        };
        let known = flags & 0xf0 == 0;
        known.then_some(Region { backing, bytes, executable: flags & 8 != 0 })
    }
}

/// Reads the regions of a frame.
pub(super) fn get_all(bytes: &[u8], count: u32, regions: &mut Vec<Region>) -> Result<(), &'static str> {
    let mut from = Numbers::new(bytes);
    for _ in 0..count {
        if regions.len() >= MOST_REGIONS as usize {
            return Err("there are more than a million regions");
        }
        regions.push(Region::get(&mut from).ok_or("a region makes no sense")?);
    }
    if from.left() == 0 { Ok(()) } else { Err("something follows the regions") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_read_as_it_was_written() {
        let id = FileId { device: 8 << 20 | 1, inode: 1 << 40 };
        let all = [
            Region::anonymous(1 << 30),
            Region::anonymous(0),
            Region { executable: true, ..Region::file(id, Some("/usr/bin/vim".to_owned()), 4 << 20) },
            Region::file(id, None, u64::MAX),
            Region { backing: Backing::Shared, ..Region::anonymous(5) },
        ];
        let mut out = Vec::new();
        all.iter().for_each(|region| region.put(&mut out).unwrap());
        let mut read = Vec::new();
        get_all(&out, 5, &mut read).unwrap();
        assert_eq!(read, all);
        assert!(get_all(&out[..out.len() - 1], 5, &mut Vec::new()).is_err());
        assert!(get_all(&out, 4, &mut Vec::new()).is_err());
    }
}
