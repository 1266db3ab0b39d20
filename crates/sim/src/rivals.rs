//! What simpler models say of a load, to be put beside a forecast: one list, and two lists.
//!
//! They know pages, a number of them that fits, and nothing of the kernel: no read-ahead, no swappiness, no accessed bits, no time. Without swap,
//! anonymous pages stay.

use ramline_trace::generate::Memory as Kind;
use ramline_units::JsonSchema;
use serde::Serialize;

use crate::chance;
use crate::load::{Compact, word};
use crate::page::{List, Pages, bit};
use crate::setting::{Setting, SwapTo};

/// Counts of a model, over the fill and all rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelCounts {
    /// Touches through a mapping that found no page.
    pub major: u64,
    /// Refaults of anonymous pages.
    pub swap_in: u64,
    /// Refaults of file pages.
    pub refault_file: u64,
    /// Pages of files that came, back or for the first time.
    pub read: u64,
}

/// A rule which page goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// One list: what was not touched for the longest time goes.
    Lru,
    /// Two lists: what was touched once goes first; what was touched twice is on a second list, up to twice as long as the first.
    TwoLists,
}

/// What the two rules say of a setting, a round.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Simpler {
    /// One list.
    pub one_list: SimplerCounts,
    /// Two lists.
    pub two_lists: SimplerCounts,
}

/// Counts a round, as those of a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct SimplerCounts {
    /// Major faults.
    pub major: f64,
    /// Pages that are read from swap.
    pub swap_in: f64,
    /// Refaults of file pages.
    pub refault_file: f64,
}

/// Both rules for a setting, with the room that the group has for its load at best.
#[must_use]
pub fn simpler(load: &Compact, setting: &Setting) -> Simpler {
    let room = setting.limit.saturating_sub(chance::least_base(load));
    let rounds = load.round_count().max(1.0);
    let each = |rule| {
        let counted = run(load, rule, room, setting.swap != SwapTo::Nowhere);
        SimplerCounts {
            major: whole(counted.major) / rounds,
            swap_in: whole(counted.swap_in) / rounds,
            refault_file: whole(counted.refault_file) / rounds,
        }
    };
    Simpler { one_list: each(Rule::Lru), two_lists: each(Rule::TwoLists) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
const fn whole(count: u64) -> f64 {
    count as f64
}

struct Model<'a> {
    load: &'a Compact,
    rule: Rule,
    can_swap: bool,
    room: u64,
    pages: Pages,
    lists: [List; 2],
    held: u64,
    counted: ModelCounts,
}

/// Was in RAM before.
const WAS: u32 = bit::WORKINGSET;

/// Runs a load through one of the rules.
#[must_use]
pub fn run(load: &Compact, rule: Rule, room: u64, can_swap: bool) -> ModelCounts {
    let pages = crate::run::pages(load, |_, _| 0);
    let lists = Default::default();
    let mut model = Model { load, rule, can_swap, room, pages, lists, held: 0, counted: ModelCounts::default() };
    load.each(|id, access| model.touch(id, access));
    model.counted
}

impl Model<'_> {
    fn touch(&mut self, id: u32, access: u32) {
        let flags = self.pages.flags[id as usize];
        if flags & bit::RESIDENT != 0 {
            if flags & bit::LISTED != 0 {
                self.again(id);
            }
            return;
        }
        let kind = self.load.region_of(id).map_or(Kind::File, |region| region.memory);
        let is_new = flags & WAS == 0;
        if is_new && kind == Kind::Anonymous && access != word::STORE {
            return;
        }
        let came = u64::from(kind == Kind::File || !is_new);
        self.counted.major += if access < word::READ { came } else { 0 };
        if kind == Kind::File {
            self.counted.read += 1;
            self.counted.refault_file += u64::from(!is_new);
        } else {
            self.counted.swap_in += u64::from(!is_new);
        }
        while self.held >= self.room && self.free() {}
        self.held += 1;
        self.pages.set(id, bit::RESIDENT | WAS);
        if kind == Kind::File || self.can_swap {
            self.lists[0].push(&mut self.pages, id);
        }
    }

    fn again(&mut self, id: u32) {
        let was_active = usize::from(self.pages.is(id, bit::ACTIVE));
        self.lists[was_active].remove(&mut self.pages, id);
        if self.rule == Rule::TwoLists {
            self.pages.set(id, bit::ACTIVE);
        }
        self.lists[usize::from(self.rule == Rule::TwoLists)].push(&mut self.pages, id);
        while self.lists[1].len > 2 * self.lists[0].len + 1 {
            let Some(id) = self.lists[1].pop(&mut self.pages) else { break };
            self.pages.clear(id, bit::ACTIVE);
            self.lists[0].push(&mut self.pages, id);
        }
    }

    fn free(&mut self) -> bool {
        let pages = &mut self.pages;
        let Some(id) = self.lists[0].pop(pages).or_else(|| self.lists[1].pop(pages)) else { return false };
        pages.clear(id, bit::RESIDENT | bit::ACTIVE);
        self.held -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use ramline_trace::generate::{Access, Memory, Region, Touch};

    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    fn counted(rule: Rule, pages: &[u64], room: u64) -> ModelCounts {
        let touches = pages.iter().map(|page| Touch { region: 0, access: Access::Load, offset: page * 4096 });
        let file = Region { memory: Memory::File, bytes: 16 * 4096 };
        run(&Compact::new(&[file], [].into_iter(), touches, 1).unwrap(), rule, room, true)
    }

    #[test]
    fn one_list_reads_all_of_a_loop_that_is_one_page_too_long() {
        let turns = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        assert_eq!(counted(Rule::Lru, &turns, 2).major, 9);
        assert_eq!(counted(Rule::Lru, &turns, 3).refault_file, 0);
    }

    #[test]
    fn a_setting_gives_its_limit_less_what_the_group_needs_for_itself() {
        let touches =
            [0, 1, 2, 0, 1, 2, 0, 1, 2].map(|page| Touch { region: 0, access: Access::Load, offset: page * 4096 });
        let file = Region { memory: Memory::File, bytes: 16 * 4096 };
        let load = Compact::new(&[file], [].into_iter(), touches.into_iter(), 3).unwrap();
        let with = |room| Setting {
            limit: room + chance::least_base(&load),
            swap: SwapTo::Nowhere,
            ..group(1, PRESETS[2], Chance::default()).setting
        };
        let of = |room| simpler(&load, &with(room)).one_list;
        assert_eq!(
            of(2),
            SimplerCounts { major: 3.0, swap_in: 0.0, refault_file: 2.0 },
            "three rounds of three pages, the first for the first time"
        );
        assert_eq!(of(3), SimplerCounts { major: 1.0, ..SimplerCounts::default() });
    }

    #[test]
    fn of_two_lists_a_scan_takes_only_the_first() {
        // Pages 0 and 1 are touched twice before pages 2 to 9 pass by once.
        let touches = [0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1];
        assert_eq!(counted(Rule::Lru, &touches, 4).refault_file, 2);
        assert!(counted(Rule::TwoLists, &touches, 4).refault_file < 2);
    }
}
