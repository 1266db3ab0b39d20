//! A captured tree: the texts that a reader has on record, and `meta.json` beside them.

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Component;

use ramline_kernel::output::Tree;
use ramline_kernel::{KernelError, Result};
use ramline_snapshot::Snapshot;

use super::meta::Meta;
use super::reader::Reader;
use crate::prelude::*;

const TRY: &str = "ramline snapshot --tree NEW_DIR";
/// What stands at the top of a captured tree.
pub const TOP: &[&str] = &["dev", "etc", "lib", "meta.json", "proc", "run", "sys", "usr", "var"];

/// Writes everything a reader has recorded as a tree, which then takes its place.
pub fn write_tree(reader: &Reader<'_>, snapshot: &Snapshot, tree: Tree) -> Result<()> {
    // Named as the reader knows it, not as it is called while it is filled.
    let place = tree.path().to_owned();
    let failed = |e: io::Error| KernelError::io("write the captured tree", &place, e).or_hint(TRY);
    let make = |path: &Path| fs::DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(failed);
    let staged = tree.dir();
    let mut denied = Vec::new();
    for (path, text) in reader.recorded() {
        let Some(text) = text else {
            denied.push(path);
            continue;
        };
        let below = Path::new(path.trim_start_matches('/'));
        // A tree that is captured again may name what it likes; nothing is written beside it.
        if !below.components().all(|part| matches!(part, Component::Normal(_))) {
            continue;
        }
        let full = staged.join(below);
        if let Some(parent) = full.parent() {
            make(parent)?;
        }
        write_new(&full, text.as_bytes()).map_err(failed)?;
    }
    let text = ramline_units::json::pretty(&Meta::from_snapshot(snapshot, denied)).map_err(|e| failed(e.into()))?;
    write_new(&staged.join("meta.json"), (text + "\n").as_bytes()).map_err(failed)?;
    tree.place().map_err(|error| error.or_hint(TRY))
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text)
}
