//! A group is found by any of its names, and watched: what `need` and `curve` share.

use std::ops::ControlFlow;

use ramline_evidence::GhostCurve;
use ramline_model::groups::{self, GroupTree};
use ramline_model::need;
use ramline_pagecache::returns::{self, FEWEST_RETURNS, WatchTime};
use ramline_snapshot::blocks::behind;

use super::zram::{COLD, Cold};
use crate::prelude::*;

/// What to watch, and how long.
pub struct Watching<'a> {
    /// Its name.
    pub group: &'a str,
    /// The command, for hints: `need redis`.
    pub command: &'a str,
    /// Exactly so long.
    pub span: Option<Duration>,
    /// Where the kernel has no programs for us, its counters are read for so long instead.
    pub may_be_blind: Option<Duration>,
    /// Its anonymous memory too.
    pub zram: bool,
}

/// What was seen.
pub struct Watched {
    /// All groups, with rates.
    pub tree: GroupTree,
    /// The group's place there.
    pub at: usize,
    /// The machine afterwards.
    pub after: Snapshot,
    /// What was made of it.
    pub need: need::Need,
}

/// Finds it, watches it, and reads its counters before and after.
pub fn watch(source: &Source, root: &Root, watching: &Watching<'_>) -> Result<Watched> {
    let want = Wanted { groups: true, meminfo: true, swaps: true, settings: true, ..Wanted::NOTHING };
    let before = source.snapshot(want)?;
    let tree = groups::from_snapshot(&before, None).ok_or_else(|| {
        Failure::usage("no control group with the memory controller was seen\n  try: ramline show cgroups".to_owned())
    })?;
    let path = watching.find(root, &tree)?;
    let dir = root.path(format!("{}{path}", tree.mount.trim_end_matches('/')));
    let group = tree.groups.iter().find(|group| group.path == path);
    let current = group.and_then(|group| group.current);
    signals::install();
    let cold = group.filter(|_| watching.zram).map(|group| Cold::begin(root, &dir, group)).transpose()?;
    let terminal = Terminal::new();
    let curve = watching.watch(root, &path, &dir, current.unwrap_or_default(), &terminal)?;
    let cold = cold.map(|cold| cold.end(root, current.unwrap_or_default())).transpose()?;
    drop(terminal);
    ensure!(!signals::interrupted(), "interrupted; nothing was changed");
    let after = source.snapshot(want)?;
    let window = Window::new(&before, &after)?;
    let tree = groups::from_snapshot(&after, Some(&window)).unwrap_or(tree);
    let gone = || Failure::usage(format!("the group {path} ended while it was watched\n  try: ramline show cgroups"));
    let at = tree.groups.iter().position(|group| group.path == path).ok_or_else(gone)?;
    let group = &tree.groups[at];
    // Held against the kernel's own count, lest a kernel whose structures are others be taken for a group that has enough.
    let counted = group.rates.and_then(|rates| rates.refaults_file).unwrap_or(0.0) * curve.watched.as_secs_f64();
    ensure!(
        watching.may_be_blind.is_some() || curve.pages_evicted > 0 || counted < FEWEST_RETURNS as f64,
        Failure::new(
            exit::KERNEL,
            format!(
                "the kernel counted {counted:.0} refaults of {path}, and none was seen: its structures are not understood\n  \
                 try: ramline show cgroups {path} --for 8s"
            )
        )
    );
    let device = curve.device.clone().unwrap_or_default();
    let seen = need::need(group, curve, after.machine.cpus);
    let blocks = || source.snapshot(Wanted { blocks: true, ..Wanted::NOTHING });
    let blocks = if seen.reads_ahead.is_some() { blocks()?.blocks.data().cloned() } else { None };
    let need = seen.with_disk(blocks.as_deref().and_then(|blocks| behind(blocks, &device)));
    let need = match &cold {
        Some(cold) => need.with_zram(cold),
        None => need,
    };
    Ok(Watched { tree, at, after, need })
}

impl Watching<'_> {
    /// What the group loses and reads again; blind, nothing.
    fn watch(&self, root: &Root, path: &str, dir: &Path, current: Bytes, terminal: &Terminal) -> Result<GhostCurve> {
        let fixed = self.may_be_blind.or(self.span);
        let usual = WatchTime { least: if self.zram { COLD } else { WatchTime::USUAL.least }, ..WatchTime::USUAL };
        let time = fixed.map_or(usual, |span| WatchTime { least: span, most: span });
        // Up to four times its present size is answered for; the watch ends earlier where the knee is found.
        let wanted = current.scale(3, 1).unwrap_or_default();
        let shown = ramline_view::escape(path);
        let begun = Instant::now();
        let watched = returns::watch(root, dir, time, wanted, |curve, passed| {
            let (evicted, returns) = (curve.pages_evicted, curve.returns);
            terminal.now(format!(
                "watching {shown}: {} s, {evicted} pages evicted, {returns} read again",
                passed.as_secs()
            ));
            match signals::interrupted() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let hint = format!("sudo ramline {}", self.command);
        match (watched, self.may_be_blind) {
            (Err(_), Some(span)) => {
                while begun.elapsed() < span && !signals::interrupted() {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(GhostCurve { watched: Nanos::from(begun.elapsed()), ..GhostCurve::default() })
            }
            (Err(error), None) if error.is_denied() => {
                let what = "only root may see what the kernel evicts (others need CAP_BPF and CAP_PERFMON)";
                Err(Failure::new(exit::PRIVILEGE, format!("{what}\n  try: {hint}")).into())
            }
            (other, _) => Ok(other.map_err(|error| error.or_hint(&hint))?),
        }
    }

    /// The path of the group: by name, as a service without its ending, or that of a process.
    fn find(&self, root: &Root, tree: &GroupTree) -> Result<String> {
        let by_name = |name: &str| groups::find(tree, name).map(|at| tree.groups[at].path.clone());
        let found = by_name(self.group).or_else(|error| by_name(&format!("{}.service", self.group)).map_err(|_| error));
        match (found, self.group.parse::<u32>()) {
            (Ok(path), _) => Ok(path),
            (Err(_), Ok(pid)) => Ok(ramline_kernel::cgroup::group_of(root, pid)?),
            (Err(error), Err(_)) => Err(Failure::usage(error.to_string()).into()),
        }
    }
}
