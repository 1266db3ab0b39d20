//! Settings below `vm.`: a line each.

mod dirty;
mod page_cluster;
mod swappiness;
mod vfs_cache;
mod watermarks;

use ramline_plan::PlanLine;

use super::desk::Desk;

/// One setting; `None` where it was not seen.
type Line = fn(&mut Desk<'_>) -> Option<PlanLine>;

const LINES: [Line; 6] =
    [swappiness::line, page_cluster::line, watermarks::scale, watermarks::min_free, dirty::line, vfs_cache::line];

/// Plans them.
pub(super) fn plan(desk: &mut Desk<'_>) {
    for line in LINES {
        let line = line(desk);
        desk.lines.extend(line);
    }
}
