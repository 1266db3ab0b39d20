//! `show processes`: who holds memory.

mod words;

use ramline_model::processes::{By, Filter, Row, Who};

use crate::prelude::*;
use ramline_sheet::{Depth, Style};

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
    /// What is in swap.
    Swap,
    /// Page tables.
    PageTables,
    /// Growth over the window.
    Growth,
    /// Processors used over the window.
    Cpu,
    /// Number of processes.
    Count,
    /// Name.
    Name,
}

/// A name is given so much room, and broken where there is not more; in a tree it is cut.
const NAME: usize = 28;
/// A command line is given so much room at least, and two lines.
const COMMAND: usize = 30;

impl ShowProcesses {
    /// What it looks at.
    pub const WANTED: Wanted =
        Wanted { meminfo: true, processes: true, swaps: true, zram: true, containers: true, ..Wanted::NOTHING };

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
        if let (Some(who), Some(most)) = (&mut self.who, most) {
            self.more = who.keep(most);
        }
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

    /// What bounds the answer is said unasked; how it is known, on request.
    fn answer(&self, sheet: &mut Sheet, who: &Who) {
        sheet.answer(Paint::Bold, words::first(who));
        if self.is_without_a_match() {
            return;
        }
        sheet.blank();
        sheet.table(table(who, self.sort));
        if self.more > 0 {
            sheet.dim(format!("and {}; --top N shows more", number::things(self.more, "more row")));
        }
        let mut mark = Sheet::new();
        words::short_legend(who).into_iter().for_each(|legend| mark.dim(legend));
        sheet.digest(mark, "What the columns mean", |full| full.line(words::LEGEND));
        for (title, lines) in [("Does it add up", words::sums(who)), ("What was read", words::read(who))] {
            let mut bounds = Sheet::new();
            let warned = lines.iter().filter(|(paint, _)| *paint == Paint::Warn);
            warned.for_each(|(paint, line)| bounds.painted(*paint, line));
            sheet.digest(bounds, title, |full| {
                lines.iter().for_each(|(paint, line)| full.painted_point(*paint, "  ", line));
            });
        }
        sheet.ask("--verbose shows how it is known.");
    }
}

impl Screen for ShowProcesses {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match &self.who {
            Some(who) => self.answer(&mut sheet, who),
            None => sheet.answer(Paint::Bold, "Nothing is known about processes here."),
        }
        super::unseen(&mut sheet, &self.unseen);
        sheet
    }

    /// What the columns mean, whether the sums agree, and what was read is for those who ask.
    fn text(&self, style: &Style) -> String {
        self.sheet().text(style, Depth::Brief)
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
        SortBy::Cpu => by_share(row.cpu),
        SortBy::Count => i128::from(row.processes),
        SortBy::Name => 0,
    };
    if sort == SortBy::Name {
        ramline_units::sort_by(rows, |a, b| a.name.cmp(&b.name));
    } else {
        // Stable: equals stay in the order of what they hold.
        ramline_units::sort_by_key(rows, |row| std::cmp::Reverse(key(row)));
    }
}

/// Order of shares; what is not known comes last. The bits of numbers from 0 on are in their order.
fn by_share(share: Option<f64>) -> i128 {
    share.map_or(-1, |share| i128::from(share.max(0.0).to_bits()))
}

/// The columns in the order in which they are read; what tells least goes first where there is little room, and what the rows are
/// sorted by stays.
fn table(who: &Who, sort: SortBy) -> Table<&Row> {
    let by = who.by;
    let sorted_by = |head: &str, what: SortBy, rank: u8| {
        let column = Column::right(head);
        if sort == what { column } else { column.rank(rank) }
    };
    // Nothing is left empty, so that a column of nothing goes away.
    let some = |bytes: Bytes| (bytes.0 > 0).then_some(bytes);
    let name = if by == By::Tree { Column::name } else { Column::wrapped };
    let depth = |row: &Row| usize::try_from(row.depth).unwrap_or(usize::MAX);
    let about = |row: &Row| if row.holds.is_narrow() { "" } else { "~" };
    let between = |row: &Row| (!row.holds.is_narrow()).then(|| format!("{} to {}", row.holds.low, row.holds.high));
    let most = who.rows.iter().map(|row| row.holds.value).max().unwrap_or_default();
    let key = |row: &Row| row.pid.map_or_else(|| row.name.clone(), |pid| pid.to_string());
    Table::from_rows(&who.rows)
        .keyed(key)
        .column(name(words::heading(by)).at_least(NAME), |row| {
            Cell::from(words::called(by, &row.name)).at_depth(depth(row))
        })
        .column(Column::right("pid").rank(3), |row| row.pid.map(|pid| pid.to_string()))
        .column(Column::left("user").rank(4), |row| row.user.as_ref().filter(|_| by != By::User))
        .column(sorted_by("processes", SortBy::Count, 5), |row| (by != By::Process).then_some(row.processes))
        .right("uses", |row| format!("{}{}", about(row), row.holds.value))
        .column(Column::left("").rank(6), |row| Cell::bar(row.holds.value.share_of(most)))
        .column(Column::left("between").rank(9), between)
        .column(sorted_by("anonymous", SortBy::Anon, 7), |row| some(row.anon))
        .column(sorted_by("shared", SortBy::Shared, 8), |row| some(row.shared))
        .column(sorted_by("rss", SortBy::Rss, 11), |row| some(row.rss))
        .column(Column::right("own").rank(10), |row| row.own)
        .column(sorted_by("swap", SortBy::Swap, 1), |row| some(row.swap))
        .column(Column::right("costs").rank(13), |row| row.swap_costs.map(|costs| format!("~{}", costs.value)))
        .column(sorted_by("tables", SortBy::PageTables, 12), |row| some(row.page_tables))
        .column(Column::right("huge pool").rank(2), |row| some(row.hugetlb))
        .column(sorted_by("growth", SortBy::Growth, 1), |row| row.growth.filter(|by| by.0 != 0).map(number::moved))
        .column(sorted_by("CPU", SortBy::Cpu, 1), |row| row.cpu.map(number::percent))
        .column(Column::wrapped("command").rank(2).at_least(COMMAND).lines(2), |row| row.command.as_ref())
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::processes::{Process, Processes};
    use ramline_snapshot::{Seen, machine::Machine};

    use super::*;
    use ramline_sheet::text::width;

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
        seen.processes = Seen::new(Processes { list: (0..count).map(one).collect(), ..Processes::default() });
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
        assert!(model.sheet().text(&Style::default(), Depth::All).contains("Does it add up"));
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
