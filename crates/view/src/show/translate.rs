//! `show translate`: what other tools would call used here, with the formula of each in this machine's numbers.
//!
//! A row holds for the versions it names, whether they are installed or not.

use ramline_model::translate::{
    self, Difference, Formula, GroupTable, Here, Installed, Row, Sign, SystemTable, ToolSpread,
};

use crate::prelude::*;

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
    /// What it looks at; for a group, the groups besides.
    pub const WANTED: Wanted = Wanted { meminfo: true, cgroups: true, zfs: true, zram: true, ..Wanted::NOTHING };

    /// From a snapshot; `group` is a path below the hierarchy's mount, or the directory itself.
    #[must_use]
    pub fn new(snapshot: &Snapshot, group: Option<&str>) -> Self {
        let asked = group.and_then(|path| translate::for_group(snapshot, path));
        let found = asked.is_some();
        let own =
            translate::own_group(snapshot).filter(|own| asked.as_ref().is_none_or(|asked| asked.path != own.path));
        ShowTranslate {
            schema_version: SCHEMA_VERSION,
            system: translate::for_system(snapshot),
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
            row.here = translate::for_row(&row.id, installed);
        }
    }
}

impl Screen for ShowTranslate {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match &self.system {
            Some(system) => machine(&mut sheet, system),
            None => sheet.answer(
                Paint::Bold,
                "What other tools would show is not known: no MemTotal of /proc/meminfo was seen.",
            ),
        }
        self.groups.iter().for_each(|group| one_group(&mut sheet, group));
        sheet.headed_points("What they treat alike", self.system.iter().flat_map(|system| &system.notes));
        super::unseen(&mut sheet, &self.unseen);
        sheet
    }
}

fn machine(sheet: &mut Sheet, system: &SystemTable) {
    if let Some(spread) = &system.spread {
        sheet.answer(Paint::Bold, format!("On this machine \"used\" is {}", spread_words(spread)));
    }
    let free =
        system.mem_free.map(|free| format!(", of which {free} are free pages: on those all agree")).unwrap_or_default();
    sheet.line(format!(
        "Each tool adds up the same counters in another way; here all are of one moment. MemTotal is {}{free}. Old versions stand \
         last and are left out of the first sentence.",
        system.mem_total
    ));
    sheet.blank();
    summary(sheet, &system.rows, Some(system.mem_total));
    sheet.more("The formulas, in MiB, and what each counts that the row above does not", |more| {
        formulas(more, &system.rows);
    });
}

fn one_group(sheet: &mut Sheet, group: &GroupTable) {
    let limit = group.limit.map_or_else(|| "no limit of its own".to_owned(), |limit| format!("its limit is {limit}"));
    sheet.heading(format!("The control group {} ({limit})", group.path));
    sheet.line(group.spread.as_ref().map(|spread| format!("Its use is {}", spread_words(spread))));
    sheet.blank();
    summary(sheet, &group.rows, group.limit);
    sheet.more("The formulas for this group, in MiB", |more| formulas(more, &group.rows));
}

/// `between A (tool) and B (tool); the difference is mostly X (n).`
fn spread_words(spread: &ToolSpread) -> String {
    let mostly = spread.between.iter().find(|d| !d.bytes.is_negative() && d.bytes.0 > 0);
    let mostly = mostly.map(|d| format!("; the difference is mostly {}: {}", d.what, d.bytes)).unwrap_or_default();
    format!("between {} ({}) and {} ({}){mostly}.", spread.least_bytes, spread.least, spread.most_bytes, spread.most)
}

fn summary(sheet: &mut Sheet, rows: &[Row], whole: Option<Bytes>) {
    let bytes = |formula: &Option<Formula>| formula.as_ref().map(|formula| formula.bytes);
    let share = |row: &Row| whole.and_then(|whole| row.share_of(whole)).map(number::percent);
    let table = Table::from_rows(rows.iter().zip(translate::shares_of_largest(rows)))
        .column(Column::wrapped("tool").at_least(17), |(row, _)| &row.tool)
        .column(Column::wrapped("versions").at_least(16), |(row, _)| &row.versions)
        .wrapped("installed", |(row, _)| row.here.as_ref().map(installed))
        .right("used", |(row, _)| number::known(bytes(&row.used)))
        .column(Column::left("of largest"), |(_, share)| Cell::bar(share))
        .column(Column::right("share").spare(), |(row, _)| share(row))
        .column(Column::right("cache").spare(), |(row, _)| bytes(&row.cache))
        .column(Column::right("available").spare(), |(row, _)| bytes(&row.available));
    sheet.table(table);
}

/// `4.0.2`, `yes` where the version is not known, and `no: 1.2.13` where the row is not that version's.
fn installed(here: &Here) -> String {
    match (&here.version, here.holds) {
        (Some(version), Some(false)) => format!("no: {version}"),
        (Some(version), _) => version.clone(),
        (None, _) => "yes".to_owned(),
    }
}

fn formulas(sheet: &mut Sheet, rows: &[Row]) {
    let mut first = true;
    for row in rows {
        sheet.line(format!("{} ({})", row.tool, row.versions));
        if let Some(counter) = &row.missing {
            sheet.point("    ", format!("Not known: there is no {counter} here."));
            continue;
        }
        let same = !first && row.differs.is_empty();
        match &row.used {
            Some(used) if same => sheet.point("    ", format!("{} is the same sum as in the row above.", used.name)),
            Some(used) => sheet.point("    ", sum(used)),
            None => {}
        }
        for formula in [&row.cache, &row.available].into_iter().flatten().filter(|f| f.terms.len() > 1) {
            sheet.point("    ", sum(formula));
        }
        if let Some(swap) = row.swap_used.as_ref().filter(|swap| swap.bytes.0 > 0) {
            sheet.point("    ", format!("of swap, {}", sum(swap)));
        }
        let against = differences(&row.differs);
        if !against.is_empty() {
            sheet.point("    ", format!("Against the row above: {against}."));
        }
        sheet.point("    ", &row.why);
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
    use ramline_sheet::text::Style;

    fn screen(meminfo: &str, width: usize) -> String {
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::new(Meminfo::parse("m", meminfo).unwrap());
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
        assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= 60), "{text}");
        assert!(text.contains("htop") && text.contains("Netdata"), "{text}");
    }

    #[test]
    fn the_row_of_the_installed_version_is_marked() {
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::new(Meminfo::parse("m", SAMPLE).unwrap());
        let mut shown = ShowTranslate::new(&seen, None);
        shown.note_installed(&[Installed { program: "free".into(), version: vec![4, 0, 2] }]);
        let text = shown.text(&Style { colour: false, width: 160 });
        assert!(text.contains(" 4.0.2 ") && text.contains("no: 4.0.2"), "{text}");
        let text = shown.text(&Style { colour: false, width: 60 });
        assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= 60), "{text}");
        assert!(text.contains(" 4.0.2 ") && text.contains("no: 4.0.2"), "{text}");
    }

    #[test]
    fn a_bar_is_a_share_of_the_largest_and_a_column_goes_where_there_is_no_room() {
        let row = |width| {
            let text = screen(SAMPLE, width);
            text.lines().find(|line| line.starts_with("free, top")).unwrap_or_default().to_owned()
        };
        assert!(row(200).contains("700.0 MiB  ##########  35.0 %") && row(200).contains("1.3 GiB"), "{}", row(200));
        assert!(row(80).contains("700.0 MiB  35.0 %") && row(80).contains("1.3 GiB"), "{}", row(80));
        assert!(row(60).contains("700.0 MiB  35.0 %") && !row(60).contains("1.3 GiB"), "{}", row(60));
    }

    #[test]
    fn without_meminfo_it_says_so() {
        let text = ShowTranslate::new(&Snapshot::default(), None).text(&Style::default());
        assert!(text.starts_with("What other tools would show is not known"), "{text}");
    }
}
