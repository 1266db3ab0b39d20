//! What the program that touches a load needs of its own memory now and then: for each report of how far the load is.
//!
//! Those pages come back from swap one by one, and the reclaim that makes room for them may write what others may not. Left out: what it needs at every
//! touch, which never leaves RAM.

use crate::fault;
use crate::load::{Compact, Program, word};
use crate::memory::Memory;

/// When it reports.
pub struct Reports {
    program: Option<Program>,
    /// The pages that it needs then.
    pages: Vec<u32>,
    of_a_round: u64,
    /// The touch behind which it looks at the clock next.
    pub next: u64,
    last: u64,
}

impl Reports {
    /// While the load fills its memory.
    pub fn of(load: &Compact) -> Reports {
        let program = load.program.map(|(program, _)| program);
        let pages = load
            .program
            .map_or(Vec::new(), |(program, first)| program.report.iter().map(|page| first + page).collect());
        let next = program.map_or(u64::MAX, |program| program.look);
        Reports { program, pages, of_a_round: u64::MAX, next, last: 0 }
    }

    /// The rounds begin at this time.
    pub fn begin(&mut self, clock: u64, of_a_round: u64) {
        (self.of_a_round, self.last) = (of_a_round, clock);
        self.next = self.program.map_or(u64::MAX, |program| program.look.min(of_a_round));
    }

    /// A look at the clock, behind so many touches.
    pub fn look(&mut self, memory: &mut Memory, touches: u64) {
        let Some(program) = self.program else { return };
        let in_round = touches % self.of_a_round;
        self.next = touches + program.look.min(self.of_a_round - in_round);
        if in_round > 0 {
            if memory.clock - self.last < program.every {
                return;
            }
            self.last = memory.clock;
        }
        for touch in self.pages.iter().map(|id| id | word::LOAD) {
            if memory.killed {
                return;
            }
            if !fault::hit(memory, touch) {
                fault::miss(memory, touch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    const PROGRAM: Program = Program { idle: 3, report: &[2, 0, 3, 1], look: 64, every: 1000, own: Program::OWN };

    fn reports() -> Reports {
        let load = Compact::new(&[], [].into_iter(), [].into_iter(), 150).unwrap().with_program(PROGRAM);
        Reports::of(&load)
    }

    #[test]
    fn the_pages_of_a_report_lie_behind_the_idle_ones_and_are_needed_in_an_order_of_their_own() {
        assert_eq!(reports().pages, [5, 3, 6, 4]);
    }

    #[test]
    fn looks_begin_anew_with_each_round() {
        let mut reports = reports();
        reports.program = Some(Program { report: &[], ..PROGRAM });
        reports.pages.clear();
        reports.begin(0, 150);
        let [kernel, ..] = PRESETS;
        let mut memory = group(8, kernel, Chance::default());
        let mut looks = Vec::new();
        for _ in 0..4 {
            looks.push(reports.next);
            reports.look(&mut memory, reports.next);
        }
        assert_eq!(looks, [64, 128, 150, 214]);
    }

    #[test]
    fn the_end_of_a_round_is_no_report_that_others_wait_for() {
        let mut reports = reports();
        reports.begin(0, 150);
        let [kernel, ..] = PRESETS;
        let mut memory = group(8, kernel, Chance::default());
        memory.killed = true;
        let mut at = |clock, touches| {
            memory.clock = clock;
            reports.look(&mut memory, touches);
            reports.last
        };
        assert_eq!([at(999, 64), at(1000, 128), at(1400, 150), at(2000, 214)], [0, 1000, 1000, 2000]);
    }
}
