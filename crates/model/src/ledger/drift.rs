//! How far lines of the ledger moved: while it was looked at, and between two reports.
//!
//! Not a rate. A movement smaller than the drift of a line is no movement.
//!
//! Worked example: a line of 4 GiB then and 1 GiB now that drifted by 10 MiB while either was read moved by -3 GiB, beyond its drift.

use std::collections::BTreeSet;

use super::{Ledger, Term};
use crate::prelude::*;

/// How far one line of the ledger moved between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// The line.
    pub id: Term,
    /// Later less earlier.
    pub bytes: SignedBytes,
}

/// How far the ledger moved while it was looked at: numbers closer than this are not different.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Drift {
    /// Time between the two readings.
    pub span: Nanos,
    /// Lines that moved, the largest movement first.
    pub lines: Vec<Moved>,
    /// Movement of the leftover.
    pub leftover: SignedBytes,
}

/// Lines that differ, the largest movement first.
fn moves(before: &Ledger, after: &Ledger) -> Vec<Moved> {
    let terms: BTreeSet<Term> = before.lines.iter().chain(&after.lines).map(|line| line.id).collect();
    let moved = |id: Term| Moved { id, bytes: SignedBytes::difference(after.bytes(id), before.bytes(id)) };
    let mut lines: Vec<Moved> = terms.into_iter().map(moved).filter(|m| m.bytes.0 != 0).collect();
    ramline_units::sort_by_key(&mut lines, |m| std::cmp::Reverse(m.bytes.magnitude()));
    lines
}

impl Drift {
    /// The drift between two readings of one machine. A line that only one of them has counts as moved by all of it.
    #[must_use]
    pub fn between(before: &Ledger, after: &Ledger, span: Nanos) -> Drift {
        let leftover = SignedBytes(after.leftover.0.saturating_sub(before.leftover.0));
        Drift { span, lines: moves(before, after), leftover }
    }

    /// Movement of one line.
    #[must_use]
    pub fn moved(&self, id: Term) -> SignedBytes {
        self.lines.iter().find(|m| m.id == id).map_or(SignedBytes(0), |m| m.bytes)
    }

    /// The largest movement of any line, without its sign.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.lines.first().map_or(Bytes::ZERO, |m| m.bytes.magnitude())
    }
}

/// A line of the ledger in both reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineMove {
    /// Its name.
    pub label: String,
    /// Then.
    pub old: Bytes,
    /// Now.
    pub new: Bytes,
    /// Now less then.
    pub moved: SignedBytes,
    /// The movement is larger than the line drifted while either report was made.
    pub beyond_drift: bool,
}

impl LineMove {
    /// Lines that moved from one report to another, each with the drift while it was made, the largest movement first.
    #[must_use]
    pub fn all(old: (&Ledger, Option<&Drift>), new: (&Ledger, Option<&Drift>)) -> Vec<LineMove> {
        let (before, after) = (old.0, new.0);
        let drift = |drift: Option<&Drift>, id| drift.map_or(Bytes::ZERO, |d| d.moved(id).magnitude());
        let line = |Moved { id, bytes: moved }| {
            let label = [before, after].into_iter().filter_map(|ledger| ledger.line(id)).map(|line| &line.label).min();
            let beyond_drift = moved.magnitude() > drift(old.1, id) + drift(new.1, id);
            let label = label.cloned().unwrap_or_default();
            LineMove { label, old: before.bytes(id), new: after.bytes(id), moved, beyond_drift }
        };
        moves(before, after).into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::meminfo::Meminfo;
    use ramline_snapshot::{Seen, Snapshot, machine::Machine};

    use super::*;

    fn ledger(free_mib: u64, percpu_mib: u64) -> Ledger {
        let mut seen = Snapshot::new(Machine::default());
        let (free, percpu) = (free_mib << 10, percpu_mib << 10);
        let text = format!("MemTotal: 8388608 kB\nMemFree: {free} kB\nPercpu: {percpu} kB\n");
        seen.meminfo = Seen::new(Meminfo::parse("meminfo", &text).unwrap());
        Ledger::from_snapshot(&seen).unwrap()
    }

    #[test]
    fn the_largest_movement_of_a_ledger_is_first_and_the_leftover_moves_the_other_way() {
        let drift = Drift::between(&ledger(4096, 1), &ledger(4000, 3), Nanos(2_000_000_000));
        assert_eq!((drift.lines[0].id, drift.moved(Term::Free)), (Term::Free, SignedBytes(-(96 << 20))));
        assert_eq!((drift.largest(), drift.leftover), (Bytes::from_mib(96), SignedBytes(94 << 20)));
        assert_eq!(Drift::between(&ledger(1, 1), &ledger(1, 1), Nanos(1)).largest(), Bytes::ZERO);
    }

    #[test]
    fn a_line_moved_beyond_its_drift_when_both_reports_drifted_by_less() {
        let drift = Drift::between(&ledger(4096, 1), &ledger(4046, 1), Nanos(1));
        let (old, new) = (ledger(4096, 1), ledger(4000, 1));
        let beyond = |a, b| LineMove::all((&old, a), (&new, b))[0].beyond_drift;
        assert!(beyond(None, None) && beyond(Some(&drift), None));
        assert!(!beyond(Some(&drift), Some(&drift)), "96 MiB are less than 50 and 50");
        assert!(LineMove::all((&old, None), (&old, None)).is_empty());
    }
}
