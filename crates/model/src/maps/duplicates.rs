//! One file present twice under different inodes: libraries that containers, snaps, flatpaks or chroots brought along.
//!
//! Two files are copies when last name and length agree and so does the build id both carry; without build ids, a hash of ten
//! pieces spread over them. What one shared copy would save has bounds: the pages resident of each copy may be the same parts
//! (the sum minus the largest is saved) or different ones (only what exceeds the file's length).

use ramline_snapshot::maps::{Contents, Maps};

use super::files::{FileUse, device};
use crate::prelude::*;

/// How copies are known to be copies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// The same build id.
    BuildId,
    /// The same length and the same ten pieces.
    #[default]
    Pieces,
}

/// Files that hold the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Duplicate {
    /// Their last name.
    pub name: String,
    /// Their length.
    pub length: Bytes,
    /// How that is known.
    pub likeness: Likeness,
    /// The build id, in hexadecimal digits.
    pub build_id: Option<String>,
    /// The files, most resident first.
    pub copies: Vec<Copy>,
    /// Resident bytes that sharing one copy would save, at least.
    pub saves_at_least: Bytes,
    /// The same at most.
    pub saves_at_most: Bytes,
    /// Some lie on overlayfs, where files with inodes of their own may share the pages of one layer: then nothing is saved.
    pub overlay: bool,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Copy {
    /// Path.
    pub path: String,
    /// Device of the file system.
    pub device: String,
    /// Inode.
    pub inode: u64,
    /// File-system type.
    pub fs: Option<String>,
    /// Processes that map it.
    pub processes: u64,
    /// Resident, each page once.
    pub resident: Option<Bytes>,
}

/// Last name, length, and what the file holds.
type Identity<'a> = (&'a str, Bytes, Likeness, &'a str, u64);

fn identity<'a>(name: &'a str, length: Bytes, contents: &'a Contents) -> Option<Identity<'a>> {
    match (&contents.build_id, contents.pieces) {
        (Some(id), _) => Some((name, length, Likeness::BuildId, id, 0)),
        (None, Some(pieces)) => Some((name, length, Likeness::Pieces, "", pieces)),
        (None, None) => None,
    }
}

pub fn duplicates(maps: &Maps, files: &[FileUse]) -> Vec<Duplicate> {
    let uses: BTreeMap<(&str, u64, &str), &FileUse> =
        files.iter().map(|f| ((f.device.as_str(), f.inode, f.path.as_str()), f)).collect();
    let mut groups: Vec<(Identity<'_>, Vec<Copy>)> = Vec::new();
    for file in &maps.files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let contents = file.contents.as_ref().zip(file.length);
        let Some(identity) = contents.and_then(|(contents, length)| identity(name, length, contents)) else { continue };
        let device = device(file);
        let Some(used) = uses.get(&(device.as_str(), file.inode, file.path.as_str())) else { continue };
        let copy = Copy {
            path: used.path.clone(),
            device: used.device.clone(),
            inode: used.inode,
            fs: used.fs.clone(),
            processes: used.processes,
            resident: used.resident,
        };
        match groups.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, copies)) if copies.iter().any(|c| is_one_below(c, &copy)) => {}
            Some((_, copies)) => copies.push(copy),
            None => groups.push((identity, vec![copy])),
        }
    }
    let mut out: Vec<Duplicate> = groups
        .into_iter()
        .filter(|(_, copies)| copies.len() > 1)
        .map(|(identity, copies)| group(identity, copies, maps.page.max(1)))
        .collect();
    ramline_units::sort_by_key(&mut out, |d| (std::cmp::Reverse((d.saves_at_most, d.length)), d.name.clone()));
    out
}

/// Overlayfs shows a file of a shared layer with the same inode number in every mount, and its pages exist once.
fn is_one_below(a: &Copy, b: &Copy) -> bool {
    let overlay = |c: &Copy| c.fs.as_deref() == Some("overlay");
    overlay(a) && overlay(b) && a.inode == b.inode
}

fn group((name, length, likeness, id, _): Identity<'_>, mut copies: Vec<Copy>, page: u64) -> Duplicate {
    ramline_units::sort_by_key(&mut copies, |c| std::cmp::Reverse(c.resident));
    let resident = || copies.iter().filter_map(|c| c.resident);
    let (sum, most) = (resident().sum::<Bytes>(), resident().max().unwrap_or_default());
    let overlay = copies.iter().filter(|c| c.fs.as_deref() == Some("overlay")).count() > 1;
    // Pages are whole: a file of one byte has a page resident.
    let whole = length.whole_pages(page);
    Duplicate {
        name: name.to_owned(),
        length,
        likeness,
        build_id: (!id.is_empty()).then(|| id.to_owned()),
        saves_at_least: if overlay { Bytes::ZERO } else { sum.saturating_sub(whole.max(most)) },
        saves_at_most: sum.saturating_sub(most),
        overlay,
        copies,
    }
}
