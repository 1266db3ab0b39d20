//! `ramline curve`: the share of misses that is left with more memory, as a picture.

use ramline_model::need::{CurveAnswer, NeedStep, READ_AHEAD_WORST, RoomCurve};
use ramline_sheet::format;

use super::per_second;
use crate::prelude::*;

impl Screen for RoomCurve {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let paint = match self.answer {
            CurveAnswer::NothingReturns => Paint::Good,
            CurveAnswer::Knee(_) | CurveAnswer::Beyond(..) => Paint::Warn,
            CurveAnswer::Fills | CurveAnswer::FirstReads => Paint::Bold,
        };
        sheet.answer(paint, answer(self));
        let misses = self.curve.misses_per_second().map(per_second).unwrap_or_default();
        let limit = self.limit.map(|limit| format!("; its limit is {limit}")).unwrap_or_default();
        sheet.line(format!("It uses {}, and misses its page cache {misses} times a second{limit}.", self.current));
        if !self.steps.is_empty() {
            sheet.headed_table("With more memory", table(self));
        }
        if let CurveAnswer::Beyond(reach, _) = self.answer {
            sheet.line(format!(
                "Beyond +{reach} nothing is answered: no more was evicted while it was watched. A longer --for goes further."
            ));
        }
        sheet.line(self.reads_ahead.map(|pages| {
            format!(
                "The kernel reads ahead, {pages:.1} pages a miss: between \"misses left\" and {READ_AHEAD_WORST} times as many are left. Without \
                 read-ahead it is the smaller share."
            )
        }));
        sheet.line(
            (self.curve.lost > 0)
                .then(|| format!("{} events were lost; the curve is less certain.", format::count(self.curve.lost))),
        );
        sheet.dim(format!(
            "For what it did in these {}; what it uses less often is not seen. {} pages were evicted, {} reads were of pages evicted meanwhile. \
             Page cache only: swap is not counted.",
            self.curve.watched,
            format::count(self.curve.pages_evicted),
            format::count(self.curve.returns),
        ));
        sheet
    }
}

fn answer(curve: &RoomCurve) -> String {
    let whose = match curve.group.as_str() {
        "/" => "The machine".to_owned(),
        group => ramline_units::escape(group).into_owned(),
    };
    let not = if curve.group == "/" { "the machine" } else { &whose };
    match curve.answer {
        CurveAnswer::Knee(more) => format!("{whose} would miss next to nothing with {more} more."),
        CurveAnswer::Beyond(more, left) => {
            format!("{whose} would still have {} of its misses with {more} more.", number::percent(left))
        }
        CurveAnswer::NothingReturns => {
            format!("{whose} would gain nothing from more memory: hardly anything was read again.")
        }
        CurveAnswer::Fills => format!("Not answered: {not} is still growing. Ask again when its size stays the same."),
        CurveAnswer::FirstReads => {
            format!("Not answered: what {not} reads was not evicted while it was watched. A longer --for may see it.")
        }
    }
}

fn table(curve: &RoomCurve) -> Table<&NeedStep> {
    let table = Table::from_rows(&curve.steps)
        .right("more", |step| format!("+{}", step.more))
        .right("misses left", |step| step.left.map_or_else(|| "not answered".to_owned(), number::percent));
    let table = match curve.reads_ahead {
        Some(_) => table.right("to", |step| step.at_most.map(number::percent)),
        None => table,
    };
    table.right("a second", |step| step.misses_per_second.map(per_second)).bar(|step| step.left)
}
