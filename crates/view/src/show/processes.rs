//! `show processes`: who holds memory.

mod words;

use ramline_model::processes::{By, Filter, Row, Who};
use ramline_snapshot::{Snapshot, Window};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Cell, Column, Page, Paint, Style, Table, bar, number, width};

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
    /// What it maps and is in RAM, shared pages in each.
    Rss,
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

/// Columns between two columns of a table.
const GAP: usize = 2;
/// A name is given so much room, and broken where there is not more.
const NAME: usize = 24;
/// Cells of a bar.
const CELLS: usize = 8;
/// A command line is given so much room at least, and two lines.
const COMMAND: usize = 30;

impl ShowProcesses {
    /// From a snapshot; the window supplies growth, and the filter leaves rows out.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>, by: By, sort: SortBy, filter: &Filter) -> Self {
        let mut who = Who::matching(snapshot, window, by, filter);
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
            // A parent holds at least what its largest child holds, so no row loses the one above it.
            if let Some(smallest) = most.checked_sub(1).and_then(|last| sizes.get(last)) {
                who.rows.retain(|r| r.holds.value >= *smallest);
            }
        }
        who.rows.truncate(most);
        self.more = (all - who.rows.len()) as u64;
        self
    }

    /// Notes the command lines of the rows that are one process.
    pub fn note_commands(&mut self, of: impl Fn(u32) -> Option<String>) {
        for row in self.who.iter_mut().flat_map(|who| &mut who.rows) {
            row.command = row.pid.and_then(&of);
        }
    }

    /// Some processes were asked for, and there is none like that.
    #[must_use]
    pub fn is_without_a_match(&self) -> bool {
        let matched = self.who.as_ref().and_then(|who| who.matched.as_ref());
        matched.is_some_and(|matched| matched.processes == 0)
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        self.text_with(style, false)
    }

    /// The screen; `verbose`, with what the columns mean, whether the sums agree, and what was read.
    #[must_use]
    pub fn text_with(&self, style: &Style, verbose: bool) -> String {
        let mut page = Page::new(style);
        match &self.who {
            Some(who) => self.answer(&mut page, who, style, verbose),
            None => page.bold("Nothing is known about processes here."),
        }
        super::unseen(&mut page, &self.unseen);
        page.finish()
    }

    fn answer(&self, page: &mut Page<'_>, who: &Who, style: &Style, verbose: bool) {
        page.bold(&words::first(who));
        if self.is_without_a_match() {
            return;
        }
        page.blank();
        page.table(&table(who, self.sort, style.width));
        if self.more > 0 {
            let more = number::things(self.more, "more row");
            page.painted_point(Paint::Dim, "", &format!("and {more}; --top N shows more"));
        }
        // What bounds the answer is said unasked; how it is known, on demand.
        let (sums, read) = (words::sums(who), words::read(who));
        if !verbose {
            if let Some(legend) = words::short_legend(who) {
                page.dim(legend);
            }
            for (paint, line) in sums.iter().chain(&read).filter(|(paint, _)| *paint == Paint::Warn) {
                page.painted_point(*paint, "", line);
            }
            return;
        }
        page.blank();
        page.line(words::LEGEND);
        page.heading("Does it add up");
        for (paint, line) in sums {
            page.painted_point(paint, "  ", &line);
        }
        page.heading("What was read");
        for (paint, line) in read {
            page.painted_point(paint, "  ", &line);
        }
    }
}

fn sorted(rows: &mut [Row], sort: SortBy) {
    let key = |row: &Row| match sort {
        SortBy::Holds => i128::from(row.holds.value.0),
        SortBy::Rss => i128::from(row.rss.0),
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

/// A column that may be shown: those of the lowest rank first, as long as there is room.
struct Optional {
    column: Column,
    /// Columns to keep free for it; a wrapped one takes less than its longest cell.
    room: usize,
    rank: usize,
    cells: Vec<String>,
    /// Its cells are cut to two lines.
    is_command: bool,
}

impl Optional {
    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

/// As many columns as fit, in the order in which they are read.
fn table(who: &Who, sort: SortBy, columns: usize) -> Table {
    let mut all = optional(who, sort);
    all.retain(|column| !column.is_empty());
    let mut by_rank: Vec<usize> = (0..all.len()).collect();
    by_rank.sort_by_key(|at| all[*at].rank);
    let mut left = columns;
    let mut shown = vec![false; all.len()];
    for at in by_rank {
        let room = all[at].room + GAP;
        // The name and what it uses are the answer; of what is left, one that does not fit makes room for the next.
        if all[at].rank == 0 || room <= left {
            left = left.saturating_sub(room);
            shown[at] = true;
        }
    }
    let mut kept: Vec<Optional> =
        all.into_iter().zip(shown).filter_map(|(column, shown)| shown.then_some(column)).collect();
    for command in kept.iter_mut().filter(|kept| kept.is_command).flat_map(|kept| &mut kept.cells) {
        // Words are not broken, so that a line may end early.
        *command = command.chars().take((COMMAND + left) * 2 - COMMAND / 2).collect();
    }
    let mut table = Table::new(kept.iter().map(|kept| kept.column.clone()).collect());
    for row in 0..who.rows.len() {
        let cell = |kept: &Optional| kept.cells.get(row).map(Cell::from).unwrap_or_default();
        table.cells(kept.iter().map(cell).collect());
    }
    table
}

fn optional(who: &Who, sort: SortBy) -> Vec<Optional> {
    let some = |b: Bytes| if b.0 == 0 { String::new() } else { b.to_string() };
    let when = |shown: bool, text: String| if shown { text } else { String::new() };
    let (each, tree) = (matches!(who.by, By::Process), who.by == By::Tree);
    let most = who.rows.iter().map(|row| row.holds.value).max().unwrap_or_default();
    let commands = who.rows.iter().any(|row| row.command.is_some());
    let of = |cell: &dyn Fn(&Row) -> String| who.rows.iter().map(cell).collect::<Vec<String>>();
    let column = |column: fn(&str) -> Column, head: &str, rank: usize, cells: Vec<String>| {
        let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(head));
        Optional { column: column(head), room: widest, rank, cells, is_command: false }
    };
    let sorted_by = |what: SortBy, rank: usize| if sort == what { 0 } else { rank };
    let name = of(&|row| "|".repeat(usize::try_from(row.depth.min(12)).unwrap_or(12)) + &row.name);
    // A name in a tree is never broken: its depth would be lost.
    let mut name = column(if tree { Column::left } else { Column::wrapped }, words::heading(who.by), 0, name);
    if !tree {
        name.room = name.room.min(NAME);
    }
    let mut command = column(Column::wrapped, "command", 2, of(&|row| row.command.clone().unwrap_or_default()));
    (command.room, command.is_command) = (command.room.min(COMMAND), true);
    let about = |row: &Row| format!("{}{}", if row.holds.is_narrow() { "" } else { "~" }, row.holds.value);
    let between = |row: &Row| when(!row.holds.is_narrow(), format!("{} to {}", row.holds.low, row.holds.high));
    let share = |row: &Row| bar(row.holds.value.share_of(most).unwrap_or_default(), CELLS);
    vec![
        name,
        column(Column::right, "pid", 3, of(&|row| row.pid.map(|pid| pid.to_string()).unwrap_or_default())),
        column(Column::left, "user", 4, of(&|row| row.user.clone().filter(|_| who.by != By::User).unwrap_or_default())),
        column(
            Column::right,
            "processes",
            sorted_by(SortBy::Count, 5),
            of(&|row| when(!each, number::count(row.processes))),
        ),
        column(Column::right, "uses", 0, of(&about)),
        column(Column::left, "", 6, of(&|row| when(!commands && !tree, share(row)))),
        column(Column::left, "between", 9, of(&between)),
        column(Column::right, "anonymous", sorted_by(SortBy::Anon, 7), of(&|row| some(row.anon))),
        column(Column::right, "shared", sorted_by(SortBy::Shared, 8), of(&|row| some(row.shared))),
        column(Column::right, "rss", sorted_by(SortBy::Rss, 11), of(&|row| some(row.rss))),
        column(Column::right, "own", 10, of(&|row| row.own.map(|own| own.to_string()).unwrap_or_default())),
        column(Column::right, "swap", sorted_by(SortBy::Swap, 1), of(&|row| some(row.swap))),
        column(
            Column::right,
            "costs",
            13,
            of(&|row| row.swap_costs.map(|c| format!("~{}", c.value)).unwrap_or_default()),
        ),
        column(Column::right, "tables", sorted_by(SortBy::PageTables, 12), of(&|row| some(row.page_tables))),
        column(Column::right, "huge pool", 2, of(&|row| some(row.hugetlb))),
        column(
            Column::right,
            "growth",
            sorted_by(SortBy::Growth, 1),
            of(&|row| row.growth.filter(|g| g.0 != 0).map(words::grown).unwrap_or_default()),
        ),
        command,
    ]
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::processes::{Process, Processes};
    use ramline_snapshot::{Seen, machine::Machine};

    use super::*;

    fn seen(count: u32) -> Snapshot {
        let one = |n: u32| Process {
            pid: 1000 + n,
            parent: 999 + n,
            uid: n % 2,
            name: format!("worker-with-a-name-{n}"),
            rss_anon: Some(Bytes::from_mib(u64::from(100 + n))),
            rss_file: Some(Bytes::from_mib(300)),
            swap: Some(Bytes::from_mib(u64::from(n))),
            ..Process::default()
        };
        let mut seen = Snapshot::new(Machine::default());
        seen.processes = Seen::of(Processes { list: (0..count).map(one).collect(), ..Processes::default() });
        seen
    }

    fn show(by: By, sort: SortBy, filter: &Filter) -> ShowProcesses {
        ShowProcesses::new(&seen(20), None, by, sort, filter)
    }

    #[test]
    fn no_line_is_too_long_at_any_width_and_a_name_of_the_tree_is_never_broken() {
        for by in [By::Program, By::Process, By::Tree, By::User] {
            let mut model = show(by, SortBy::Holds, &Filter::default()).top(Some(8));
            for columns in [60, 80, 100, 120, 200] {
                let text = model.text(&Style { colour: false, width: columns });
                assert!(text.lines().all(|line| width(line) <= columns), "{by:?} {columns}:\n{text}");
                let rows = text.lines().filter(|line| line.contains("worker")).count();
                assert!(by != By::Tree || rows >= 8, "{text}");
            }
            model.note_commands(|pid| Some(format!("/usr/bin/python3 -m x --pid {pid} {}", "long ".repeat(100))));
            let text = model.text(&Style { colour: false, width: 100 });
            assert!(text.lines().all(|line| width(line) <= 100) && text.lines().count() < 60, "{by:?}\n{text}");
        }
    }

    #[test]
    fn the_method_is_shown_on_demand_and_the_first_line_is_short() {
        let model = show(By::Program, SortBy::Holds, &Filter::default()).top(Some(15));
        let text = model.text(&Style { colour: false, width: 80 });
        assert!(!text.contains("Does it add up") && text.lines().count() <= 24, "{text}");
        assert!(model.text_with(&Style::default(), true).contains("Does it add up"));
        assert!(width(&words::first(model.who.as_ref().unwrap())) < 100);
    }

    #[test]
    fn rows_are_put_in_order_by_what_is_mapped_and_by_swap() {
        let first = |sort| show(By::Process, sort, &Filter::default()).who.unwrap().rows[0].pid;
        assert_eq!((first(SortBy::Rss), first(SortBy::Swap)), (Some(1019), Some(1019)));
    }

    #[test]
    fn what_was_asked_for_is_summed_up_and_nothing_alike_is_said() {
        let filter = Filter { users: vec!["1".into()], ..Filter::default() };
        let text = show(By::Process, SortBy::Holds, &filter).text(&Style::default());
        assert!(text.starts_with("10 processes match (user 1): they use "), "{text}");
        let none = Filter { names: vec!["nix".into()], ..Filter::default() };
        let model = show(By::Process, SortBy::Holds, &none);
        assert!(model.is_without_a_match());
        assert_eq!(model.text(&Style::default()), "No process with memory of its own matches: name nix.\n");
    }
}
