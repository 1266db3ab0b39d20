//! `ramline show maps`.

use ramline_gather::maps::{self, Request, Target};
use ramline_measure::reread;
use ramline_model::maps::{Mapped, MapsOptions, Sort, readable};
use ramline_view::ShowMaps;

use super::common::Common;
use crate::prelude::*;

/// Mapped files by address range: code apart from data, who shares them, what re-reading them would cost
///
/// Without a process: the files of all processes that may be seen, by what the page cache holds of them, within a budget. For
/// one process, or with --deep, page tables are walked: exact, but the kernel holds the process's lock on its mappings while
/// it prints each piece, so that a process with many ranges is slowed down.
#[derive(Debug, Clone, Args)]
pub struct Maps {
    /// One process: its id, or its name where no other has the same
    #[arg(value_name = "PID|NAME", conflicts_with_all = ["cgroup", "all"])]
    process: Option<String>,
    /// The processes of a control group and of the groups below it
    #[arg(long, value_name = "GROUP", conflicts_with = "all")]
    cgroup: Option<String>,
    /// All processes (the default)
    #[arg(long)]
    all: bool,
    /// Walk the page tables of every process, without a budget
    #[arg(long, conflicts_with = "budget")]
    deep: bool,
    /// Begin no new process or file after this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Do not measure what reading again costs on this disk (300 ms of direct reads)
    #[arg(long)]
    no_measure: bool,
    /// Files to print; --json prints all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Order of the files
    #[arg(long, value_enum, default_value = "resident")]
    sort: Choice<Sort>,
    /// Executable ranges alone
    #[arg(long)]
    code_only: bool,
    /// Also list every address range
    #[arg(long)]
    ranges: bool,
}

choices!(Sort {
    Resident: "resident", "";
    Size: "size", "";
    Processes: "processes", "";
    Private: "private", "";
    Reread: "reread", "";
    Name: "name", "";
});

impl Maps {
    /// Looks once.
    ///
    /// # Errors
    /// The source cannot be used; the process or group asked for cannot be shown.
    pub fn look(&self, common: Common, readings: &SourceReadings<'_>) -> Result<Shown> {
        let source = readings.source;
        let why =
            "a snapshot holds no mappings: reading them is too dear to do unasked\n  try: ramline show maps --json";
        ensure!(
            matches!(source.kind(), SourceKind::Live | SourceKind::Tree(_)),
            Failure::usage(format!("--snapshot: {why}"))
        );
        let root = source.kernel_root()?;
        let seen = maps::read(&root, &self.request(&root)?)?;
        let mapped = Mapped::from_maps(&seen, &self.options());
        let speed =
            (!self.no_measure && source.is_live()).then(|| reread::measure(&root, &readable(&seen, &mapped), 256));
        let shown = ShowMaps::new(mapped, self.top, speed.map(|s| s.map_err(|error| error.to_string())));
        let code = if shown.mapped.missed.malformed > 0 { exit::PARTLY } else { exit::DONE };
        common.format().shown(&shown, code, |style| shown.text(style))
    }

    fn request(&self, root: &Root) -> Result<Request> {
        let target = match (&self.process, &self.cgroup) {
            (Some(process), _) => Target::Process(whom::one(root, process, "ramline show maps")?),
            (None, Some(group)) => Target::Group(group.clone()),
            (None, None) => Target::All,
        };
        let mut request = Request::for_target(target);
        if self.deep {
            (request.walk, request.budget) = (true, None);
        }
        if self.budget.is_some() {
            request.budget = self.budget;
        }
        Ok(request)
    }

    fn options(&self) -> MapsOptions {
        MapsOptions { sort: self.sort.0, code_only: self.code_only, ranges: self.ranges }
    }
}
