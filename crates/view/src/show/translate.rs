//! `show translate`: what other tools would call used here, with the formula of each in this machine's numbers.
//!
//! What it is not: a run of those tools. A row holds for the versions it names, whether they are installed or not.

use ramline_model::translate::{
    self, Difference, Formula, GroupTable, Here, Installed, Row, Sign, Spread, SystemTable,
};
use ramline_snapshot::Snapshot;
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Cell, Column, Page, Style, Table, bar, number};

/// From this width on the table has all columns.
const WIDE: usize = 90;

/// `show translate`: what other tools would call used here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowTranslate {
    /// Version of this document.
    pub schema_version: u64,
    /// Tools that speak of the whole machine; `None` without /proc/meminfo.
    pub system: Option<SystemTable>,
    /// Tools that speak of one group: ours, and the one asked for.
    pub groups: Vec<GroupTable>,
    /// The group that was asked for.
    pub asked: Option<String>,
    /// It was found, and its memory could be read.
    pub found: bool,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowTranslate {
    /// From a snapshot; `group` is a path below the hierarchy's mount, or the directory itself.
    #[must_use]
    pub fn new(snapshot: &Snapshot, group: Option<&str>) -> Self {
        let asked = group.and_then(|path| translate::of_group(snapshot, path));
        let found = asked.is_some();
        let own =
            translate::own_group(snapshot).filter(|own| asked.as_ref().is_none_or(|asked| asked.path != own.path));
        ShowTranslate {
            schema_version: SCHEMA_VERSION,
            system: translate::of_system(snapshot),
            groups: own.into_iter().chain(asked).collect(),
            asked: group.map(str::to_owned),
            found,
            unseen: super::unseen_of(snapshot, &["meminfo", "cgroups", "groups", "zfs", "zram"]),
        }
    }

    /// Notes which of the tools are installed here.
    pub fn note_installed(&mut self, installed: &[Installed]) {
        let rows = self.system.iter_mut().flat_map(|system| &mut system.rows);
        for row in rows.chain(self.groups.iter_mut().flat_map(|group| &mut group.rows)) {
            row.here = translate::of_row(&row.id, installed);
        }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        match &self.system {
            Some(system) => machine(&mut page, system),
            None => page.bold("What other tools would show is not known: /proc/meminfo was not seen."),
        }
        for group in &self.groups {
            one_group(&mut page, group);
        }
        let notes = self.system.iter().flat_map(|s| &s.notes);
        for (index, note) in notes.enumerate() {
            if index == 0 {
                page.heading("What they treat alike");
            }
            page.point("  ", note);
        }
        super::unseen(&mut page, &self.unseen);
        page.finish()
    }
}

fn machine(page: &mut Page<'_>, system: &SystemTable) {
    if let Some(spread) = &system.spread {
        page.bold(&format!("On this machine \"used\" is {}", spread_words(spread)));
    }
    let free =
        system.mem_free.map(|free| format!(", of which {free} are free pages: on those all agree")).unwrap_or_default();
    page.line(&format!(
        "Each tool adds up the same counters in another way. Gauges of one moment, MemTotal {}{free}. A bar is a share of the \
         largest; old versions stand last and are left out of the first sentence.",
        system.mem_total
    ));
    page.blank();
    summary(page, &system.rows, Some(system.mem_total));
    page.heading("The formulas, in MiB, and what each counts that the row above does not");
    formulas(page, &system.rows);
}

fn one_group(page: &mut Page<'_>, group: &GroupTable) {
    let limit = group.limit.map_or_else(|| "no limit of its own".to_owned(), |limit| format!("its limit is {limit}"));
    page.heading(&format!("The control group {} ({limit})", group.path));
    if let Some(spread) = &group.spread {
        page.line(&format!("Its use is {}", spread_words(spread)));
    }
    page.blank();
    summary(page, &group.rows, group.limit);
    page.blank();
    formulas(page, &group.rows);
}

/// `between A (tool) and B (tool); the difference is mostly X (n).`
fn spread_words(spread: &Spread) -> String {
    let mostly = spread.between.iter().find(|d| !d.bytes.is_negative() && d.bytes.0 > 0);
    let mostly = mostly.map(|d| format!("; the difference is mostly {}: {}", d.what, d.bytes)).unwrap_or_default();
    format!("between {} ({}) and {} ({}){mostly}.", spread.least_bytes, spread.least, spread.most_bytes, spread.most)
}

fn summary(page: &mut Page<'_>, rows: &[Row], whole: Option<Bytes>) {
    let wide = page.style().width >= WIDE;
    let cells = if wide { 16 } else { 8 };
    let most = rows.iter().filter(|row| !row.old).filter_map(|row| row.used.as_ref());
    let most = most.map(|formula| formula.bytes).max().unwrap_or_default();
    let mut table = Table::new(vec![
        Column::wrapped("tool"),
        Column::wrapped("versions"),
        Column::wrapped("installed"),
        Column::right("used"),
        Column::left(""),
        Column::right("share"),
        Column::right("cache"),
        Column::right("available"),
    ]);
    let shown =
        |formula: &Option<Formula>| formula.as_ref().filter(|_| wide).map(|f| f.bytes.to_string()).unwrap_or_default();
    for row in rows {
        let used = row.used.as_ref();
        let share = used.and_then(|f| f.bytes.share_of(whole?)).map(number::percent).unwrap_or_default();
        let drawn = used.and_then(|f| f.bytes.share_of(most)).map(|share| bar(share, cells)).unwrap_or_default();
        let value = used.map_or_else(|| "not known".to_owned(), |formula| formula.bytes.to_string());
        let here = row.here.as_ref().map(installed);
        let versions = match &here {
            Some(here) if !wide => format!("{} (here: {here})", row.versions),
            _ => row.versions.clone(),
        };
        table.row([
            Cell::from(&row.tool),
            Cell::from(versions),
            here.filter(|_| wide).unwrap_or_default().into(),
            value.into(),
            drawn.into(),
            share.into(),
            shown(&row.cache).into(),
            shown(&row.available).into(),
        ]);
    }
    page.table(&table);
}

/// `4.0.2`, `yes` where the version is not known, and `no: 1.2.13` where the row is not that version's.
fn installed(here: &Here) -> String {
    match (&here.version, here.holds) {
        (Some(version), Some(false)) => format!("no: {version}"),
        (Some(version), _) => version.clone(),
        (None, _) => "yes".to_owned(),
    }
}

fn formulas(page: &mut Page<'_>, rows: &[Row]) {
    let mut first = true;
    for row in rows {
        page.line(&format!("{} ({})", row.tool, row.versions));
        if let Some(counter) = &row.missing {
            page.point("    ", &format!("Not known: there is no {counter} here."));
            continue;
        }
        let same = !first && row.differs.is_empty();
        match &row.used {
            Some(used) if same => page.point("    ", &format!("{} is the same sum as in the row above.", used.name)),
            Some(used) => page.point("    ", &sum(used)),
            None => {}
        }
        for formula in [&row.cache, &row.available].into_iter().flatten().filter(|f| f.terms.len() > 1) {
            page.point("    ", &sum(formula));
        }
        if let Some(swap) = row.swap_used.as_ref().filter(|swap| swap.bytes.0 > 0) {
            page.point("    ", &format!("of swap, {}", sum(swap)));
        }
        let against = differences(&row.differs);
        if !against.is_empty() {
            page.point("    ", &format!("Against the row above: {against}."));
        }
        page.point("    ", &row.why);
        first = false;
    }
}

/// `used = MemTotal 24,103.9 - MemAvailable 23,581.9 = 522.0`.
fn sum(formula: &Formula) -> String {
    let mut out = format!("{} =", formula.name);
    for (index, term) in formula.terms.iter().enumerate() {
        let sign = match (term.sign, index) {
            (Sign::Plus, 0) => "",
            (Sign::Plus, _) => " +",
            (Sign::Minus, _) => " -",
        };
        out.push_str(&format!("{sign} {} {}", term.counter, mib(term.bytes)));
    }
    if formula.terms.len() > 1 {
        out.push_str(&format!(" = {}", mib(formula.bytes)));
    }
    if let Some(instead) = &formula.instead {
        out.push_str(&format!(" (the sum is below zero: {instead} is shown)"));
    }
    out
}

/// The parts of a difference that one decimal of a MiB can show.
fn differences(parts: &[Difference]) -> String {
    let told: Vec<String> = parts
        .iter()
        .filter(|d| mib(d.bytes.magnitude()) != "0.0")
        .map(|d| format!("{} {} {}", if d.bytes.is_negative() { "-" } else { "+" }, mib(d.bytes.magnitude()), d.what))
        .collect();
    told.join("; ")
}

/// MiB with one decimal and thousands apart, so that a sum can be followed by eye.
fn mib(bytes: Bytes) -> String {
    let text = format!("{:.1}", bytes.as_mib());
    match text.split_once('.') {
        Some((whole, tenth)) => format!("{}.{tenth}", whole.parse().map_or_else(|_| whole.to_owned(), number::count)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::meminfo::Meminfo;

    use super::*;

    fn screen(meminfo: &str, width: usize) -> String {
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::of(Meminfo::parse("m", meminfo).unwrap());
        ShowTranslate::new(&seen, None).text(&Style { colour: false, width })
    }

    const SAMPLE: &str = "MemTotal: 2048000 kB\nMemFree: 204800 kB\nMemAvailable: 1331200 kB\nBuffers: 40960 kB\n\
        Cached: 1187840 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nShmem: 102400 kB\nSlab: 143360 kB\nSReclaimable: 81920 kB\n";

    #[test]
    fn the_first_sentence_tells_both_ends_and_the_formula_can_be_followed_by_eye() {
        let text = screen(SAMPLE, 200);
        let first = text.lines().next().unwrap();
        assert!(
            first.starts_with(
                "On this machine \"used\" is between 460.0 MiB (sar -r; sysstat 11.7.4 to 12.7.7) and 700.0 MiB"
            ),
            "{first}"
        );
        assert!(text.contains("used = MemTotal 2,000.0 - MemAvailable 1,300.0 = 700.0\n"), "{text}");
        assert!(text.contains("- 60.0 slab that cannot shrink (SUnreclaim)"), "{text}");
        assert!(text.contains("kbmemused is the same sum as in the row above."), "{text}");
    }

    #[test]
    fn a_narrow_screen_keeps_every_tool_and_stays_narrow() {
        let text = screen(SAMPLE, 60);
        assert!(text.lines().all(|line| crate::text::width(line) <= 60), "{text}");
        assert!(text.contains("htop") && text.contains("Netdata"), "{text}");
    }

    #[test]
    fn the_row_of_the_installed_version_is_marked() {
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::of(Meminfo::parse("m", SAMPLE).unwrap());
        let mut shown = ShowTranslate::new(&seen, None);
        shown.note_installed(&[Installed { program: "free".into(), version: vec![4, 0, 2] }]);
        let text = shown.text(&Style { colour: false, width: 160 });
        assert!(text.contains(" 4.0.2 ") && text.contains("no: 4.0.2"), "{text}");
        let text = shown.text(&Style { colour: false, width: 60 });
        assert!(text.lines().all(|line| crate::text::width(line) <= 60), "{text}");
    }

    #[test]
    fn without_meminfo_it_says_so() {
        let text = ShowTranslate::new(&Snapshot::default(), None).text(&Style::default());
        assert!(text.starts_with("What other tools would show is not known"), "{text}");
    }
}
