//! `checkup --compare OLD NEW`: what moved between two reports, and which differences may be claimed.
//!
//! No trend: two reports are two points, each with one measurement of a tier: see `TierChange` for what may be said.
//!
//! Worked example: median read 80 us (99 % within 120) then, 400 us now: it differs, 5.00 times. 85 us now, or 130: it does not.

use ramline_evidence::TierChange;
use ramline_model::ledger::{Drift, Ledger, LineMove};
use ramline_snapshot::machine::Machine;

use super::screen::NO_VERDICT;
use crate::prelude::*;
use crate::{CheckupReport, Mode};

/// Movements of the ledger that are shown.
const MOVES: usize = 10;

/// A tier measured in both reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TierMove {
    /// Its name.
    pub label: String,
    /// Median then and now, of what: `4 KiB access`, `sequential throughput`.
    pub what: String,
    /// Then, with its unit.
    pub old: String,
    /// Now, with its unit.
    pub new: String,
    /// Now over then.
    pub ratio: Option<f64>,
    /// The spreads within the two do not overlap, and it is at least twice or at most half: runs on an unchanged machine differ by up
    /// to a half.
    pub separated: bool,
}

/// A finding by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingRef {
    /// Its stable name.
    pub id: String,
    /// Its sentence.
    pub title: String,
}

/// What a comparison needs of a report; of an earlier one no more is read.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// Version of the document.
    pub schema_version: u64,
    /// Version of ramline.
    pub ramline: String,
    mode: Mode,
    machine: Machine,
    sentence: String,
    ledger: Option<Ledger>,
    drift: Option<Drift>,
    measured: Option<TierReport>,
    findings: Vec<FindingRef>,
}

impl From<&CheckupReport> for Compared {
    fn from(report: &CheckupReport) -> Self {
        Compared {
            schema_version: report.schema_version,
            ramline: report.ramline.clone(),
            mode: report.mode,
            machine: report.machine.clone(),
            sentence: report.sentence.clone(),
            ledger: report.ledger.clone(),
            drift: report.drift.clone(),
            measured: report.measured.clone(),
            findings: report.findings.iter().map(|f| FindingRef { id: f.id.clone(), title: f.title.clone() }).collect(),
        }
    }
}

/// Two reports side by side.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Comparison")]
pub struct CheckupComparison {
    /// Version of this document.
    pub schema_version: u64,
    /// What makes the two hard to compare: another kernel, another amount of RAM, another mode.
    pub cautions: Vec<String>,
    /// The verdict then.
    pub old_sentence: String,
    /// The verdict now.
    pub new_sentence: String,
    /// Ledger lines that moved, the largest movement first.
    pub ledger: Vec<LineMove>,
    /// Tiers measured in both.
    pub tiers: Vec<TierMove>,
    /// Findings only the new report has.
    pub appeared: Vec<FindingRef>,
    /// Findings only the old report has.
    pub gone: Vec<FindingRef>,
    /// Findings in both.
    pub stayed: Vec<FindingRef>,
}

impl CheckupComparison {
    /// The comparison of two checkups.
    #[must_use]
    pub fn between(old: &Compared, new: &Compared) -> CheckupComparison {
        let only = |here: &Compared, there: &Compared, shared: bool| {
            let kept = here.findings.iter().filter(|f| there.findings.iter().any(|other| other.id == f.id) == shared);
            kept.cloned().collect::<Vec<_>>()
        };
        CheckupComparison {
            schema_version: SCHEMA_VERSION,
            cautions: cautions(old, new),
            old_sentence: old.sentence.clone(),
            new_sentence: new.sentence.clone(),
            ledger: ledger(old, new),
            tiers: tiers(old, new),
            appeared: only(new, old, false),
            gone: only(old, new, false),
            stayed: only(new, old, true),
        }
    }
}

fn cautions(old: &Compared, new: &Compared) -> Vec<String> {
    let mut out = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        out.extend((a != b).then(|| format!("{what}: {a} then, {b} now")));
    };
    differ("kernel", old.machine.kernel.clone(), new.machine.kernel.clone());
    differ("CPUs", old.machine.cpus.to_string(), new.machine.cpus.to_string());
    let total = |r: &Compared| r.ledger.as_ref().map_or_else(|| "not known".to_owned(), |l| l.total.to_string());
    differ("MemTotal", total(old), total(new));
    differ("mode", old.mode.word().to_owned(), new.mode.word().to_owned());
    differ("ramline", old.ramline.clone(), new.ramline.clone());
    let user = |r: &Compared| if r.machine.root { "root" } else { "an ordinary user" }.to_owned();
    differ("run as", user(old), user(new));
    out
}

fn ledger(old: &Compared, new: &Compared) -> Vec<LineMove> {
    let (Some(before), Some(after)) = (&old.ledger, &new.ledger) else { return Vec::new() };
    LineMove::all((before, old.drift.as_ref()), (after, new.drift.as_ref()))
}

fn tiers(old: &Compared, new: &Compared) -> Vec<TierMove> {
    let (Some(before), Some(after)) = (&old.measured, &new.measured) else { return Vec::new() };
    let mut out = Vec::new();
    for tier in &after.tiers {
        let Some(then) = before.tier(&tier.tier) else { continue };
        let (label, access) = (&tier.label, |ns: f64| Nanos(number::bytes(ns.round()).0).to_string());
        let row = |what: &str, change: TierChange, show: &dyn Fn(f64) -> String| TierMove {
            label: label.clone(),
            what: what.to_owned(),
            old: show(change.old),
            new: show(change.new),
            ratio: change.ratio,
            separated: change.differs,
        };
        out.extend(tier.access_since(then).map(|change| row("4 KiB access", change, &access)));
        let rate = |value: f64| number::per_second(number::bytes(value));
        out.extend(tier.throughput_since(then).map(|change| row("sequential", change, &rate)));
    }
    out
}

impl Screen for CheckupComparison {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        for (label, sentence) in [("then: ", &self.old_sentence), ("now:  ", &self.new_sentence)] {
            sheet.point(label, if sentence.is_empty() { NO_VERDICT } else { sentence });
        }
        self.cautions.iter().for_each(|caution| sheet.warn(format!("Mind: {caution}.")));
        sheet.headed_table("Ledger, the largest movements", ledger_table(&self.ledger));
        let more = number::beyond(self.ledger.len(), MOVES);
        sheet.dim((more > 0).then(|| format!("and {more} more that moved less")));
        let title = "Tiers (medians of one measurement each; below a factor of 2 they do not differ)";
        sheet.headed_table(title, tier_table(&self.tiers));
        sheet.heading("Findings");
        let lists = [
            ("new:  ", &self.appeared, Paint::Warn),
            ("gone: ", &self.gone, Paint::Good),
            ("still:", &self.stayed, Paint::Plain),
        ];
        for (label, list, paint) in lists {
            for finding in list {
                sheet.painted_point(paint, &format!("  {label} "), format!("{} [{}]", finding.title, finding.id));
            }
        }
        sheet.point("  ", (lists.iter().all(|(_, list, _)| list.is_empty())).then_some("none, then and now"));
        sheet
    }
}

fn ledger_table(lines: &[LineMove]) -> Table<&LineMove> {
    let note = |line: &LineMove| if line.beyond_drift { "" } else { "within the drift" };
    Table::from_rows(lines.iter().take(MOVES))
        .wrapped("line", |line| &line.label)
        .right("then", |line| line.old)
        .right("now", |line| line.new)
        .right("moved", |line| number::moved(line.moved))
        .left("", |line| Cell::painted(Paint::Dim, note(line)))
}

fn tier_table(tiers: &[TierMove]) -> Table<&TierMove> {
    Table::from_rows(tiers)
        .wrapped("tier", |tier| &tier.label)
        .left("", |tier| &tier.what)
        .right("then", |tier| &tier.old)
        .right("now", |tier| &tier.new)
        .right("ratio", |tier| tier.ratio.map(|r| format!("{r:.2}")))
        .left("", |tier| {
            let (paint, claim) = if tier.separated { (Paint::Bold, "differs") } else { (Paint::Dim, "no difference") };
            Cell::painted(paint, claim)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkup::findings::tests::sample;
    use crate::text::Style;
    use ramline_evidence::{LatencyStats, TierMeasurement};
    use ramline_snapshot::{Seen, Snapshot, meminfo::Meminfo};

    fn against(old: &CheckupReport, new: &CheckupReport) -> CheckupComparison {
        CheckupComparison::between(&old.into(), &new.into())
    }

    fn report(free_mib: u64, disk_us: u64) -> CheckupReport {
        let mut seen = Snapshot::new(Machine::default());
        let text = format!("MemTotal: 8388608 kB\nMemFree: {} kB\nPercpu: 1024 kB\n", free_mib * 1024);
        seen.meminfo = Seen::new(Meminfo::parse("meminfo", &text).unwrap());
        let disk = TierMeasurement {
            tier: "disk:/".into(),
            label: "disk under /".into(),
            latency: LatencyStats::from_durations(&[
                Nanos(disk_us * 900),
                Nanos(disk_us * 1000),
                Nanos(disk_us * 1200),
            ]),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: vec![],
        };
        CheckupReport {
            sentence: format!("{free_mib} MiB free."),
            ledger: Ledger::from_snapshot(&seen),
            measured: Some(TierReport { tiers: vec![disk], ..TierReport::default() }),
            ..CheckupReport::default()
        }
    }

    #[test]
    fn movements_ratios_and_findings_stand_side_by_side() {
        let (old, mut new) = (report(4096, 80), report(1024, 400));
        new.findings.push(sample());
        let comparison = against(&old, &new);
        assert!(comparison.tiers[0].separated && comparison.ledger[0].beyond_drift);
        assert_eq!(
            comparison.text(&Style::default()),
            "\
then: 4096 MiB free.
now:  1024 MiB free.

Ledger, the largest movements
line     then      now     moved
free  4.0 GiB  1.0 GiB  -3.0 GiB

Tiers (medians of one measurement each; below a factor of 2 they do not differ)
tier                           then       now  ratio
disk under /  4 KiB access  80.0 us  400.0 us   5.00  differs

Findings
  new:   zram0 is used after /dev/vda2, which is slower [swap-outranked]
"
        );
    }

    #[test]
    fn a_median_inside_the_others_spread_claims_no_difference() {
        let comparison = against(&report(1, 80), &report(1, 85));
        assert!(!comparison.tiers[0].separated);
        assert!(comparison.ledger.is_empty());
        let text = comparison.text(&Style::default());
        assert!(text.contains("1.06  no difference") && text.contains("none, then and now"), "{text}");
    }

    #[test]
    fn another_machine_is_named_as_a_caution() {
        let (old, mut new) = (report(1, 80), report(1, 80));
        new.machine.kernel = "6.12".into();
        new.machine.root = true;
        let cautions = against(&old, &new).cautions;
        assert_eq!(cautions, ["kernel:  then, 6.12 now", "run as: an ordinary user then, root now"]);
    }
}
