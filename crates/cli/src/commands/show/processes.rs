//! `ramline show processes`.

use ramline_gather::processes::command_line;
use ramline_model::processes::{By, Filter};
use ramline_view::{ShowProcesses, SortBy};

use super::common::{Common, code};
use crate::prelude::*;

/// Who uses memory: by program, user, control group; page tables are walked only within a budget
#[derive(Debug, Clone, Args)]
pub struct Processes {
    /// Only these: ids, or words in the name of the process or its program
    #[arg(value_name = "PID|NAME")]
    these: Vec<String>,
    /// Only processes of this user, by name or number (repeatable)
    #[arg(long, value_name = "USER")]
    user: Vec<String>,
    /// Only processes with this in their name or their program's (repeatable)
    #[arg(long, value_name = "TEXT")]
    name: Vec<String>,
    /// What a row is [default: program; process where ids or --command are given]
    #[arg(long, value_enum, conflicts_with = "tree")]
    by: Option<Choice<By>>,
    /// Each process below its parent, with all that it has started
    #[arg(long)]
    tree: bool,
    /// With the command line of each process, as it gave it
    #[arg(long)]
    command: bool,
    /// With the share of a processor of each, between two looks (1 s apart, or --for)
    #[arg(long)]
    cpu: bool,
    /// Order of the rows
    #[arg(long, value_enum, default_value = "uses", conflicts_with = "tree")]
    sort: Choice<SortBy>,
    /// Also what the columns mean, whether the sums agree with the machine's, and what was read
    #[arg(long)]
    verbose: bool,
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
    Holds: "uses", "What it uses in RAM, each page counted once (PSS)";
    Rss: "rss", "What it maps and is in RAM, shared pages in each";
    Anon: "anon", "Anonymous memory";
    Shared: "shared", "Share of files and shared memory";
    Swap: "swap", "What is in swap";
    PageTables: "page-tables", "Page tables";
    Growth: "growth", "Growth between two looks";
    Cpu: "cpu", "Share of a processor between two looks";
    Count: "count", "Number of processes";
    Name: "name", "";
} also "uses": "holds", "uses": "pss", "uses": "mem");

impl Processes {
    /// Looks once.
    ///
    /// # Errors
    /// The source cannot be used; growth is asked of a capture.
    pub fn look(&self, common: Common, readings: &SourceReadings<'_>) -> Result<Shown> {
        match self.sort.0 {
            SortBy::Growth => readings.twice_for("growth")?,
            SortBy::Cpu => readings.twice_for("the share of a processor")?,
            _ if self.cpu => readings.twice_for("the share of a processor")?,
            _ => {}
        }
        let (before, seen) = readings.window(ShowProcesses::WANTED, self.walking())?;
        let window = before.as_deref().and_then(|before| Window::new(before, &seen).ok());
        let filter = self.filter();
        let model = ShowProcesses::new(&seen, window.as_ref(), self.by(&filter), self.sort.0, &filter);
        let format = common.format();
        let top = self.top.or((!format.is_json()).then_some(15));
        let mut model = model.top(top);
        if self.command {
            let root = readings.source.kernel_root()?;
            model.note_commands(|pid| command_line(&root, pid));
        }
        let code = if model.is_without_a_match() { exit::FAILED } else { code(&seen) };
        let depth = if self.verbose { Depth::All } else { Depth::Brief };
        format.shown(&model, code, |style| model.sheet().text(style, depth))
    }

    fn by(&self, filter: &Filter) -> By {
        let each = self.command || !filter.pids.is_empty();
        match self.by {
            _ if self.tree => By::Tree,
            Some(by) => by.0,
            None if each => By::Process,
            None => By::default(),
        }
    }

    fn filter(&self) -> Filter {
        let (pids, words): (Vec<_>, Vec<_>) = self.these.iter().partition(|word| word.parse::<u32>().is_ok());
        Filter {
            pids: pids.iter().filter_map(|word| word.parse().ok()).collect(),
            users: self.user.clone(),
            names: words.into_iter().chain(&self.name).cloned().collect(),
        }
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
