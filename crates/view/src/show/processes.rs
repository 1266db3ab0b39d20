//! `show processes`: who holds memory.

mod words;

use ramline_model::processes::{By, Row, Who};
use ramline_snapshot::{Snapshot, Window};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Cell, Column, Page, Paint, Style, Table, number};

/// `show processes`: who holds memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowProcesses {
    /// Version of this document.
    pub schema_version: u64,
    /// The answer; `None` where the processes were not seen.
    pub who: Option<Who>,
    /// Order of the rows.
    pub sort: SortBy,
    /// Rows that are not shown.
    pub more: u64,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

/// Order of the rows: the largest first, names by the alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortBy {
    /// What it holds in RAM.
    #[default]
    Holds,
    /// Anonymous memory.
    Anon,
    /// Its share of files and shared memory.
    Shared,
    /// What lies in swap.
    Swap,
    /// Page tables.
    PageTables,
    /// Growth over the window.
    Growth,
    /// Number of processes.
    Count,
    /// Name.
    Name,
}

/// Below this width only the columns that answer the question are shown.
const WIDE: usize = 90;

impl ShowProcesses {
    /// From a snapshot; the window supplies growth.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>, by: By, sort: SortBy) -> Self {
        let mut who = Who::of(snapshot, window, by);
        if let Some(who) = who.as_mut().filter(|_| by != By::Tree) {
            sorted(&mut who.rows, sort);
        }
        ShowProcesses {
            schema_version: SCHEMA_VERSION,
            who,
            sort,
            more: 0,
            unseen: super::unseen_of(snapshot, &["meminfo", "processes", "swaps"]),
        }
    }

    /// The same with so many rows at most. Of a tree the largest subtrees stay, with all above them.
    #[must_use]
    pub fn top(mut self, most: Option<usize>) -> Self {
        let (Some(who), Some(most)) = (&mut self.who, most) else { return self };
        let all = who.rows.len();
        if who.by == By::Tree {
            let mut sizes: Vec<Bytes> = who.rows.iter().map(|r| r.holds.value).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            // A parent holds at least what its largest child holds, so nobody loses the row above it.
            if let Some(smallest) = most.checked_sub(1).and_then(|last| sizes.get(last)) {
                who.rows.retain(|r| r.holds.value >= *smallest);
            }
        }
        who.rows.truncate(most);
        self.more = (all - who.rows.len()) as u64;
        self
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        match &self.who {
            Some(who) => self.answer(&mut page, who, style),
            None => page.bold("Nothing is known about processes here."),
        }
        super::unseen(&mut page, &self.unseen);
        page.finish()
    }

    fn answer(&self, page: &mut Page<'_>, who: &Who, style: &Style) {
        page.bold(&words::first(who));
        page.blank();
        page.table(&table(who, style.width >= WIDE));
        if self.more > 0 {
            page.painted_point(
                Paint::Dim,
                "",
                &format!("and {}; --top N shows more", number::things(self.more, "more row")),
            );
        }
        page.blank();
        page.line(words::LEGEND);
        page.heading("Does it add up");
        for (paint, line) in words::sums(who) {
            page.painted_point(paint, "  ", &line);
        }
        page.heading("What was read");
        for (paint, line) in words::read(who) {
            page.painted_point(paint, "  ", &line);
        }
    }
}

fn sorted(rows: &mut [Row], sort: SortBy) {
    let key = |row: &Row| match sort {
        SortBy::Holds => i128::from(row.holds.value.0),
        SortBy::Anon => i128::from(row.anon.0),
        SortBy::Shared => i128::from(row.shared.0),
        SortBy::Swap => i128::from(row.swap.0),
        SortBy::PageTables => i128::from(row.page_tables.0),
        SortBy::Growth => row.growth.map_or(i128::MIN, |g| i128::from(g.0)),
        SortBy::Count => i128::from(row.processes),
        SortBy::Name => 0,
    };
    if sort == SortBy::Name {
        rows.sort_by(|a, b| a.name.cmp(&b.name));
    } else {
        // Stable: equals stay in the order of what they hold.
        rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    }
}

fn table(who: &Who, wide: bool) -> Table {
    let count = if matches!(who.by, By::Process) { "pid" } else { "processes" };
    let mut table = Table::new(vec![
        Column::wrapped(words::heading(who.by)),
        Column::right(count),
        Column::right("holds"),
        Column::right("at least"),
        Column::right("at most"),
        Column::right("anonymous"),
        Column::right("shared"),
        Column::right("own"),
        Column::right("swap"),
        Column::right("costs"),
        Column::right("tables"),
        Column::right("huge pool"),
        Column::right("growth"),
    ]);
    let some = |b: Bytes| if b.0 == 0 { String::new() } else { b.to_string() };
    for row in &who.rows {
        let narrow = row.holds.is_narrow();
        let bound = |b: Bytes| if narrow { String::new() } else { b.to_string() };
        let name = format!("{}{}", "| ".repeat(usize::try_from(row.depth.min(12)).unwrap_or(12)), row.name);
        let count = match (who.by, row.pid) {
            (By::Process, Some(pid)) => pid.to_string(),
            _ => number::count(row.processes),
        };
        let mut cells: Vec<Cell> = vec![name.into(), count.into(), row.holds.value.to_string().into()];
        cells.extend([bound(row.holds.low).into(), bound(row.holds.high).into()]);
        let wide_only = |text: String| if wide { text } else { String::new() };
        cells.extend([
            wide_only(some(row.anon)).into(),
            wide_only(some(row.shared)).into(),
            wide_only(row.own.map(|o| o.to_string()).unwrap_or_default()).into(),
            some(row.swap).into(),
            row.swap_costs.map(|c| format!("~{}", c.value)).unwrap_or_default().into(),
            wide_only(some(row.page_tables)).into(),
            some(row.hugetlb).into(),
            row.growth.filter(|g| g.0 != 0).map(words::grown).unwrap_or_default().into(),
        ]);
        table.cells(cells);
    }
    table
}
