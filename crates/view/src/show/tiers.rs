//! `show tiers`: the tiers memory moves between, what they use and cost, and the order in which they are reclaimed.

use ramline_model::balance::{self, Balance};
use ramline_model::tiers::{self, Tier};

use super::ShowSwap;
use crate::measure::measured::priced;
use crate::prelude::*;

/// The tiers, fastest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowTiers {
    /// Version of this document.
    pub schema_version: u64,
    /// The tiers.
    pub tiers: Vec<Tier>,
    /// Under which conditions the costs were measured; empty where they were not.
    pub conditions: Vec<String>,
    /// The scan balance between process memory and page cache; `None` where swappiness was not seen.
    pub balance: Option<Balance>,
    /// Swap areas: without any, swappiness has no effect. `None` where /proc/swaps was not seen.
    pub swap_areas: Option<usize>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowTiers {
    /// What it looks at.
    pub const WANTED: Wanted = ShowSwap::WANTED;

    /// From a snapshot, with the costs of a tier report where there is one.
    #[must_use]
    pub fn new(snapshot: &Snapshot, report: Option<&TierReport>) -> Self {
        let tiers = tiers::from_snapshot(snapshot);
        let swappiness = snapshot.settings.data().and_then(|s| u64::try_from(s.swappiness?).ok());
        let mglru = snapshot.lru_gen.data().is_some_and(ramline_snapshot::switches::LruGen::is_on);
        ShowTiers {
            schema_version: SCHEMA_VERSION,
            tiers: match report {
                Some(report) => priced(snapshot, tiers, report),
                None => tiers,
            },
            conditions: report.map(|r| r.conditions.clone()).unwrap_or_default(),
            balance: swappiness.map(|s| balance::for_swappiness(s, mglru)),
            swap_areas: snapshot.swaps.data().map(Vec::len),
            unseen: super::unseen_of(snapshot, &["meminfo", "swaps", "zram", "zswap", "mounts", "settings"]),
        }
    }
}

impl Screen for ShowTiers {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, answer(&self.tiers));
        order(&mut sheet, &self.tiers);
        if let Some(balance) = &self.balance {
            sheet.line(balance_words(balance, self.swap_areas));
        }
        if !self.conditions.is_empty() {
            sheet.more("How the times were measured", |more| more.dim(format!("{}.", self.conditions.join("; "))));
        }
        super::unseen(&mut sheet, &self.unseen);
        if self.tiers.iter().all(|t| t.cost.is_none()) {
            sheet.next("ramline measure tiers (what an access to each costs here)");
        }
        sheet
    }
}

/// Which tier is reclaimed first.
fn answer(tiers: &[Tier]) -> String {
    let first: Vec<&str> = tiers.iter().filter(|t| t.gives_way == Some(1)).map(|t| t.name.as_str()).collect();
    match first.as_slice() {
        [] => "When memory runs short nothing can be reclaimed here.".to_owned(),
        names => format!("When memory runs short the {} is reclaimed first.", names.join(", then the ")),
    }
}

/// The tiers in a table, and how each is reclaimed.
pub(crate) fn order(sheet: &mut Sheet, tiers: &[Tier]) {
    if tiers.is_empty() {
        return;
    }
    sheet.blank();
    sheet.table(table(tiers));
    sheet.more("How each is reclaimed", |more| {
        let mut order: Vec<&Tier> = tiers.iter().filter(|t| t.gives_way.is_some()).collect();
        ramline_units::sort_by_key(&mut order, |t| t.gives_way);
        for tier in order {
            more.point(&format!("  {}. ", tier.gives_way.unwrap_or_default()), format!("{}: {}", tier.name, tier.how));
        }
        for tier in tiers.iter().filter(|t| t.gives_way.is_none()) {
            more.point("  -  ", format!("{}: {}", tier.name, tier.how));
        }
        more.dim("Sizes are of now, uncompressed. Tiers with the same number are balanced by swappiness and age.");
    });
}

fn table(tiers: &[Tier]) -> Table<&Tier> {
    Table::from_rows(tiers)
        .wrapped("tier", |tier| &tier.name)
        .right("uses", |tier| number::known(tier.used))
        .right("of", |tier| tier.capacity)
        .column(Column::right("RAM it takes").spare(), |tier| number::known(tier.ram))
        .right("4 KiB: median", |tier| tier.cost.map(|c| c.ns_p50))
        .column(Column::right("99 % within").spare(), |tier| tier.cost.map(|c| c.ns_p99))
        .right("reclaimed", |tier| tier.gives_way.map_or_else(|| "no".to_owned(), nth))
}

/// The place in the order: `first`, `second`, `3rd`.
pub(crate) fn nth(place: u32) -> String {
    match place {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
}

/// What a swappiness means in shares of scanning.
pub(crate) fn balance_words(balance: &Balance, swap_areas: Option<usize>) -> String {
    let set = format!("vm.swappiness is {} (setting, 0 to 200)", balance.swappiness);
    if swap_areas == Some(0) {
        return format!("{set} and has no effect: without swap only file pages are reclaimed.");
    }
    if balance.mglru {
        return format!(
            "{set}. Reclaim goes by generations (MGLRU): the classic shares do not apply, a higher value still means more process and \
             tmpfs memory."
        );
    }
    let [equal, file, anon] = [balance.equal_costs, balance.file_costless, balance.anon_costless].map(number::percent);
    format!(
        "{set}: at equal costs {equal} of scanning goes to process and tmpfs memory, between {file} and {anon} as file or swap reads \
         get cheaper; the kernel does not export the costs it sees."
    )
}
