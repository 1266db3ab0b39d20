//! Which files are in question: those that were named, and those below named directories, by what the kernel calls them.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ramline_act::Result;
use ramline_kernel::{KernelError, mount, residency};
use ramline_trace::{Event, FileId, What};

use super::names::{Given, id};
use crate::Context;
use crate::shared::{lock, owned};
use crate::walk::{self, FoundFile, Visit, WalkOptions};

/// A filter in the kernel names at most so many inodes; of more files all records are taken, and passed over here.
const FILTERED: usize = 32;

/// The files in question; none means any.
#[derive(Debug, Default)]
pub struct Files {
    /// By what the kernel calls them.
    pub names: Given,
    filter: String,
    any: bool,
}

impl Files {
    /// For the kernel; empty when it does not pay.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Whether an event is about them, or about no file at all.
    pub fn wants(&self, event: &Event) -> bool {
        let file = match event.what {
            What::Get { file, .. }
            | What::Map { file, .. }
            | What::Fault { file, .. }
            | What::Add { file, .. }
            | What::Delete { file, .. }
            | What::ReadAhead { file } => file,
            What::Reclaim { .. } | What::New { .. } | What::Rename { .. } => return true,
        };
        self.any || self.names.contains_key(&file)
    }
}

#[derive(Default)]
struct Seen {
    files: HashMap<FileId, PathBuf>,
    in_memory: Option<PathBuf>,
}

/// Finds all files below the names.
///
/// # Errors
/// None of what was named is a file the kernel tells of.
pub fn of(context: Context<'_>, paths: &[PathBuf], walking: &WalkOptions) -> Result<Files> {
    if paths.is_empty() {
        return Ok(Files { any: true, ..Files::default() });
    }
    let visit = Ids { seen: Mutex::default(), context };
    let walked = walk::walk(context, paths, walking, &visit);
    let seen = owned(visit.seen);
    if seen.files.is_empty() {
        let passed = walked.skipped.first().map(|remark| remark.text.as_str());
        let (what, rule) = match seen.in_memory {
            Some(path) => (path, "it is in memory (tmpfs): the kernel records nothing of such files"),
            None => (paths[0].clone(), passed.unwrap_or("there is no file")),
        };
        return Err(KernelError::refused("record", what, rule, "").into());
    }
    let mut inodes: Vec<u64> = seen.files.keys().map(|file| file.inode).collect();
    inodes.sort_unstable();
    inodes.dedup();
    let filter = match inodes.len() {
        1..=FILTERED => inodes.iter().map(|inode| format!("i_ino == {inode}")).collect::<Vec<_>>().join(" || "),
        _ => String::new(),
    };
    Ok(Files { names: seen.files, filter, any: false })
}

struct Ids<'a> {
    seen: Mutex<Seen>,
    context: Context<'a>,
}

impl Visit for Ids<'_> {
    type Worker = ();

    fn worker(&self) {}

    fn file(&self, (): &mut (), found: &FoundFile<'_>) {
        let path = found.path();
        let mut seen = lock(&self.seen);
        if residency::lives_in_memory(&found.file).unwrap_or(false) {
            seen.in_memory = Some(path);
            return;
        }
        let plain = id(found.stat.st_dev, found.stat.st_ino);
        let real = layer(self.context, &path).unwrap_or(plain);
        seen.files.insert(real, path);
    }
}

/// On an overlay the kernel tells of the file in the layer it comes from.
fn layer(context: Context<'_>, path: &Path) -> Option<FileId> {
    let full = path.canonicalize().ok()?;
    let mounted = mount::containing(context.root, &full).filter(|mounted| mounted.fs_type == "overlay")?;
    let below = full.strip_prefix(&mounted.at).ok()?;
    let option =
        |key: &str| mounted.super_options.split(',').find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    let (upper, lower) = (option("upperdir"), option("lowerdir").unwrap_or_default());
    let meta = upper.into_iter().chain(lower.split(':')).find_map(|dir| Path::new(dir).join(below).metadata().ok())?;
    Some(id(meta.dev(), meta.ino()))
}
