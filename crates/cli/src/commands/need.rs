//! `ramline need`.

mod trial;

use std::ops::ControlFlow;

use ramline_evidence::GhostCurve;
use ramline_model::groups::{self, GroupTree};
use ramline_model::need;
use ramline_pagecache::returns::{self, FEWEST_RETURNS, WatchTime};
use ramline_snapshot::blocks::behind;

use crate::prelude::*;

/// How much memory a control group needs, by watching what it loses and reads again
///
/// Without --try nothing of the group is changed: for 8 s, or longer while the answer is not sure, the kernel reports which of its pages are evicted from
/// the page cache and which return. With --try its size is changed, which is exact, and put back. Needs root; watching alone, CAP_BPF and CAP_PERFMON.
#[derive(Debug, Args)]
pub struct Need {
    /// A control group: its path, the last part of it, a service, the id of a container, or of a process
    #[arg(value_name = "GROUP")]
    group: String,
    /// Watch for exactly this long, or try for at most so long [default: 8s, up to 110s while the answer is not sure; with --try 2min]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    /// Change its size and measure: at its limit that is raised for a while, else it is made smaller by 1.5 % a second until it loses 2 % of its time
    #[arg(long = "try")]
    try_it: bool,
    /// Set the answer as its limit, measure what it misses there, and put the old limit back
    #[arg(long)]
    verify: bool,
    /// With --verify: leave the new limit in place until the group ends
    #[arg(long, requires = "verify")]
    keep: bool,
    #[command(flatten)]
    format: Format,
}

impl Need {
    /// Runs the command.
    ///
    /// # Errors
    /// No group goes by the name, it ends while it is watched, or the kernel does not let us watch.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("need GROUP")?;
        let root = source.kernel_root()?;
        // Taken first: a second one is refused before it has watched.
        let lock = if self.try_it || self.verify { Some(state::lock(&root)?) } else { None };
        let want = Wanted { groups: true, meminfo: true, swaps: true, settings: true, ..Wanted::NOTHING };
        let before = source.snapshot(want)?;
        let tree = groups::of(&before, None).ok_or_else(|| {
            Failure::usage(
                "no control group with the memory controller was seen\n  try: ramline show cgroups".to_owned(),
            )
        })?;
        let path = self.find(&root, &tree)?;
        let dir = root.path(format!("{}{path}", tree.mount.trim_end_matches('/')));
        let ids = ramline_kernel::cgroup::ids_below(&dir)?;
        let current = tree.groups.iter().find(|group| group.path == path).and_then(|group| group.current);
        signals::install();
        let terminal = Terminal::new();
        let curve = self.watch(&root, &path, &ids, current.unwrap_or_default(), &terminal)?;
        drop(terminal);
        ensure!(!signals::interrupted(), "interrupted; nothing was changed");
        let after = source.snapshot(want)?;
        let window = Window::new(&before, &after)?;
        let tree = groups::of(&after, Some(&window)).unwrap_or(tree);
        let gone =
            || Failure::usage(format!("the group {path} ended while it was watched\n  try: ramline show cgroups"));
        let at = tree.groups.iter().position(|group| group.path == path).ok_or_else(gone)?;
        let group = &tree.groups[at];
        // Held against the kernel's own count, lest a kernel whose structures are others be taken for a group that has enough.
        let counted = group.rates.and_then(|rates| rates.refaults_file).unwrap_or(0.0) * curve.watched.as_secs_f64();
        ensure!(
            self.try_it || curve.pages_evicted > 0 || counted < FEWEST_RETURNS as f64,
            Failure::new(
                exit::KERNEL,
                format!(
                    "the kernel counted {counted:.0} refaults of {path}, and none was seen: its structures are not understood\n  \
                     try: ramline show cgroups {path} --for 8s"
                )
            )
        );
        let device = curve.device.clone().unwrap_or_default();
        let seen = need::need(group, curve);
        let blocks = || source.snapshot(Wanted { blocks: true, ..Wanted::NOTHING });
        let blocks = if seen.reads_ahead.is_some() { blocks()?.blocks.data().cloned() } else { None };
        let seen = seen.with_disk(blocks.as_deref().and_then(|blocks| behind(blocks, &device)));
        let seen = match &lock {
            Some(lock) => self.changed(&trial::At { root: &root, tree: &tree, at, lock }, seen, &after)?,
            None => seen,
        };
        self.format.versioned(&seen.with_command(&tree))?;
        Ok(exit::DONE)
    }

    /// What the group loses and reads again; with --try, where the kernel has no programs for us, nothing.
    fn watch(&self, root: &Root, path: &str, ids: &[u64], current: Bytes, terminal: &Terminal) -> Result<GhostCurve> {
        let fixed = if self.try_it { Some(trial::FIRST_LOOK) } else { self.span };
        let time = fixed.map_or(WatchTime::USUAL, |span| WatchTime { least: span, most: span });
        // Up to four times its present size is answered for; the watch ends earlier where the knee is found.
        let wanted = current.scale(3, 1).unwrap_or_default();
        let shown = ramline_view::escape(path);
        let begun = Instant::now();
        let watched = returns::watch(root, ids, time, wanted, |curve, passed| {
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
        match watched {
            Err(_) if self.try_it => {
                while begun.elapsed() < trial::FIRST_LOOK && !signals::interrupted() {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Ok(GhostCurve { watched: Nanos::from(begun.elapsed()), ..GhostCurve::default() })
            }
            Err(error) if error.is_denied() => {
                let what = "only root may see what the kernel evicts (others need CAP_BPF and CAP_PERFMON)";
                Err(Failure::new(exit::PRIVILEGE, format!("{what}\n  try: sudo ramline need {shown}")).into())
            }
            other => Ok(other.map_err(|error| error.or_hint(&format!("sudo ramline need {shown}")))?),
        }
    }

    /// The path of the group: by name, as a service without its ending, or that of a process.
    fn find(&self, root: &Root, tree: &GroupTree) -> Result<String> {
        let name = self.group.as_str();
        let by_name = |name: &str| groups::find(tree, name).map(|at| tree.groups[at].path.clone());
        let found = by_name(name).or_else(|error| by_name(&format!("{name}.service")).map_err(|_| error));
        match (found, name.parse::<u32>()) {
            (Ok(path), _) => Ok(path),
            (Err(_), Ok(pid)) => Ok(ramline_kernel::cgroup::group_of(root, pid)?),
            (Err(error), Err(_)) => Err(Failure::usage(error.to_string()).into()),
        }
    }
}
