//! `show pressure`: whether anything waits for memory, and how far each zone is from reclaim, in MiB and minutes.
//!
//! Counters since boot are not shown as rates.

use ramline_model::fragmentation::{Index, Order};
use ramline_model::groups::{self, Trouble};
use ramline_model::pressure::{PressureModel, PressureState, Psi, PsiGap, Rates, StallLine};
use ramline_model::verdict;
use ramline_model::watermarks::{self, Band, Distance, NodeMarks, ScaleFactor, Watermarks, ZoneMarks};

use crate::prelude::*;

/// Pressure and the distance to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowPressure {
    /// Version of this document.
    pub schema_version: u64,
    /// PSI, refaults, reclaim.
    pub pressure: Option<PressureModel>,
    /// The group that is worst off at its own limit, where one is.
    pub trouble: Option<Trouble>,
    /// Zones, watermarks, distances; `None` without zoneinfo.
    pub watermarks: Option<Watermarks>,
    /// Not every control group was looked at: the time for it was up.
    pub groups_cut: bool,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowPressure {
    /// What it looks at.
    pub const WANTED: Wanted = Wanted {
        buddyinfo: true,
        pressure_io: true,
        pressure_cpu: true,
        settings: true,
        swaps: true,
        lru_gen: true,
        limited: true,
        ..super::MEMORY
    };

    /// From a snapshot; the window supplies rates and minutes.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Self {
        let sections =
            ["pressure_memory", "pressure_io", "pressure_cpu", "vmstat", "zoneinfo", "buddyinfo", "settings"];
        let trouble = groups::worst(snapshot, window).filter(Trouble::is_telling);
        ShowPressure {
            schema_version: SCHEMA_VERSION,
            pressure: Some(verdict::pressure_with_groups(snapshot, window.copied())),
            trouble,
            watermarks: watermarks::from_snapshot(snapshot, window.copied()),
            groups_cut: snapshot.is_cut_in_groups(),
            unseen: super::unseen_of(snapshot, &sections),
        }
    }
}

impl Screen for ShowPressure {
    fn sheet(&self) -> Sheet {
        let mut sheet = topic(self.pressure.as_ref(), self.watermarks.as_ref());
        if let (Some(trouble), Some(pressure)) = (&self.trouble, &self.pressure) {
            sheet.painted(Paint::Warn, verdict::trouble_sentence(trouble, pressure));
            sheet.next("ramline explain cgroup-memory (why, and what to do)");
        }
        sheet.line(super::groups_cut(self.groups_cut));
        super::unseen(&mut sheet, &self.unseen);
        if self.pressure.as_ref().is_some_and(|p| p.rates.is_none()) {
            sheet.next("ramline show pressure --for 2s (rates and minutes need two readings)");
        }
        sheet
    }
}

/// Whether anything waits, in its one sentence, and how far it is to reclaim; what both rest on, on request.
pub(crate) fn topic(pressure: Option<&PressureModel>, marks: Option<&Watermarks>) -> Sheet {
    let mut sheet = Sheet::new();
    let span = pressure.and_then(|p| p.span);
    if let Some(pressure) = pressure {
        let (paint, words) = state_words(pressure);
        sheet.answer(paint, words);
        stalls(&mut sheet, pressure);
    }
    if let Some(marks) = marks {
        distances(&mut sheet, marks, span);
    }
    if let Some(pressure) = pressure {
        reclaim(&mut sheet, pressure);
        let killed =
            |n| format!("The kernel killed {n} for want of memory since boot. Which, and why: ramline explain kill");
        let kills = pressure.kills_since_boot.filter(|n| *n > 0);
        sheet.line(kills.map(|n| killed(number::things(n, "process"))));
    }
    if let Some(marks) = marks {
        sheet.more("Distance to reclaim, in MiB (now)", |more| {
            zones(more, marks, span);
            lists(more, marks);
            orders(more, marks);
        });
    }
    sheet
}

/// How far each node is from reclaim.
pub(crate) fn distances(sheet: &mut Sheet, marks: &Watermarks, span: Option<Nanos>) {
    for node in &marks.nodes {
        let paint = if node.band <= Band::MinToLow { Paint::Warn } else { Paint::Plain };
        sheet.painted(paint, node_words(node, marks.nodes.len() > 1, span));
    }
}

/// The judgement in a sentence, in the colour of its status.
fn state_words(pressure: &PressureModel) -> (Paint, &'static str) {
    let paint = match pressure.state {
        PressureState::Calm | PressureState::ReadAgain => Paint::Good,
        PressureState::Unknown | PressureState::Reclaiming => Paint::Bold,
        PressureState::Elsewhere | PressureState::Unexplained | PressureState::GroupAtLimit => Paint::Warn,
        PressureState::Stalling | PressureState::Refaulting | PressureState::Thrashing => Paint::Bad,
    };
    (paint, pressure.words())
}

/// PSI of the three resources.
fn psi_table(pressure: &PressureModel) -> Table {
    let over = pressure.span.map_or_else(String::new, |span| format!("over {span}"));
    let resources = [("memory", pressure.memory), ("io", pressure.io), ("cpu", pressure.cpu)];
    // The CPU runs something whenever all tasks wait for it: the kernel defines no such time for the system.
    let lines = resources.iter().flat_map(|(name, psi)| {
        let lines = psi.iter().flat_map(Psi::lines).filter(|line| !(*name == "cpu" && line.all_tasks));
        lines.map(|line| (*name, line)).collect::<Vec<_>>()
    });
    let lines: Vec<(&str, StallLine)> = lines.collect();
    let percent = |v: f64| format!("{v:.2} %");
    let whose = |line: &StallLine| if line.all_tasks { "all tasks" } else { "some task" };
    Table::from_rows(&lines)
        .left("stalled (PSI)", |(name, line)| format!("{name}, {}", whose(line)))
        .bar(|(_, line)| Some(line.share))
        .right(&over, |(_, line)| line.window.map(percent))
        .right("last 10 s", |(_, line)| percent(line.stall.avg10))
        .column(Column::right("60 s").spare(), |(_, line)| percent(line.stall.avg60))
        .column(Column::right("300 s").spare(), |(_, line)| percent(line.stall.avg300))
        .column(Column::right("since boot").spare(), |(_, line)| number::stalled(line.stall.total_us))
        .drawn()
}

fn stalls(sheet: &mut Sheet, pressure: &PressureModel) {
    let table = psi_table(pressure);
    if table.is_empty() {
        sheet.line(match &pressure.memory_gap {
            Some(PsiGap::NotCopied) => {
                "This capture has no /proc/pressure/memory: stall times are not known.".to_owned()
            }
            Some(gap @ (PsiGap::NotSeen(_) | PsiGap::NotYet)) => format!("Here {}.", gap.words()),
            _ => format!("{}: add psi=1 to the kernel's command line to have it.", PsiGap::Off.words()),
        });
    } else {
        sheet.blank();
        sheet.table(table);
    }
}

/// What reclaim did, per second.
pub(crate) fn reclaim(sheet: &mut Sheet, pressure: &PressureModel) {
    let Some(rates) = &pressure.rates else {
        sheet.line("Refaults and reclaim: counters since boot only, no rate.");
        return;
    };
    let kills = rates.oom_kills.filter(|n| *n > 0);
    let killed =
        |n| format!("{n} killed for want of memory in this window, in a group at its limit or on the machine.");
    sheet.painted(Paint::Bad, kills.map(killed));
    let title = format!("Reclaim, per second, {}", number::over(pressure.span));
    sheet.more(&title, |more| rates_table(more, rates));
}

fn rates_table(sheet: &mut Sheet, rates: &Rates) {
    let rows = [
        (rates.refault_file, "pages/s", "of files read again after they were evicted (refaults)"),
        (rates.refault_anon, "pages/s", "of processes needed again after they were swapped out (refaults)"),
        (rates.restore_file, "pages/s", "of files put straight back among the active ones"),
        (rates.major_faults, "faults/s", "had to read a device (major faults)"),
        (rates.scanned, "pages/s", "looked at by reclaim"),
        (rates.stolen, "pages/s", "freed by reclaim"),
        (rates.allocstall, "times/s", "an allocation had to reclaim by itself"),
    ];
    let table = Table::from_rows(rows.iter().filter(|row| row.0.is_some())).right("", |row| row.0.map(number::figure));
    sheet.table(table.left("", |row| row.1).wrapped("", |row| row.2).indented(2));
    if let Some(efficiency) = rates.efficiency.map(number::percent) {
        let direct = |share| format!("; {} of the scanning was done by waiting tasks", number::percent(share));
        let direct = rates.direct_share.map(direct).unwrap_or_default();
        sheet.line(format!("{efficiency} of the scanned pages were freed{direct}."));
    }
}

/// MiB, as watermarks are told, with one decimal.
fn mib(bytes: Bytes) -> String {
    format!("{:.1}", bytes.as_mib())
}

fn distance(distance: &Distance) -> String {
    let sign = if distance.bytes.is_negative() { "-" } else { "" };
    let minutes = distance.minutes.map(|m| format!(" ({})", number::minutes(m))).unwrap_or_default();
    format!("{sign}{}{minutes}", mib(distance.bytes.magnitude()))
}

/// Zones with their watermarks, in MiB.
fn marks_table(marks: &Watermarks) -> Table {
    let sizes = ["managed", "free", "min", "low", "high", "reserve", "to kswapd", "to stalls"].map(Column::right);
    let columns = [Column::left("MiB")].into_iter().chain(sizes).chain([Column::left("band")]);
    let mut table = Table::new(columns.collect());
    for node in &marks.nodes {
        for zone in &node.zones {
            table.row(zone_row(zone));
        }
        if node.zones.len() > 1 || marks.nodes.len() > 1 {
            table.row(node_row(node));
        }
    }
    table
}

fn zone_row(zone: &ZoneMarks) -> [Cell; 10] {
    let ZoneMarks { managed, free, min, low, high, reserve, .. } = zone;
    let [managed, free, min, low, high, reserve] = [managed, free, min, low, high, reserve].map(|b| mib(*b).into());
    let [to_low, to_min] = [&zone.to_low, &zone.to_min].map(|to| distance(to).into());
    let name = format!("node {} {}", zone.node, zone.name).into();
    [name, managed, free, min, low, high, reserve, to_low, to_min, band_cell(zone.band)]
}

fn node_row(node: &NodeMarks) -> [Cell; 10] {
    let NodeMarks { managed, free, min, low, high, .. } = node;
    let [managed, free, min, low, high] = [managed, free, min, low, high].map(|b| mib(*b).into());
    let [to_low, to_min] = [&node.to_low, &node.to_min].map(|to| Cell::painted(Paint::Bold, distance(to)));
    let name = Cell::painted(Paint::Bold, format!("node {}, usable", node.node));
    [name, managed, free, min, low, high, Cell::default(), to_low, to_min, band_cell(node.band)]
}

fn band_cell(band: Band) -> Cell {
    match band {
        Band::BelowMin => Cell::painted(Paint::Bad, "below min"),
        Band::MinToLow => Cell::painted(Paint::Warn, "min to low"),
        Band::LowToHigh => "low to high".into(),
        Band::AboveHigh => "above high".into(),
    }
}

/// How much can be taken on a node before reclaim begins.
fn node_words(node: &NodeMarks, named: bool, span: Option<Nanos>) -> String {
    let place = if named { format!(" on node {}", node.node) } else { String::new() };
    let minutes = |distance: &Distance| match (distance.minutes, span) {
        (Some(minutes), Some(span)) => {
            format!(" ({} if it went on like the last {span})", number::minutes(minutes))
        }
        _ => String::new(),
    };
    let away = |distance: &Distance, more: &str, yet: &str, past: &str| {
        let size = distance.bytes.magnitude();
        if distance.bytes.is_negative() {
            format!("{past} {size} ago")
        } else {
            format!("{size}{more}{} before {yet}", minutes(distance))
        }
    };
    format!(
        "Reclaim{place}: {}, {}.",
        away(
            &node.to_low,
            " more can be used",
            "the kernel starts to free memory",
            "the kernel started to free memory"
        ),
        away(&node.to_min, "", "tasks wait for it", "tasks began to wait for it")
    )
}

/// Where vm.watermark_scale_factor begins to work, as the kernel computes it.
const CROSSOVER: &str = "2500 x min_free / managed";

fn zones(sheet: &mut Sheet, marks: &Watermarks, span: Option<Nanos>) {
    sheet.table(marks_table(marks));
    sheet.dim(
        "kswapd wakes at low, allocations stall at min. A zone's distance is free less watermark; a node's leaves out what \
         zones reserve for other allocations.",
    );
    let mut timed = marks.nodes.iter().flat_map(|n| n.zones.iter().map(|z| z.to_low).chain([n.to_low]));
    if let Some(span) = span.filter(|_| timed.any(|d| d.minutes.is_some())) {
        sheet.dim(format!("In brackets: how long free memory would last if it went on like the last {span}."));
    }
    let mut bands: Vec<Band> = marks.nodes.iter().map(|n| n.band).collect();
    bands.sort_unstable();
    bands.dedup();
    for band in bands {
        let name = match band {
            Band::BelowMin => "Below min",
            Band::MinToLow => "Between min and low",
            Band::LowToHigh => "Between low and high",
            Band::AboveHigh => "Above high",
        };
        sheet.line(format!("{name}: {}.", band.meaning()));
    }
    let early = |bytes| {
        format!(
            "{bytes} of MemTotal are in no zone yet: the kernel hands them out before it wakes kswapd, so a node's distances count them."
        )
    };
    sheet.line(Some(marks.not_handed_out).filter(|bytes| bytes.0 > 0).map(early));
    sheet.line(marks.scale.as_ref().map(|ScaleFactor { value, crossover, gap, has_effect, .. }| {
        let effect = if *has_effect { "it widens the gaps" } else { "it changes nothing here" };
        format!(
            "vm.watermark_scale_factor is {value} (setting); it works only above {crossover:.1} ({CROSSOVER}), so {effect}; the gap \
             between two watermarks is {gap} over all zones."
        )
    }));
}

fn lists(sheet: &mut Sheet, marks: &Watermarks) {
    let zones = marks.nodes.iter().flat_map(|n| &n.zones).filter(|z| z.active.is_some());
    let table = Table::from_rows(zones)
        .left("MiB", |zone| format!("node {} {}", zone.node, zone.name))
        .right("active", |zone| zone.active.map(mib))
        .right("inactive", |zone| zone.inactive.map(mib))
        .right("unevictable", |zone| zone.unevictable.map(mib))
        .right("boost", |zone| zone.boost.filter(|b| b.0 > 0).map(mib));
    sheet.headed_table("Pages reclaim can look at (now)", table);
}

/// Free blocks by order: shown for the zone with most memory, since the others are small.
fn orders(sheet: &mut Sheet, marks: &Watermarks) {
    let zones = marks.nodes.iter().flat_map(|n| &n.zones);
    let Some(zone) = zones.filter(|z| !z.orders.is_empty()).max_by_key(|z| z.managed) else { return };
    let threshold = marks.extfrag_threshold.map(|t| format!("; the kernel compacts above {t}")).unwrap_or_default();
    sheet.heading(format!(
        "Free blocks of node {} {} (now; index in thousandths: 0 lack of memory, 1000 fragmentation{threshold})",
        zone.node, zone.name
    ));
    let index = |index| match index {
        Index::Suitable => "fits".to_owned(),
        Index::NoFreeBlock => "none".to_owned(),
        Index::Thousandths(n) => n.to_string(),
    };
    let rows = Table::from_rows([true, false]).left("order", |blocks| if blocks { "blocks" } else { "index" });
    let head = |order: &&Order| Column::right(&order.order.to_string());
    sheet.table(rows.columns(&zone.orders, head, |order, blocks| {
        if blocks { number::count(order.free_blocks) } else { index(order.index) }
    }));
}
