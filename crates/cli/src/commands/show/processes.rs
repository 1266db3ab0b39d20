//! `ramline show processes`.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use ramline_kernel::gather::Walking;
use ramline_model::processes::By;
use ramline_snapshot::{Wanted, Window};
use ramline_units::Nanos;
use ramline_view::{ShowProcesses, SortBy};

use super::{Common, code};
use crate::choice::{Choice, choices};
use crate::duration;
use crate::source::Source;

/// Who holds memory: by program, user, control group; page tables are walked only within a budget
#[derive(Debug, Clone, Args)]
pub struct Processes {
    /// What a row is
    #[arg(long, value_enum, default_value = "program", conflicts_with = "tree")]
    by: Choice<By>,
    /// Each process below its parent, with all that it has started
    #[arg(long)]
    tree: bool,
    /// Order of the rows
    #[arg(long, value_enum, default_value = "holds", conflicts_with = "tree")]
    sort: Choice<SortBy>,
    /// Rows to show (default: 15 in text, all in JSON)
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Time for walks of page tables, added up over threads; a walk makes the process wait that maps or unmaps memory
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "250ms")]
    budget: Duration,
    /// Walk every process, however large, without a budget; of many alike forks, eight
    #[arg(long, conflicts_with = "budget")]
    deep: bool,
    /// Walk every process, all forks too
    #[arg(long, conflicts_with_all = ["budget", "deep", "cheap"])]
    every: bool,
    /// Walk none
    #[arg(long, conflicts_with_all = ["budget", "deep"])]
    cheap: bool,
}

choices!(By {
    Program: "program", "";
    User: "user", "";
    Cgroup: "cgroup", "";
    Container: "container", "";
    Service: "service", "";
    Process: "process", "";
} without Tree);

choices!(SortBy {
    Holds: "holds", "What it holds in RAM";
    Anon: "anon", "Anonymous memory";
    Shared: "shared", "Share of files and shared memory";
    Swap: "swap", "What lies in swap";
    PageTables: "page-tables", "Page tables";
    Growth: "growth", "Growth (with --for)";
    Count: "count", "Number of processes";
    Name: "name", "";
});

impl Processes {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, common: Common, source: &Source) -> Result<u8> {
        let want = Wanted { meminfo: true, processes: true, swaps: true, zram: true, ..Wanted::NOTHING };
        let (before, seen) = source.window_walking(want, common.span, self.walking())?;
        let window = before.as_ref().and_then(|before| Window::new(before, &seen).ok());
        let by = if self.tree { By::Tree } else { self.by.0 };
        let model = ShowProcesses::new(&seen, window.as_ref(), by, self.sort.0);
        let top = self.top.or((!common.json).then_some(15));
        common.format().print(&model.top(top), ShowProcesses::text)?;
        Ok(code(&seen))
    }

    fn walking(&self) -> Walking {
        let budget = u64::try_from(self.budget.as_nanos()).unwrap_or(u64::MAX);
        match (self.every, self.deep, self.cheap) {
            (true, _, _) => Walking::Every,
            (_, true, _) => Walking::Deep,
            (_, _, true) => Walking::Never,
            _ => Walking::Within(Nanos(budget)),
        }
    }
}
