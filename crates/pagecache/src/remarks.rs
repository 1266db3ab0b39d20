//! What is to be said once for many files: a text, how many files it is true of, and one of them.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;

use ramline_snapshot::cache::{Name, Remark};

use crate::shared::lock;

/// The name of a path in a document.
pub fn name(path: &Path) -> Name {
    Name::new(path.as_os_str().as_bytes())
}

#[derive(Debug, Default)]
pub struct Remarks(Mutex<BTreeMap<String, (u64, Option<Name>)>>);

impl Remarks {
    /// Adds files to a remark; the first example stays.
    pub fn add(&self, text: &str, files: u64, example: Option<&Path>) {
        if files == 0 {
            return;
        }
        let mut all = lock(&self.0);
        let entry = all.entry(text.to_owned()).or_default();
        entry.0 += files;
        if entry.1.is_none() {
            entry.1 = example.map(name);
        }
    }

    /// All of them, those true of most files first.
    pub fn take(&self) -> Vec<Remark> {
        let all = std::mem::take(&mut *lock(&self.0));
        let mut out: Vec<Remark> =
            all.into_iter().map(|(text, (files, example))| Remark { text, files, example }).collect();
        ramline_units::sort_by_key(&mut out, |remark| std::cmp::Reverse(remark.files));
        out
    }
}
