//! The table of tasks: columns by the header, names as they are, and sums by name.

use std::collections::HashMap;

use super::fields::clip;
use crate::prelude::*;

/// Tasks that are kept one by one: the largest.
const KEPT: usize = 24;
/// Programs whose sums are kept while a table is read; one machine has fewer.
const PROGRAMS: usize = 20_000;
/// Programs whose sums are kept: the largest.
const PROGRAMS_KEPT: usize = 12;

/// One row, sizes in pages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LoggedTask {
    /// Its number.
    pub pid: u32,
    /// Its name, as long as the kernel keeps it.
    pub name: String,
    /// Address space.
    pub total_vm: u64,
    /// In RAM.
    pub rss: u64,
    /// In RAM, of shared memory; `None` before Linux 6.8.
    pub rss_shmem: Option<u64>,
    /// In swap.
    pub swapents: u64,
    /// Page tables, in bytes (Linux 4.15) or pages.
    pub page_tables: u64,
    /// The administrator's correction.
    pub adj: i64,
}

/// What the processes of one name have, in pages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NameTotal {
    /// The name.
    pub name: String,
    /// How many processes.
    pub tasks: u64,
    /// In RAM.
    pub rss: u64,
    /// In swap.
    pub swapents: u64,
}

/// The table, condensed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskTable {
    /// Rows that were read.
    pub rows: u64,
    /// All of them together.
    pub total: NameTotal,
    /// The largest tasks, and the one that was killed.
    pub largest: Vec<LoggedTask>,
    /// The largest programs by name.
    pub by_name: Vec<NameTotal>,
    /// Page tables are in bytes.
    pub page_tables_in_bytes: bool,
    /// Page tables of all tasks, in that unit.
    pub page_tables: u64,
    /// The smallest correction; where all have it, size decides nothing.
    pub lowest_adj: Option<i64>,
    /// The largest correction.
    pub highest_adj: Option<i64>,
}

/// The columns between the number in brackets and the name.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    names: Vec<String>,
}

impl Columns {
    /// Of a header: `[  pid  ]   uid  tgid total_vm ... name`.
    pub fn parse(text: &str) -> Option<Columns> {
        let rest = text.trim_start().strip_prefix('[')?;
        let (pid, rest) = rest.split_once(']')?;
        (pid.trim() == "pid" && rest.contains("total_vm")).then_some(())?;
        let names: Vec<String> = rest.split_whitespace().take(24).map(str::to_owned).collect();
        Some(Columns { names: names.into_iter().filter(|name| name != "name").collect() })
    }

    /// Those of Linux 4.19 and later, for a log that begins below its header.
    pub fn usual() -> Columns {
        let names = ["uid", "tgid", "total_vm", "rss", "pgtables_bytes", "swapents", "oom_score_adj"];
        Columns { names: names.map(str::to_owned).to_vec() }
    }

    /// Those of Linux 6.8 and later.
    pub fn newest() -> Columns {
        let names = [
            "uid",
            "tgid",
            "total_vm",
            "rss",
            "rss_anon",
            "rss_file",
            "rss_shmem",
            "pgtables_bytes",
            "swapents",
            "oom_score_adj",
        ];
        Columns { names: names.map(str::to_owned).to_vec() }
    }

    fn in_bytes(&self) -> bool {
        self.names.iter().any(|name| name == "pgtables_bytes")
    }
}

/// The parts of a row: its number, the numbers behind it, and the name. `None` where it is no row.
fn row<'a>(text: &'a str, columns: &Columns) -> Option<(u32, Vec<i64>, &'a str)> {
    let rest = text.trim_start().strip_prefix('[')?;
    let (pid, mut rest) = rest.split_once(']')?;
    let pid = pid.trim().parse().ok()?;
    let mut numbers = Vec::with_capacity(columns.names.len());
    for _ in &columns.names {
        rest = rest.trim_start();
        let end = rest.find(' ').unwrap_or(rest.len());
        numbers.push(rest.get(..end)?.parse().ok()?);
        rest = rest.get(end..)?;
    }
    // One blank belongs to the table, others to the name.
    let name = rest.strip_prefix(' ')?.trim_end();
    (!name.is_empty()).then_some((pid, numbers, name))
}

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct TableBuilder {
    columns: Option<Columns>,
    table: TaskTable,
    largest: Vec<LoggedTask>,
    names: HashMap<String, NameTotal>,
}

impl TableBuilder {
    /// A header was met.
    pub fn header(&mut self, columns: Columns) {
        self.columns = Some(columns);
    }

    /// A header was met, or a row.
    pub fn is_begun(&self) -> bool {
        self.columns.is_some()
    }

    /// A row, if the line is one. Without a header the columns of recent kernels are tried.
    pub fn row(&mut self, text: &str) -> bool {
        if !text.trim_start().starts_with('[') {
            return false;
        }
        let guesses = [Columns::newest(), Columns::usual()];
        let known = self.columns.as_slice_or(&guesses);
        let found = known.iter().find_map(|columns| row(text, columns).map(|row| (columns.clone(), row)));
        let Some((columns, (pid, numbers, name))) = found else { return false };
        self.add(&columns, pid, &numbers, name);
        self.columns = Some(columns);
        true
    }

    fn add(&mut self, columns: &Columns, pid: u32, numbers: &[i64], name: &str) {
        let value = |wanted: &[&str]| {
            let at = columns.names.iter().position(|name| wanted.contains(&name.as_str()))?;
            numbers.get(at).copied()
        };
        let pages = |wanted: &[&str]| value(wanted).and_then(|number| u64::try_from(number).ok()).unwrap_or_default();
        let task = LoggedTask {
            pid,
            name: clip(name, 64),
            total_vm: pages(&["total_vm"]),
            rss: pages(&["rss"]),
            rss_shmem: value(&["rss_shmem"]).and_then(|number| u64::try_from(number).ok()),
            swapents: pages(&["swapents"]),
            page_tables: pages(&["pgtables_bytes", "nr_ptes"]).saturating_add(pages(&["nr_pmds"])),
            adj: value(&["oom_score_adj", "oom_adj"]).unwrap_or_default(),
        };
        self.table.rows = self.table.rows.saturating_add(1);
        self.table.page_tables_in_bytes = columns.in_bytes();
        self.table.page_tables = self.table.page_tables.saturating_add(task.page_tables);
        self.table.lowest_adj = Some(self.table.lowest_adj.map_or(task.adj, |low| low.min(task.adj)));
        self.table.highest_adj = Some(self.table.highest_adj.map_or(task.adj, |high| high.max(task.adj)));
        add_to(&mut self.table.total, &task);
        if self.names.len() < PROGRAMS || self.names.contains_key(&task.name) {
            let sum = self.names.entry(task.name.clone()).or_default();
            sum.name.clone_from(&task.name);
            add_to(sum, &task);
        }
        self.largest.push(task);
    }

    /// The table, with the tasks of these numbers among those that are kept.
    pub fn finish(self, wanted: &[u32]) -> TaskTable {
        let size = |task: &LoggedTask| task.rss.saturating_add(task.swapents);
        let mut table = self.table;
        let mut tasks = self.largest;
        ramline_units::sort_by_key(&mut tasks, |task| std::cmp::Reverse((wanted.contains(&task.pid), size(task))));
        tasks.truncate(KEPT);
        ramline_units::sort_by_key(&mut tasks, |task| std::cmp::Reverse(size(task)));
        table.largest = tasks;
        let victims: Vec<String> =
            table.largest.iter().filter(|task| wanted.contains(&task.pid)).map(|task| task.name.clone()).collect();
        let mut names: Vec<NameTotal> = self.names.into_values().collect();
        let total = |sum: &NameTotal| sum.rss.saturating_add(sum.swapents);
        ramline_units::sort_by(&mut names, |a, b| {
            let key = |sum: &NameTotal| (victims.contains(&sum.name), total(sum));
            key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
        });
        names.truncate(PROGRAMS_KEPT);
        ramline_units::sort_by(&mut names, |a, b| total(b).cmp(&total(a)).then_with(|| a.name.cmp(&b.name)));
        table.by_name = names;
        table
    }
}

trait OrGuesses {
    fn as_slice_or<'a>(&'a self, guesses: &'a [Columns]) -> &'a [Columns];
}

impl OrGuesses for Option<Columns> {
    fn as_slice_or<'a>(&'a self, guesses: &'a [Columns]) -> &'a [Columns] {
        self.as_ref().map_or(guesses, std::slice::from_ref)
    }
}

fn add_to(sum: &mut NameTotal, task: &LoggedTask) {
    sum.tasks = sum.tasks.saturating_add(1);
    sum.rss = sum.rss.saturating_add(task.rss);
    sum.swapents = sum.swapents.saturating_add(task.swapents);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> TaskTable {
        let mut builder = TableBuilder::default();
        for line in lines {
            match Columns::parse(line) {
                Some(columns) => builder.header(columns),
                None => assert!(builder.row(line), "{line}"),
            }
        }
        builder.finish(&[])
    }

    #[test]
    fn columns_follow_the_header_of_each_age() {
        let oldest = read(&[
            "[ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name",
            "[  531]     0   531     2667       45   1     -17         -1000 udevd",
        ]);
        assert_eq!((oldest.largest[0].rss, oldest.largest[0].adj), (45, -17));
        let old = read(&[
            "[ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents oom_score_adj name",
            "[   12]     0    12    36493       50      71       3       44             0 a b: c",
        ]);
        assert_eq!(
            (old.largest[0].page_tables, old.largest[0].swapents, old.largest[0].name.as_str()),
            (74, 44, "a b: c")
        );
        let new = read(&[
            "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
            "[    675]     0   675   162013    10969    10712      200        57   155648        9             0 (sd-pam)",
        ]);
        assert_eq!((new.largest[0].rss_shmem, new.page_tables_in_bytes, new.total.swapents), (Some(57), true, 9));
    }

    #[test]
    fn a_name_may_be_a_number_or_hold_blanks_and_brackets_and_a_cut_row_is_none() {
        let table = read(&[
            "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
            "[   2102]     0  2102     1873     1000    61440        0           250 531",
            "[   2103]     0  2103     1873     500    61440        0           250 runc:[2:INIT]",
        ]);
        assert_eq!(table.largest.iter().map(|task| task.name.as_str()).collect::<Vec<_>>(), ["531", "runc:[2:INIT]"]);
        let mut builder = TableBuilder::default();
        assert!(!builder.row("[   2104]     0  2104     1873"));
        assert!(builder.row("[   1405]   997  1405     4022      681       47      634         0    73728      179          -900 systemd-oomd"));
    }
}
