//! What is locked, how it follows what a walk has seen, and why a file could not be locked, with the numbers.

use std::collections::BTreeMap;

use ramline_kernel::pin::Locked;
use ramline_kernel::write;
use ramline_snapshot::cache::{Pinned, WarmedFile};

use super::WalkedFile;
use crate::prelude::*;

/// So much is read in at a time, so that a signal is heard.
const WINDOW: u64 = 64 << 20;
/// Files that are left out are named up to so many.
const NAMED: usize = 20;

struct Held {
    key: FileKey,
    length: u64,
    locked: Locked,
}

pub struct Table<'a> {
    context: Context<'a>,
    budget: Bytes,
    held: HashMap<PathBuf, Held>,
    left_out: BTreeMap<PathBuf, String>,
    counts: Pinned,
    first: bool,
}

impl<'a> Table<'a> {
    pub fn new(context: Context<'a>, budget: Bytes) -> Self {
        let (held, left_out) = (HashMap::new(), BTreeMap::new());
        Table { context, budget, held, left_out, counts: Pinned::default(), first: true }
    }

    fn sum(&self) -> u64 {
        self.held.values().map(|held| held.length).sum()
    }

    /// Locks what is new or changed, lets go what is gone.
    pub fn follow(&mut self, mut seen: Vec<WalkedFile>) {
        // Small ones first: most files for the budget.
        ramline_units::sort_by(&mut seen, |a, b| a.length.cmp(&b.length).then_with(|| a.path.cmp(&b.path)));
        let now: HashMap<&Path, &WalkedFile> = seen.iter().map(|seen| (seen.path.as_path(), seen)).collect();
        let before = self.held.len();
        self.held.retain(|path, _| now.contains_key(path.as_path()));
        self.counts.gone += u64::try_from(before - self.held.len()).unwrap_or(0);
        self.left_out.retain(|path, _| now.contains_key(path.as_path()));
        drop(now);
        for file in &seen {
            if signals::interrupted() {
                return;
            }
            self.one(file);
        }
        self.first = false;
    }

    fn one(&mut self, file: &WalkedFile) {
        let held = self.held.get(&file.path).map(|held| (held.key, held.length));
        let new = match held {
            Some((key, length)) if key == file.key && length == file.length => return,
            Some((key, _)) if key == file.key => false,
            _ => true,
        };
        let more = file.length.saturating_sub(held.map_or(0, |(_, length)| length));
        if self.sum().saturating_add(more) > self.budget.0 {
            let (length, sum) = (Bytes(file.length), Bytes(self.sum()));
            let text = format!("its {length} are beyond the budget of {}, {sum} are locked", self.budget);
            // What is locked of it stays, if it is the same file.
            if new {
                self.held.remove(&file.path);
            }
            return self.leave_out(file, text);
        }
        let done = if new { self.lock(file) } else { self.resize(file) };
        match done {
            Ok(()) => {
                self.left_out.remove(&file.path);
                match held {
                    Some(_) if new => self.counts.replaced += 1,
                    Some(_) => self.counts.resized += 1,
                    None if !self.first => self.counts.added += 1,
                    None => {}
                }
            }
            Err(error) => {
                let text = explain(self.context.root, &error, file.length, self.sum(), self.held.len());
                self.leave_out(file, text);
            }
        }
    }

    fn leave_out(&mut self, file: &WalkedFile, text: String) {
        if self.left_out.insert(file.path.clone(), text.clone()).is_none() && self.left_out.len() <= NAMED {
            (self.context.tell)(&KernelError::refused("pin", &file.path, text, ""));
        }
    }

    /// The new file first, then the old one goes.
    fn lock(&mut self, file: &WalkedFile) -> Result<(), KernelError> {
        // Another one has come in between: the next walk sees it.
        let Some(open) = evict::reopen(&file.path, file.key) else { return Ok(()) };
        let locked = Locked::new(&open, &file.path, file.length)?;
        read_in(&locked, &file.path, 0, file.length)?;
        self.held.insert(file.path.clone(), Held { key: file.key, length: file.length, locked });
        Ok(())
    }

    fn resize(&mut self, file: &WalkedFile) -> Result<(), KernelError> {
        let Some(held) = self.held.get_mut(&file.path) else { return Ok(()) };
        held.locked.resize(&file.path, file.length)?;
        let from = held.length.min(file.length);
        held.length = file.length;
        read_in(&held.locked, &file.path, from, file.length)
    }

    pub fn state(&self) -> Pinned {
        let named = self.left_out.iter().take(NAMED);
        let named =
            named.map(|(path, text)| WarmedFile { name: name(path), text: text.clone(), ..WarmedFile::default() });
        Pinned {
            files: u64::try_from(self.held.len()).unwrap_or(0),
            pinned: Bytes(self.sum()),
            budget: self.budget,
            left_out: u64::try_from(self.left_out.len()).unwrap_or(0),
            left_out_files: named.collect(),
            ..self.counts.clone()
        }
    }
}

fn read_in(locked: &Locked, path: &Path, from: u64, to: u64) -> Result<(), KernelError> {
    let mut at = from;
    while at < to && !signals::interrupted() {
        let length = WINDOW.min(to - at);
        match locked.read_in(path, at, length) {
            // It became shorter: the next walk sees it.
            Err(error) if error.errno() == Some(FAULT) => return Ok(()),
            other => other?,
        }
        at += length;
    }
    Ok(())
}

/// EFAULT: no file behind the page.
const FAULT: i32 = 14;

/// ENOMEM and EAGAIN: a limit.
const LIMITS: [i32; 2] = [12, 11];

/// In words; `locked` bytes in `files` mappings are locked already.
fn explain(root: &Root, error: &KernelError, length: u64, locked: u64, files: usize) -> String {
    if !error.is_denied() && !error.errno().is_some_and(|errno| LIMITS.contains(&errno)) {
        return format!("{}: {}", error.operation, error.cause);
    }
    if error.operation == "map" {
        let most =
            write::read_knob(&write::vm_setting(root, "max_map_count")).unwrap_or_else(|| "not known".to_owned());
        return format!(
            "no more mappings: {files} files are mapped, one mapping each, and vm.max_map_count is {most} (try: sysctl vm.max_map_count)"
        );
    }
    let limit = Limited::LockedMemory.now();
    let limit = limit.map_or_else(|| "unlimited".to_owned(), |limit| Bytes(limit).to_string());
    format!(
        "RLIMIT_MEMLOCK is {limit}, {} are locked already and this file needs {} (try: as root, ulimit -l, or LimitMEMLOCK= in a service)",
        Bytes(locked),
        Bytes(length)
    )
}

/// Nothing is locked.
pub fn nothing(names: &[PathBuf], state: &Pinned) -> KernelError {
    let object = names.first().map(|path| path.display().to_string()).unwrap_or_default();
    let rule = if state.left_out > 0 { "none of the files could be locked" } else { "there is no file with contents" };
    KernelError::refused("pin", object, rule, format!("{} left out", state.left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn limits_are_told_with_their_numbers() {
        let root = Root::live();
        let of = |operation: &str, errno| {
            let error = KernelError::io(operation, "/x", Error::from_raw_os_error(errno));
            explain(&root, &error, 4096, 8192, 2)
        };
        assert!(of("lock", 12).contains("8.0 KiB are locked already and this file needs 4.0 KiB"));
        assert!(of("map", 12).contains("2 files are mapped"));
        assert!(of("lock", 5).starts_with("lock: "));
    }
}
