//! What must hold whatever the load and the setting, and what is known without a simulator.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use ramline_evidence::rng::SplitMix64;
use ramline_sim::beside::{Beside, LimitedGroup, MakeStatReader, StatReader};
use ramline_sim::kernel::{Group, Kernel, Lists, PRESETS};
use ramline_sim::load::{Compact, Overhead, PAGE};
use ramline_sim::memory::{Counts, Flushes, Setting, SwapTo, statistics::next_turn};
use ramline_sim::run::{self, End, Outcome};
use ramline_sim::{belady, chance::Chance, cost::Costs, rivals, rivals::Rule};
use ramline_trace::generate::{Access, CodePlusData, Load, Memory, Region, Touch};

const TIMEOUT: u64 = 4_000_000_000;

fn setting(swap: SwapTo, limit: u64) -> Setting {
    Setting { swap, slots: 16 << 8, fresh: 0.5, base: 60, ..Setting::without_limit(limit, PRESETS[2]) }
}

fn code_plus_data(rounds: u32, shared: bool) -> Compact {
    let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds, seed: 256, shared };
    Compact::decode(&Load::CodePlusData(load)).unwrap()
}

fn run(load: &Compact, setting: Setting) -> Outcome {
    run_by(load, setting, Chance::default())
}

fn run_by(load: &Compact, setting: Setting, chance: Chance) -> Outcome {
    let pages = run::pages(load, |_, page| u16::try_from(page % 4097).unwrap());
    run::compact(load, pages, setting, TIMEOUT, chance)
}

fn below(random: &mut SplitMix64, bound: u64) -> u32 {
    u32::try_from(random.below(bound)).unwrap()
}

/// One to five regions of any kind, and touches of any kind: streams, jumps and pages that are liked more than others.
fn any_load(random: &mut SplitMix64) -> Compact {
    let kinds = [Memory::File, Memory::Anonymous, Memory::Shared];
    let regions: Vec<Region> = (0..=below(random, 5))
        .map(|_| Region { memory: kinds[below(random, 3) as usize], bytes: (random.below(1500) + 1) * PAGE })
        .collect();
    let (mut touches, mut at) = (Vec::new(), 0);
    for _ in 0..4000 + random.below(8000) {
        let region = below(random, regions.len() as u64);
        let Region { memory, bytes } = regions[region as usize];
        at = match random.below(4) {
            0 => random.below(bytes),
            1 => random.below(bytes / 8 + 1),
            _ => at + PAGE,
        };
        let offset = if at < bytes { at } else { 0 };
        let length = below(random, 20_000.min(bytes - offset)) + 1;
        let access = match (memory, random.below(4)) {
            (Memory::File, 0 | 1) => Access::Read(length),
            (_, 0 | 2) => Access::Store,
            _ => Access::Load,
        };
        touches.push(Touch { region, access, offset });
    }
    let fill: Vec<Touch> = touches.drain(..below(random, 2000) as usize).collect();
    let all = touches.len() as u64;
    Compact::new(&regions, fill.into_iter(), touches.into_iter(), all).unwrap()
}

/// Each preset with each of the lists, in a group of either version.
fn kernels() -> impl Iterator<Item = Kernel> {
    let groups = PRESETS.into_iter().flat_map(|kernel| [Group::V1, Group::V2].map(|group| Kernel { group, ..kernel }));
    groups.flat_map(|kernel| [Lists::Classic, Lists::Generations].map(|lists| Kernel { lists, ..kernel }))
}

fn any_kernel(random: &mut SplitMix64) -> Kernel {
    let all: Vec<Kernel> = kernels().collect();
    all[below(random, all.len() as u64) as usize]
}

/// A thread that lowers the limit by what a pool takes, each millisecond.
#[derive(Debug)]
struct Moves(u64);

impl Beside for Moves {
    fn act(&mut self, group: &mut dyn LimitedGroup) -> u64 {
        let limit = (self.0 * PAGE).saturating_sub(group.pool_bytes());
        group.write_limit(limit, group.clock());
        group.clock() + 1_000_000
    }
}

/// A reader of the statistics, each so many nanoseconds.
#[derive(Debug, Clone)]
struct Reads {
    every: u64,
    first: u64,
    filled: Option<f64>,
}

impl StatReader for Reads {
    fn first(&self) -> u64 {
        self.first
    }

    fn next(&mut self, due: u64, clock: u64, _: &mut SplitMix64) -> u64 {
        next_turn(due, clock, self.every)
    }

    fn last_in_fill(&self) -> Option<f64> {
        self.filled
    }

    fn first_in_rounds(&self, begin: u64) -> Option<u64> {
        self.filled.and(Some(begin + self.first))
    }
}

impl MakeStatReader for Reads {
    fn stat_reader(&self, _: [f64; 2]) -> Box<dyn StatReader> {
        Box::new(self.clone())
    }
}

fn any_setting(random: &mut SplitMix64, pages: u64) -> Setting {
    let swap = [SwapTo::Nowhere, SwapTo::Disk, SwapTo::Zram][below(random, 3) as usize];
    let every = random.below(1 << 30) + 1;
    let reads = Reads { every, first: random.below(every), filled: (random.below(2) == 1).then_some(0.5) };
    let flushes = [Flushes::AtOnce, Flushes::Every(every), Flushes::By(std::sync::Arc::new(reads))]
        [below(random, 3) as usize]
        .clone();
    Setting {
        beside: (random.below(2) == 1).then_some(|limit| Box::new(Moves(limit)) as Box<dyn Beside>),
        swappiness: random.below(201),
        slots: below(random, 2 * pages) + 1,
        read_ahead: 1 + below(random, 300),
        flushes,
        kernel: any_kernel(random),
        ..setting(swap, 90 + random.below(pages + 200))
    }
}

fn any_run(random: &mut SplitMix64) -> (Compact, Setting, Outcome) {
    let load = any_load(random).with_overhead(Overhead { idle: below(random, 80), pages: [138, 266] });
    let setting = any_setting(random, load.pages().into());
    let chance = Chance {
        cluster: 1 << below(random, 4),
        elsewhere: random.below(2) == 1,
        phase: random.below(1 << 20),
        around: below(random, 16),
        others: below(random, 31),
        ..Chance::default()
    };
    let length = u16::try_from(random.below(4097)).unwrap();
    let pages = run::pages(&load, |_, _| length);
    let outcome = run::compact(&load, pages, setting.clone(), TIMEOUT, chance);
    (load, setting, outcome)
}

/// Each run ends with its books in order: a debug build asks `Memory::check` in each.
#[test]
fn random_loads_in_random_settings_lose_no_page_and_charge_none_twice() {
    let mut random = SplitMix64::new(11);
    for _ in 0..120 {
        let (_, _, Outcome { counts, .. }) = any_run(&mut random);
        let Counts { swap_in, swap_out, refault, stolen, scanned, major, read, .. } = counts;
        assert!(stolen[0] <= scanned[0] && stolen[1] <= scanned[1], "{counts:?}");
        assert!(refault[1] <= read && refault[1] <= stolen[1], "what comes back was away: {counts:?}");
        assert!(swap_in <= stolen[0] && refault[0] <= stolen[0], "{counts:?}");
        assert!(swap_out > 0 || stolen[0] == 0, "what leaves is written: {counts:?}");
        assert!(major <= read + swap_in + 1, "a major fault brings a page, but one that is killed for it: {counts:?}");
    }
}

#[test]
fn no_run_brings_fewer_pages_than_one_that_knows_the_future() {
    let mut random = SplitMix64::new(12);
    for _ in 0..120 {
        let (load, setting, outcome) = any_run(&mut random);
        if outcome.end != End::Fine {
            continue;
        }
        let least = belady::reads(&load, setting.limit - setting.base);
        let came = outcome.counts.read + outcome.counts.swap_in;
        assert!(came >= least, "{came} pages came, {least} had to: {setting:?}");
    }
}

#[test]
fn no_lists_bring_fewer_pages_of_any_load_by_name() {
    for name in Load::NAMES {
        let load = Compact::decode(&Load::named(name, 4 << 20, 3, 256).unwrap()).unwrap();
        for kernel in kernels() {
            let limit = 3 << 8;
            let outcome = run(&load, Setting { kernel, ..setting(SwapTo::Disk, limit) });
            let came = outcome.counts.read + outcome.counts.swap_in;
            let least = belady::reads(&load, limit - 60);
            assert_eq!(outcome.end, End::Fine, "{name}, {kernel:?}: {outcome:?}");
            assert!(came >= least, "{name}: {came} pages came, {least} had to, {kernel:?}");
            // And none brings so many that nothing was kept.
            assert!(outcome.counts.refault[0] + outcome.counts.refault[1] < outcome.counts.touches * 32, "{name}");
        }
    }
}

#[test]
fn no_simpler_model_brings_fewer_either_and_more_room_never_needs_more() {
    let mut random = SplitMix64::new(13);
    for _ in 0..20 {
        let load = any_load(&mut random);
        let mut before = u64::MAX;
        for room in [50, 200, 800, 3000] {
            let least = belady::reads(&load, room);
            assert!(least <= before);
            before = least;
            for rule in [Rule::Lru, Rule::TwoLists] {
                let counted = rivals::run(&load, rule, room, true);
                assert!(counted.read + counted.swap_in >= least, "{rule:?} with room for {room}: {counted:?}, {least}");
            }
        }
    }
}

#[test]
fn one_list_needs_fewer_pages_the_more_room_it_has() {
    let mut random = SplitMix64::new(14);
    for _ in 0..20 {
        let load = any_load(&mut random);
        let came = [60, 120, 240, 480, 960].map(|room| {
            let counted = rivals::run(&load, Rule::Lru, room, true);
            counted.read + counted.swap_in
        });
        assert!(came.is_sorted_by(|less, more| less >= more), "{came:?}");
    }
}

#[test]
fn with_room_for_all_each_page_is_read_once_and_nothing_comes_back() {
    let outcome = run(&code_plus_data(11, false), setting(SwapTo::Disk, 100_000));
    assert_eq!((outcome.counts.refault, outcome.counts.swap_out, outcome.end), ([0, 0], 0, End::Fine));
    // A page of code by which no window passed is still not read.
    assert!(outcome.counts.read <= 3 << 8, "{outcome:?}");
    let mut random = SplitMix64::new(15);
    for _ in 0..30 {
        let load = any_load(&mut random);
        let kernel = any_kernel(&mut random);
        let counts = run(&load, Setting { kernel, ..setting(SwapTo::Zram, 1_000_000) }).counts;
        let of_files: u32 = load.regions.iter().filter(|one| one.memory == Memory::File).map(|one| one.pages).sum();
        assert_eq!((counts.refault, counts.swap_in, counts.scanned), ([0; 2], 0, [0; 2]));
        assert!(counts.read <= of_files.into() && counts.read >= belady::reads(&load, 1_000_000), "{counts:?}");
    }
}

#[test]
fn without_files_that_could_go_and_without_swap_the_group_is_killed() {
    assert_eq!(run(&code_plus_data(1, false), setting(SwapTo::Nowhere, 3000)).end, End::Killed);
    assert_eq!(run(&code_plus_data(1, false), setting(SwapTo::Disk, 3000)).end, End::Fine);
    assert_eq!(run(&code_plus_data(1, true), setting(SwapTo::Nowhere, 3000)).end, End::Killed);
}

#[test]
fn without_anonymous_memory_swappiness_and_swap_change_nothing() {
    let file = [Region { memory: Memory::File, bytes: 2000 * PAGE }; 2];
    let mut random = SplitMix64::new(16);
    let touches: Vec<Touch> = (0..30_000)
        .map(|_| (below(&mut random, 2), random.below(2000) * PAGE))
        .map(|(region, offset)| Touch { region, access: Access::Read(4096), offset })
        .collect();
    let load = Compact::new(&file, [].into_iter(), touches.into_iter(), 30_000).unwrap();
    let with = |swap, swappiness| run(&load, Setting { swappiness, ..setting(swap, 1500) });
    let alone = with(SwapTo::Nowhere, 60);
    assert!(alone.counts.refault[1] > 10_000, "{alone:?}");
    assert_eq!(with(SwapTo::Disk, 0), alone);
    // Where both kinds are looked at, each gets its share of what is looked at, so that only the order of batches differs.
    let both = with(SwapTo::Disk, 100).counts.read;
    assert!(both.abs_diff(alone.counts.read) < alone.counts.read / 20, "{both} and {}", alone.counts.read);
}

#[test]
fn without_files_swappiness_changes_nothing_of_generations_but_0() {
    let load = Compact::decode(&Load::named("heap", 4 << 20, 3, 256).unwrap()).unwrap();
    for kernel in kernels().filter(|kernel| kernel.lists == Lists::Generations) {
        let with = |swappiness| run(&load, Setting { kernel, swappiness, ..setting(SwapTo::Zram, 3 << 8) });
        assert!(with(1).counts.swap_in > 100, "{kernel:?}");
        assert_eq!([with(60).counts, with(180).counts], [with(1).counts; 2], "{kernel:?}");
        assert_eq!(with(0).end, End::Killed, "{kernel:?}");
    }
}

#[test]
fn without_anonymous_memory_a_swap_area_that_is_not_used_changes_nothing_of_generations() {
    let load = Compact::decode(&Load::named("scan-read", 8 << 20, 3, 256).unwrap()).unwrap();
    for kernel in kernels().filter(|kernel| kernel.lists == Lists::Generations) {
        let with = |swap| run(&load, Setting { kernel, swappiness: 0, ..setting(swap, 5 << 8) });
        assert!(with(SwapTo::Nowhere).counts.refault[1] > 1000, "{kernel:?}");
        assert_eq!(with(SwapTo::Disk), with(SwapTo::Nowhere), "{kernel:?}");
    }
}

#[test]
fn pages_of_zeros_reach_no_disk_since_6_12() {
    let load = Compact::decode(&Load::named("heap", 4 << 20, 2, 256).unwrap()).unwrap();
    let took = |kernel| {
        let pages = run::pages(&load, |_, _| 0);
        run::compact(&load, pages, Setting { kernel, ..setting(SwapTo::Disk, 3 << 8) }, TIMEOUT, Chance::default()).took
    };
    let [old, new, ..] = PRESETS;
    assert!(took(old) > 5 * took(new), "{} and {}", took(old), took(new));
}

#[test]
fn since_7_2_a_file_that_is_touched_here_and_there_is_soon_read_page_by_page() {
    let load = Compact::decode(&Load::named("zipf-mmap", 8 << 20, 3, 256).unwrap()).unwrap();
    let read = |kernel| run(&load, Setting { kernel, ..setting(SwapTo::Nowhere, 4 << 8) }).counts.read;
    let [.., before, since] = PRESETS;
    assert!(read(since) * 3 < read(before), "{} and {}", read(since), read(before));
}

#[test]
fn a_page_that_is_only_read_before_it_is_written_takes_no_memory() {
    let heap = [Region { memory: Memory::Anonymous, bytes: 1000 * PAGE }];
    let touch = |access| move |page| Touch { region: 0, access, offset: page * PAGE };
    let run_of = |access| {
        let load = Compact::new(&heap, [].into_iter(), (0..1000).map(touch(access)), 1000).unwrap();
        run(&load, setting(SwapTo::Nowhere, 200)).end
    };
    assert_eq!((run_of(Access::Load), run_of(Access::Store)), (End::Fine, End::Killed));
}

#[test]
fn a_file_read_from_its_beginning_is_read_ahead_and_no_page_twice() {
    let file = [Region { memory: Memory::File, bytes: 4096 * PAGE }];
    let reads = (0..4096).map(|page| Touch { region: 0, access: Access::Read(4096), offset: page * PAGE });
    let load = Compact::new(&file, [].into_iter(), reads, 4096).unwrap();
    let costs = Costs { call: 0.0, scan: 0.0, fetch: [0.0; 2], read: [1.0, 0.0], ..Costs::default() };
    // Folios of one page, so that no window ends where one does.
    let outcome = run(&load, Setting { costs, kernel: PRESETS[1], ..setting(SwapTo::Nowhere, 1000) });
    assert_eq!(outcome.counts.read, 4096);
    // A nanosecond a read: 4, 8 and 16 pages, then 32 at a time. Each is waited for when the next is asked for, so the last is not.
    assert_eq!(outcome.took, 3 + (4096 - 28_u64).div_ceil(32) - 1);
}

#[test]
fn a_page_read_twice_stays_when_a_scan_passes_by() {
    let files =
        [Region { memory: Memory::File, bytes: 300 * PAGE }, Region { memory: Memory::File, bytes: 4000 * PAGE }];
    let read = |region| move |page| Touch { region, access: Access::Read(4096), offset: page * PAGE };
    // Every second page, so that none is read ahead.
    let often = || (0..300).step_by(3).map(read(0));
    let fill = often().chain(often()).chain((0..4000).map(read(1)));
    let load = Compact::new(&files, fill, often(), 100).unwrap();
    let outcome = run(&load, setting(SwapTo::Nowhere, 800));
    assert_eq!(outcome.counts.refault[1], 0, "{outcome:?}");
    let once = Compact::new(&files, often().chain((0..4000).map(read(1))), often(), 100).unwrap();
    assert!(run(&once, setting(SwapTo::Nowhere, 800)).counts.refault[1] >= 100);
}

#[test]
fn shared_memory_costs_more_page_cache_than_private_memory() {
    // Who reads ahead cannot write it to swap.
    let of = |shared| run(&code_plus_data(11, shared), setting(SwapTo::Disk, 15 << 8)).counts;
    let (private, shared) = (of(false), of(true));
    assert!(shared.refault[1] > 2 * private.refault[1], "{shared:?} and {private:?}");
}

#[test]
fn the_fewest_reads_say_what_no_tuning_can_save() {
    let load = code_plus_data(3, false);
    // Hardly more than that 95 of 100 pages of code are read once in three rounds.
    let least = belady::least(&load, &setting(SwapTo::Disk, 15 << 8));
    assert!((243.0..256.0).contains(&least), "{least}");
}

#[test]
fn old_statistics_make_no_difference_to_a_kernel_that_flushes_first() {
    let load = code_plus_data(3, false);
    let with = |kernel, flushes| run(&load, Setting { kernel, flushes, ..setting(SwapTo::Disk, 15 << 8) });
    let [first, next, ..] = PRESETS;
    assert_eq!(with(first, Flushes::Every(2_000_000_000)), with(first, Flushes::AtOnce));
    assert_ne!(with(next, Flushes::Every(2_000_000_000)), with(next, Flushes::AtOnce));
}

#[test]
fn statistics_are_flushed_while_nothing_is_reclaimed() {
    let load = code_plus_data(3, false);
    let [_, next, ..] = PRESETS;
    let of = |flushes| Setting { kernel: next, flushes, ..setting(SwapTo::Disk, 15 << 8) };
    let read = |first, every| of(Flushes::By(std::sync::Arc::new(Reads { every, first, filled: None })));
    // A single read, as the fill begins or a millisecond later: the first reclaim comes behind both, and knows what each has seen.
    let once = |first| run(&load, read(first, u64::MAX >> 1)).counts;
    assert_ne!(once(0), once(1_000_000));
    // A reader without a pause leaves the kernel with exact ones; one that pauses for 1 ns does not, since a whole window of pages comes back within it.
    assert_eq!(run(&load, read(0, 0)).counts.read, run(&load, of(Flushes::AtOnce)).counts.read);
}

#[test]
fn idle_pages_leave_room_where_there_is_swap() {
    let load = Compact::decode(&Load::named("heap", 3 << 20, 2, 256).unwrap()).unwrap();
    let swapped =
        |load: &Compact| run(load, Setting { base: 0, ..setting(SwapTo::Disk, (3 << 8) + 15) }).counts.swap_out;
    let overhead = Overhead { idle: 34, pages: [138, 266] };
    assert!(swapped(&load) == 0 && swapped(&load.with_overhead(overhead)) >= 15);
}
