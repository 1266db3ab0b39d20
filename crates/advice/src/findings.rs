//! The findings: one file a rule, one line in the table.
//!
//! A rule answers `None` when there is nothing to say or not enough was seen. What is found is ranked by weight, then by
//! confidence, then by the order of the table. When no rule fires, that is a finding too: `nothing-to-change` says what
//! was looked at and what could not be seen.

pub(crate) mod dirty_limits_in_seconds;
mod group_at_limit_loses_cache;
mod group_held_at_limit;
mod huge_pages_fill_group;
mod huge_pages_unused;
mod kernel_memory_growing;
pub(crate) mod killer_cannot_trigger;
mod leaked_tmpfs_files;
mod memory_without_owner;
mod needs;
mod no_swap_and_refaults;
mod nothing_to_change;
mod other_evictor;
pub(crate) mod page_cluster_against_hits;
mod page_tables_out_of_proportion;
mod process_swap_hot;
mod read_ahead_amplifies_faults;
pub(crate) mod removed_groups_kept;
mod swap_outranked;
mod swap_slower_than_reload;
mod swappiness_against_costs;
mod sysctl_set_twice;
mod tmp_near_limit;
mod tmpfs_near_limit;
mod tmpfs_quota_near_limit;
mod watermark_scale_factor_without_effect;
mod zram_and_zswap;
mod zram_incompressible;
mod zram_limit_fails_writes;
mod zswap_pool_full;

use std::cmp::Reverse;

pub use needs::{NotLooked, not_looked};

use crate::{Finding, Inputs, Rule, text};

/// Every rule. [`findings`] asks them in this order.
pub const RULES: &[Rule] = &[
    no_swap_and_refaults::RULE,
    swap_outranked::RULE,
    swap_slower_than_reload::RULE,
    zram_and_zswap::RULE,
    zram_limit_fails_writes::RULE,
    zram_incompressible::RULE,
    zswap_pool_full::RULE,
    other_evictor::RULE,
    read_ahead_amplifies_faults::RULE,
    tmpfs_near_limit::RULE,
    tmp_near_limit::RULE,
    tmpfs_quota_near_limit::RULE,
    kernel_memory_growing::RULE,
    memory_without_owner::RULE,
    killer_cannot_trigger::RULE,
    group_at_limit_loses_cache::RULE,
    group_held_at_limit::RULE,
    process_swap_hot::RULE,
    page_tables_out_of_proportion::RULE,
    huge_pages_unused::RULE,
    huge_pages_fill_group::RULE,
    removed_groups_kept::RULE,
    leaked_tmpfs_files::RULE,
    page_cluster_against_hits::RULE,
    dirty_limits_in_seconds::RULE,
    swappiness_against_costs::RULE,
    sysctl_set_twice::RULE,
    watermark_scale_factor_without_effect::RULE,
    nothing_to_change::RULE,
];

/// What to do here: never empty, the weightiest and surest first.
#[must_use]
pub fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| rule.finding(inputs)).collect();
    if let Some(container) = &inputs.snapshot.machine.container {
        found
            .iter_mut()
            .filter(|finding| finding.change.is_some())
            .for_each(|finding| not_from_here(finding, container));
    }
    ramline_units::sort_by_key(&mut found, |finding| Reverse((finding.weight, finding.confidence)));
    found
}

pub(crate) use huge_pages_fill_group::{change as split_huge_pages, title as filled_by_huge_pages};

/// The group that is in trouble at its limit, if one is.
pub(crate) fn group_at_its_limit(inputs: &Inputs<'_>) -> Option<Finding> {
    let found = group_held_at_limit::RULE.finding(inputs);
    found.or_else(|| group_at_limit_loses_cache::RULE.finding(inputs))
}

/// Page tables out of proportion, if they are.
pub(crate) fn large_page_tables(inputs: &Inputs<'_>) -> Option<Finding> {
    page_tables_out_of_proportion::RULE.finding(inputs)
}

/// Inside a container the host's settings are seen and cannot be changed: the finding stays, its commands do not.
fn not_from_here(finding: &mut Finding, container: &str) {
    (finding.change, finding.tune) = (None, None);
    let value = format!("this is a container ({container}); settings of memory and swap belong to its host");
    finding.evidence.push(text::evidence("no change offered", value, "container marker"));
}
