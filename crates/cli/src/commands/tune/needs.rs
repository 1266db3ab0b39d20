//! `ramline tune plan need:GROUP`: the service is watched as by `ramline need`, and what stands beside its unit is read.

use ramline_act::standing::text;
use ramline_advice::planning::{WatchedService, beside_unit};
use ramline_kernel::write::read_knob;
use ramline_snapshot::cgroup::Version;

use crate::commands::need::watched::{Watched, Watching, watch};
use crate::prelude::*;

/// Watches a group, 8 s or longer.
///
/// # Errors
/// It is not of this machine, no group goes by the name, or the kernel does not let us watch.
pub fn watched(source: &Source, group: &str) -> Result<WatchedService> {
    source.must_be_live("tune plan need:GROUP")?;
    let root = source.kernel_root()?;
    let command = format!("tune plan need:{}", ramline_units::quoted(group));
    let watching = Watching { group, command: &command, span: None, may_be_blind: None, zram: false };
    let Watched { tree, need, .. } = watch(source, &root, &watching)?;
    let need = need.with_command(&tree);
    let (has_directory, file) = match beside_unit(&need.group) {
        Some([directory, file]) => (root.path(&directory).is_dir(), text(&root, &file)?),
        None => (false, None),
    };
    let name = match tree.version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let path = format!("{}{}/{name}", tree.mount.trim_end_matches('/'), need.group.trim_end_matches('/'));
    let now = read_knob(&root.path(&path)).unwrap_or_default();
    Ok(WatchedService { need, has_directory, file, limit: (path, now) })
}
