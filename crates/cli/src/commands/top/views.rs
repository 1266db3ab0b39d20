//! The views of `top`: a table, in the order of their numbers.

use ramline_advice::Inputs;
use ramline_live::View;
use ramline_model::groups::{Selection, Sort};
use ramline_model::processes::{By, Filter};
use ramline_view::sheet::Sheet;
use ramline_view::top::Overview;
use ramline_view::{ShowCgroups, ShowPressure, ShowProcesses, ShowSwap, ShowTmpfs, ShowZram, SortBy};

use crate::prelude::*;

/// What a view shows, but for the overview and the files of the page cache.
#[derive(Clone, Copy)]
pub struct Topic {
    /// What it looks at.
    pub wanted: Wanted,
    /// It costs so much that it is not read at every refresh.
    pub is_costly: bool,
    /// How much of it is shown.
    pub depth: Depth,
    /// The sheet of what was seen, in an order, of what was entered.
    pub sheet: fn(&Snapshot, Option<&Window<'_>>, usize, &[String]) -> Sheet,
}

/// The place of the overview,
pub const OVERVIEW: usize = 0;
/// and of the files.
pub const FILES: usize = 3;

const PROCESS_SORTS: [SortBy; 8] = [
    SortBy::Holds,
    SortBy::Growth,
    SortBy::Swap,
    SortBy::Anon,
    SortBy::Rss,
    SortBy::PageTables,
    SortBy::Cpu,
    SortBy::Count,
];

const GROUP_SORTS: [Sort; 8] =
    [Sort::Charged, Sort::Growth, Sort::Pressure, Sort::Anon, Sort::Cache, Sort::Swap, Sort::Reclaimable, Sort::Kills];

/// The views.
pub const VIEWS: &[View] = &[
    View { name: "overview", sorts: &[], enters: 0 },
    View {
        name: "programs",
        sorts: &["use", "growth", "swap", "anonymous", "rss", "page tables", "CPU", "number"],
        enters: 1,
    },
    View {
        name: "groups",
        sorts: &["charge", "growth", "pressure", "anon", "cache", "swap", "freeable", "kills"],
        enters: 64,
    },
    View { name: "files", sorts: &[], enters: 0 },
    View { name: "evictors", sorts: &[], enters: 0 },
    View { name: "pressure", sorts: &[], enters: 0 },
    View { name: "swap", sorts: &[], enters: 0 },
    View { name: "zram", sorts: &[], enters: 0 },
    View { name: "shm", sorts: &[], enters: 0 },
];

/// What the view at this place shows.
pub fn topic(view: usize) -> Option<Topic> {
    let cheap = |wanted, depth, sheet| Some(Topic { wanted, is_costly: false, depth, sheet });
    let costly = |wanted, sheet| Some(Topic { wanted, is_costly: true, depth: Depth::Brief, sheet });
    match view {
        1 => costly(ShowProcesses::WANTED, processes),
        2 => costly(ShowCgroups::WANTED, groups),
        4 => cheap(Wanted { evictors: true, ..Overview::WANTED }, Depth::All, evictors),
        5 => cheap(ShowPressure::WANTED, Depth::All, |seen, window, _, _| ShowPressure::new(seen, window).sheet()),
        6 => cheap(ShowSwap::WANTED, Depth::All, |seen, window, _, _| ShowSwap::new(seen, window).sheet()),
        7 => cheap(ShowZram::WANTED, Depth::All, |seen, _, _, _| ShowZram::new(seen).sheet()),
        8 => costly(Wanted { dirs: false, ..ShowTmpfs::WANTED }, |seen, _, _, _| ShowTmpfs::new(seen).sheet()),
        _ => None,
    }
}

/// What the heads of a view's columns mean there: names that other screens have too, by their paths in the JSON of `show`.
const NUMBERS: &[(usize, &[(&str, &str)])] = &[
    (
        1,
        &[
            ("uses", "who.rows[].holds.value"),
            ("between", "who.rows[].holds.low"),
            ("anonymous", "who.rows[].anon"),
            ("shared", "who.rows[].shared"),
            ("rss", "who.rows[].rss"),
            ("own", "who.rows[].own"),
            ("swap", "who.rows[].swap"),
            ("costs", "who.rows[].swap_costs.value"),
            ("tables", "who.rows[].page_tables"),
            ("growth", "who.rows[].growth"),
            ("CPU", "who.rows[].cpu"),
            ("processes", "who.rows[].processes"),
        ],
    ),
    (
        2,
        &[
            ("charged", "shown.groups[].current"),
            ("itself", "shown.groups[].own"),
            ("anon", "shown.groups[].parts[].bytes"),
            ("cache", "shown.groups[].parts[].bytes"),
            ("shmem", "shown.groups[].parts[].bytes"),
            ("kernel", "shown.groups[].parts[].bytes"),
            ("freeable", "shown.groups[].reclaim.now"),
            ("swap", "shown.groups[].swap"),
            ("limit", "shown.groups[].bound.max"),
        ],
    ),
    (
        6,
        &[
            ("uses", "swap.areas[].used"),
            ("size", "swap.areas[].size"),
            ("share", "swap.areas[].share"),
            ("priority", "swap.areas[].priority"),
            ("turn", "swap.areas[].turn"),
        ],
    ),
];

/// The path of a number of a view, by the head of its column.
pub fn number(view: usize, head: &str) -> Option<&'static str> {
    let (_, numbers) = NUMBERS.iter().find(|(at, _)| *at == view)?;
    numbers.iter().find(|(known, _)| *known == head).map(|(_, path)| *path)
}

/// The topic of a view.
pub fn about(view: usize) -> &'static str {
    const TOPICS: [&str; 9] = [
        "used",
        "rss-pss",
        "cgroup-memory",
        "page-cache",
        "evictors",
        "pressure",
        "swap-in-use",
        "zram-ratio",
        "shmem",
    ];
    TOPICS.get(view).copied().unwrap_or("used")
}

fn processes(seen: &Snapshot, window: Option<&Window<'_>>, sort: usize, entered: &[String]) -> Sheet {
    let sort = PROCESS_SORTS.get(sort).copied().unwrap_or_default();
    let (by, filter) = match (entered.first(), seen.processes.data()) {
        (Some(program), Some(all)) => (By::Process, Filter::program(all, program)),
        _ => (By::Program, Filter::default()),
    };
    ShowProcesses::new(seen, window, by, sort, &filter).sheet()
}

fn groups(seen: &Snapshot, window: Option<&Window<'_>>, sort: usize, entered: &[String]) -> Sheet {
    let sort = GROUP_SORTS.get(sort).copied().unwrap_or_default();
    // What grows or waits is looked for, and stands first wherever it is.
    let flat = !matches!(sort, Sort::Charged);
    let selection = Selection { sort, top: None, depth: None, flat };
    let one = entered.last().and_then(|path| ShowCgroups::one(seen, window, selection, path).ok());
    one.unwrap_or_else(|| ShowCgroups::new(seen, window, selection)).sheet()
}

fn evictors(seen: &Snapshot, window: Option<&Window<'_>>, _: usize, _: &[String]) -> Sheet {
    let inputs = Inputs { snapshot: seen, window: window.copied(), tiers: None, runs: &[] };
    let explained = ramline_advice::explain("evictors", &inputs);
    explained.map(|explained| ramline_view::top::evictors(seen, window, &explained)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_a_name_and_every_view_a_topic_but_two() {
        assert_eq!((VIEWS[1].sorts.len(), VIEWS[2].sorts.len()), (PROCESS_SORTS.len(), GROUP_SORTS.len()));
        for (at, view) in VIEWS.iter().enumerate() {
            assert_eq!(topic(at).is_none(), at == OVERVIEW || at == FILES, "{}", view.name);
        }
        assert_eq!(VIEWS[FILES].name, "files");
        assert!(VIEWS.len() <= 9, "each has a number");
        for (view, _) in VIEWS.iter().enumerate() {
            assert!(ramline_advice::topic_named(about(view)).is_some(), "{}", about(view));
        }
        for (head, path) in NUMBERS.iter().flat_map(|(_, numbers)| *numbers) {
            assert!(ramline_view::figure::find(path).is_ok(), "{head}: {path}");
        }
    }
}
