//! In a memory control group of our own, version 1 or 2.

use std::ffi::OsString;
use std::time::Instant;

use ramline_act::{ActError, Run, RunLock};
use ramline_kernel::cgroup::{Group, Hierarchy};
use ramline_kernel::{Root, memory_room};
use ramline_snapshot::cache::{Apart, Ran};
use ramline_units::{Bytes, Limit};

use super::{RunOptions, command, ran, wait};

/// The limit is written again when it is off by so much.
const STEP: u64 = 16 << 20;

pub fn run(
    root: &Root,
    lock: RunLock,
    argv: &[OsString],
    options: RunOptions,
    allowance: Bytes,
) -> Result<Ran, ActError> {
    let mut steps = Run::begin(&lock, root, options.crash_after)?;
    drop(lock);
    let hierarchy = Hierarchy::detect(root)?;
    let group = steps.make_cgroup(&hierarchy, 0)?;
    let limit = options.limit.unwrap_or(allowance);
    group.set_memory_limit(Limit::At(limit))?;
    let begin = Instant::now();
    let child = steps.spawn_into(Some(&group), &mut command(argv)?)?;
    steps.let_others_run();
    let mut follow = Follow { root, group: &group, allowance, now: limit, most: limit };
    let ended = wait(&child, || {
        if options.limit.is_none() {
            follow.look();
        }
    })?;
    let raised = options.limit.is_none().then_some(follow.most);
    let mut out = Ran { apart: Apart::Group, limit, raised_to: raised, ..ran(argv, begin, ended, options) };
    out.ended = u64::try_from(group.pids()?.len()).unwrap_or(0);
    group.kill_all()?;
    let stat = group.stat()?;
    out.peak = stat.peak;
    out.oom_kills = stat.oom_kills.unwrap_or(0);
    out.cached = stat.file;
    if !options.keep {
        group.give_up_cache()?;
    }
    out.left = group.stat()?.file;
    steps.finish()?;
    Ok(out)
}

/// Keeps the limit so much above the command's own memory.
struct Follow<'a> {
    root: &'a Root,
    group: &'a Group,
    allowance: Bytes,
    now: Bytes,
    most: Bytes,
}

impl Follow<'_> {
    fn look(&mut self) {
        let Ok(stat) = self.group.stat() else { return };
        let own = [stat.anon, stat.shmem, stat.kernel].into_iter().flatten().fold(Bytes::ZERO, |sum, part| sum + part);
        let want = own + self.allowance;
        if want.0.abs_diff(self.now.0) < STEP {
            return;
        }
        // What others need is not given away: then the kernel takes back this command's pages, and ends it when there are none.
        let more = want.saturating_sub(self.now);
        if more > Bytes::ZERO && memory_room(self.root).is_ok_and(|room| room < more) {
            return;
        }
        // Where the kernel cannot bring it below the new limit at once, the next look tries again.
        if self.group.set_memory_limit(Limit::At(want)).is_ok() {
            self.now = want;
            self.most = self.most.max(want);
        }
    }
}
