//! `ramline need`.

mod trial;
pub mod watched;
mod zram;

use self::watched::{Watched, Watching};
use crate::prelude::*;

/// How much memory a control group needs, by watching what it loses and reads again
///
/// Without --try nothing of the group is changed: for 8 s, or longer while the answer is not sure, the kernel reports which of its pages are evicted from
/// the page cache and which return. With --try its size is changed, measured and put back. Needs root; watching alone, CAP_BPF and CAP_PERFMON.
#[derive(Debug, Args)]
pub struct Need {
    /// A control group: its path, the last part of it, a service, the id of a container, or of a process
    #[arg(value_name = "GROUP")]
    group: String,
    /// Watch for exactly this long, or try for at most so long [default: 8s, up to 110s while the answer is not sure; with --try 2min]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    /// Change its size and measure: at its limit, raise that for a while; else make it smaller by 1.5 % a second until it waits 2 % of the time
    #[arg(long = "try")]
    try_it: bool,
    /// Say whether zram would help too: the accessed bits of its anonymous memory are cleared once, and read after 10 s
    #[arg(long, conflicts_with = "try_it")]
    zram: bool,
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
        let command = format!("need {}", ramline_units::quoted(&self.group));
        let may_be_blind = self.try_it.then_some(trial::FIRST_LOOK);
        let watching =
            Watching { group: &self.group, command: &command, span: self.span, may_be_blind, zram: self.zram };
        let Watched { tree, at, after, need: seen } = watched::watch(source, &root, &watching)?;
        let seen = match &lock {
            Some(lock) => self.changed(&trial::At { root: &root, tree: &tree, at, lock }, seen, &after)?,
            None => seen,
        };
        self.format.versioned(&seen.with_command(&tree))?;
        Ok(exit::DONE)
    }
}
