//! vm.vfs_cache_pressure: at 0 names and inodes are never given back, which ends in a kill.

use ramline_plan::PlanLine;

use super::super::desk::{Desk, Setting};
use super::super::line::{Draft, reason};

const TARGET: &str = "vm.vfs_cache_pressure";
/// The kernel's default.
const DEFAULT: i64 = 100;

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let now = desk.inputs.snapshot.settings.data()?.vfs_cache_pressure?;
    let draft = |why: &str| {
        let source = "/proc/sys/vm/vfs_cache_pressure";
        Draft::new(TARGET, Some(now.to_string()), reason(why, source)).set_by(desk.set_by(TARGET))
    };
    if now > 0 {
        return Some(
            draft("names and inodes of files are given back under pressure; it does not touch what files hold").keep(),
        );
    }
    let draft = draft(
        "at 0 names and inodes of files are never given back: a walk over many files can fill RAM until a process is killed",
    );
    let steps = desk.set(&[Setting { name: "vfs_cache_pressure", now, then: DEFAULT, instead: None }]);
    let risk = "after pressure a walk over many files reads their inodes again".to_owned();
    Some(draft.change(DEFAULT.to_string(), "such a walk ends in reclaim instead".to_owned(), risk, steps))
}
