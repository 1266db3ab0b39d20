//! From what a child reported to the numbers of a table.
//!
//! What it is: for each operation its rate by the clock under the operation's name, and beside it `NAME: per CPU second`,
//! `NAME: user` and `NAME: system`; the cost of the harness is taken off. What it is not: a judgement.

use super::task::{Counts, FileReport, Op};
use crate::prelude::*;

/// The figures of one operation. A rate over no time at all is left out.
#[must_use]
pub fn from_report(op: Op, report: &FileReport) -> Vec<Figure> {
    let cost = report.cost.without(report.harness);
    let (amount, unit) = match op.counts() {
        Counts::Bytes => (report.bytes, "bytes/s"),
        Counts::Things(unit) => (report.things, unit),
    };
    let (name, amount) = (op.name(), amount as f64);
    let mut out = Figures::default();
    out.rate(name, amount, cost.wall, unit);
    out.rate(&format!("{name}: per CPU second"), amount, cost.cpu(), unit);
    out.time(&format!("{name}: user"), cost.user);
    out.time(&format!("{name}: system"), cost.system);
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fileops::Cost;
    use ramline_units::Nanos;

    #[test]
    fn the_article_s_rates_come_out_of_its_times() {
        // 10,000 reads in 1.57 s of user and 5.86 s of system time: 1346 per CPU second.
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let cost = Cost { wall: ms(8_000), user: ms(1_670), system: ms(5_860) };
        let harness = Cost { wall: ms(100), user: ms(100), system: ms(0) };
        let figures =
            from_report(Op::Read, &FileReport { cost, harness, things: 10_000, bytes: 1, ..FileReport::default() });
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value.round());
        assert_eq!(value("read: per CPU second"), Some(1346.0));
        assert_eq!(value("read"), Some(1266.0));
        assert_eq!(figures[0].unit, "reads/s");
        assert_eq!(from_report(Op::Write, &FileReport::default()).len(), 2, "no rate over no time");
    }
}
