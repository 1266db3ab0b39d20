//! How far the counts of a kernel may be off beyond what its runs differ by: by how well its rules are known.
//!
//! Each share is what counts were off by in runs that its rules were found by, or in runs made for it; none is of the ledger that is shown.

use ramline_sim::kernel::{Group, Hits, Kernel, Mglru};

/// Margin of a kernel whose source was read and which was not traced: the median error of counts in the runs by which rules were found
/// (guests of bench/runs/accuracy-found.json).
const NOT_TRACED: f64 = 0.025;
/// Margin of a kernel whose rules were traced on the machine itself: the least with which nine of ten counts were held in two of those ledgers (bench/runs/accuracy-found-5.json and -6: 92 %
/// of 336; without it 89.6 %).
const TRACED_ON_HOST: f64 = 0.002;
/// Margin of kernels whose rules were traced in guests: heaps of 18 MiB there, of ten seeds with a swap file and with zram each, were 0.7 % off on 6.12
/// with the classic lists and 0.5 % with generations, and 0.6 % on 6.1, in the middle; files that are mapped were 0.5 % off (zipf-mmap of seven seeds on six kernels and lists, bench/runs/accuracy-found-7.json).
const TRACED_IN_GUEST: f64 = 0.006;
/// Margin of 7.3 with generations.
const REWRITTEN: f64 = 0.01;
/// Margin of files that 7.3 reads with read(2) and does not map, the median of four figures: zipf-read of two seeds with both lists was 1.7, 1.7, 2.2 and 3.3 % off
/// (bench/runs/accuracy-found-7.json and -8).
const BUFFERED_READ: f64 = 0.02;
/// Margin of kernels and lists on which nothing was run.
const NOT_RUN: f64 = 0.05;

/// Margin of recordings, the widest of all: where every touch of a program that was none of the lab's was known, its counts were 18 to 23 % off, and with
/// recordings 11 to 24 % in the median of three programs (29 November 2026, one to three runs a cell).
const RECORDED: f64 = 0.25;

/// The margin for a recorded load.
#[must_use]
pub fn for_recording(kernel: &Kernel, files: [bool; 2]) -> [f64; 2] {
    for_kernel(kernel, files).map(|off| off.max(RECORDED))
}

/// The shares by which its counts of memory and of files may be less or more than in any simulated run: hardly where rules were traced on the machine
/// itself, little where they were in guests. The load has files that it `reads`, and such that it `maps`.
#[must_use]
pub fn for_kernel(kernel: &Kernel, [reads, maps]: [bool; 2]) -> [f64; 2] {
    let is_known = kernel.traced == Some(kernel.group);
    // Guests have groups of version 2, the machine has version 1.
    let is_here = is_known && kernel.group == Group::V1;
    let memory = match kernel.mglru() {
        None if is_here => TRACED_ON_HOST,
        None | Some(Mglru::First | Mglru::Mended) if is_known => TRACED_IN_GUEST,
        Some(Mglru::Rewritten) if is_known => REWRITTEN,
        None => NOT_TRACED,
        Some(_) => NOT_RUN,
    };
    let files = match kernel.mglru() {
        _ if !is_known => NOT_TRACED,
        Some(Mglru::Reworked) => NOT_TRACED,
        _ if reads && kernel.reads_folios() && !is_here => BUFFERED_READ,
        _ => memory,
    };
    // Which pages count as hits decides how long a file is read around; that changed from 6.11 to 6.12.
    let mapped = if maps && kernel.hits == Hits::All && kernel.traced.is_none() { NOT_RUN } else { 0.0 };
    [memory, files].map(|off| off.max(mapped))
}

#[cfg(test)]
mod tests {
    use ramline_sim::kernel::Lists;

    use super::*;

    #[test]
    fn a_recording_has_the_widest_margin_of_all() {
        for kernel in ramline_sim::kernel::PRESETS {
            for files in [[true, false], [false, true]] {
                assert!(for_recording(&kernel, files)[0] > for_kernel(&kernel, files)[0]);
            }
        }
    }

    #[test]
    fn counts_may_be_off_and_hardly_on_the_kernel_whose_rules_were_traced() {
        const OFF: f64 = NOT_TRACED;
        let in_group = |release: &str, group| Kernel { group, ..Kernel::nearest(release).unwrap() };
        let off = |release: &str, group| for_kernel(&in_group(release, group), [true, false]);
        assert_eq!([off("6.18.44-fc", Group::V1), off("6.18.44", Group::V2)], [[TRACED_ON_HOST; 2], [OFF; 2]]);
        assert_eq!([off("6.19.1", Group::V1), off("6.12.118", Group::V1)], [[OFF; 2]; 2]);
        assert_eq!(
            [off("6.12.118", Group::V2), off("7.3.4", Group::V2)],
            [[TRACED_IN_GUEST; 2], [TRACED_IN_GUEST, BUFFERED_READ]]
        );
        let lists = |release, group| Kernel { lists: Lists::Generations, ..in_group(release, group) };
        let generations = |release, group| for_kernel(&lists(release, group), [true, false]);
        assert_eq!(
            [generations("6.12.118", Group::V2), generations("7.3.4", Group::V2)],
            [[TRACED_IN_GUEST; 2], [REWRITTEN, BUFFERED_READ]]
        );
        assert_eq!([generations("6.18.4", Group::V1), generations("6.13.1", Group::V2)], [[NOT_RUN, OFF]; 2]);
        // Files that are mapped are no worse, but where no kernel of those hits was traced.
        let mapped = |release: &str, group| for_kernel(&in_group(release, group), [false, true]);
        assert_eq!(["6.1.0", "7.3.4"].map(|release| mapped(release, Group::V2)), [[TRACED_IN_GUEST; 2]; 2]);
        assert_eq!(mapped("6.18.4", Group::V1), [TRACED_ON_HOST; 2]);
        assert_eq!([mapped("6.1.9", Group::V1), mapped("6.6.9", Group::V2)], [[OFF; 2], [NOT_RUN; 2]]);
    }
}
