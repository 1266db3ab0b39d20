use ramline_snapshot::processes::{Around, Processes, Walked};
use ramline_snapshot::{Seen, machine::Machine};

use super::*;
use crate::SignedBytes;

const fn mib(n: u64) -> Bytes {
    Bytes::from_mib(n)
}

fn process(pid: u32, exe: u32, anon: u64, shmem: u64) -> Process {
    let (anon, shmem) = (Some(mib(anon)), Some(mib(shmem)));
    Process { pid, exe: Some(exe), rss_anon: anon, rss_shmem: shmem, name: format!("p{pid}"), ..Process::default() }
}

fn walked(pss_anon: u64, pss_shmem: u64) -> Option<Walked> {
    Some(Walked {
        pss: mib(pss_anon + pss_shmem),
        pss_anon: Some(mib(pss_anon)),
        pss_file: Some(Bytes(0)),
        pss_shmem: Some(mib(pss_shmem)),
        ..Walked::default()
    })
}

fn seen(list: Vec<Process>, anon: u64, mapped: u64) -> Snapshot {
    let (anon, mapped) = (mib(anon), mib(mapped));
    let around = Around {
        anon_before: anon,
        anon_after: anon,
        mapped_before: mapped,
        mapped_after: mapped,
        ..Around::default()
    };
    let programs = ["a", "b", "c"].map(str::to_owned).into();
    let missed = Missed { nested: Some(false), ..Missed::default() };
    let mut snapshot = Snapshot::new(Machine::default());
    snapshot.processes = Seen::new(Processes { list, programs, missed, around: Some(around), ..Processes::default() });
    snapshot
}

fn who(snapshot: &Snapshot) -> Who {
    Who::from_snapshot(snapshot, None, By::Program).unwrap()
}

/// Within the lag of two counters and the rounding.
fn about(found: Bytes, wanted: Bytes) -> bool {
    found.0.abs_diff(wanted.0) <= mib(2).0
}

#[test]
fn one_that_maps_nearly_everything_is_known_without_a_walk() {
    let who = who(&seen(vec![process(1, 0, 10, 900), process(2, 1, 5, 10)], 15, 905));
    let row = &who.rows[0];
    assert_eq!(row.name, "a");
    assert!(about(row.holds.low, mib(10 + 895)) && about(row.holds.high, mib(10 + 900)), "{:?}", row.holds);
    assert!(who.complete && about(who.whole.value, mib(920)));
    assert!(row.holds.low <= row.holds.value && row.holds.value <= row.holds.high);
}

#[test]
fn a_walk_of_the_one_closes_the_bounds_of_the_other() {
    let mut list = vec![process(1, 0, 0, 900), process(2, 1, 0, 100)];
    let open = who(&seen(list.clone(), 0, 920));
    assert!(about(open.rows[0].holds.low, mib(820)) && about(open.rows[1].holds.low, mib(20)));
    list[1].walked = walked(0, 40);
    let closed = who(&seen(list, 0, 920));
    assert!(
        about(closed.rows[0].holds.low, mib(880)) && about(closed.rows[0].holds.high, mib(880)),
        "{:?}",
        closed.rows
    );
    assert_eq!(closed.rows[1].own, Some(Bytes(0)));
}

#[test]
fn private_memory_of_different_programs_is_exact_and_that_of_forks_is_bounded() {
    let exact = who(&seen(vec![process(1, 0, 700, 0), process(2, 1, 300, 0)], 1000, 0));
    assert!(about(exact.rows[0].holds.low, mib(700)) && about(exact.rows[0].holds.high, mib(700)));
    // Ten forks of 100 MiB of which the machine has 190: together they hold what the other leaves.
    let mut list: Vec<Process> = (1..=10).map(|pid| process(pid, 0, 100, 0)).collect();
    list.push(process(20, 1, 30, 0));
    let forks = who(&seen(list, 220, 0));
    assert!(about(forks.rows[0].holds.low, mib(190)) && about(forks.rows[0].holds.high, mib(190)), "{:?}", forks.rows);
    assert_eq!(forks.identity.excess(), Some(SignedBytes((mib(1030).0 - mib(220).0).try_into().unwrap())));
}

#[test]
fn forks_are_taken_to_be_like_the_walked_ones_and_the_bound_says_how_sure_that_is() {
    // Two programs with ten forks each; the machine has 400 MiB of their 2000.
    let mut list: Vec<Process> = (1..=20).map(|pid| process(pid, u32::from(pid > 10), 100, 0)).collect();
    for at in [0, 4, 9] {
        list[at].walked = walked(30, 0);
    }
    let who = who(&seen(list, 400, 0));
    let row = who.rows.iter().find(|r| r.name == "a").unwrap();
    assert_eq!((row.walked, row.alike, row.own), (3, 7, None));
    assert!(about(row.holds.value, mib(300)), "{row:?}");
    assert!(row.holds.error() <= mib(12) && row.holds.error() >= mib(3), "{row:?}");
    let other = who.rows.iter().find(|r| r.name == "b").unwrap();
    assert!(other.holds.low <= mib(100) && other.holds.high >= mib(100) && other.holds.error() <= mib(15), "{other:?}");
}

#[test]
fn what_the_sums_contradict_is_not_taken_for_likeness() {
    // One walked fork shares everything, but the machine has far more than that.
    let mut list: Vec<Process> = (1..=10).map(|pid| process(pid, 0, 100, 0)).collect();
    list[0].walked = walked(10, 0);
    let who = who(&seen(list, 910, 0));
    assert!(who.unlike);
    assert!(about(who.rows[0].holds.value, mib(910)), "{:?}", who.rows[0].holds);
}

#[test]
fn where_not_all_processes_are_seen_the_sum_is_only_an_upper_bound() {
    let mut snapshot = seen(vec![process(1, 0, 10, 50)], 500, 600);
    if let Seen::Seen { data, .. } = &mut snapshot.processes {
        data.missed.nested = Some(true);
    }
    let who = who(&snapshot);
    assert!(!who.complete);
    assert_eq!((who.whole.high, who.rows[0].holds.low), (mib(60), mib(10)));
}

#[test]
fn a_kernel_before_5_3_gives_the_sum_of_a_walk_only() {
    let mut list = vec![process(1, 0, 10, 90), process(2, 1, 5, 90)];
    list[0].walked = Some(Walked { pss: mib(55), ..Walked::default() });
    let who = who(&seen(list, 15, 90));
    let row = who.rows.iter().find(|r| r.name == "a").unwrap();
    assert!(row.holds.low <= mib(55) && mib(55) <= row.holds.high, "{:?}", row.holds);
}

#[test]
fn growth_is_of_those_that_were_there_before_and_after() {
    let at = |seconds: u64, list: Vec<Process>| {
        let mut snapshot = seen(list, 100, 0);
        snapshot.machine.boot_id = Some("b".into());
        snapshot.machine.uptime = Some(Nanos(seconds * 1_000_000_000));
        snapshot
    };
    let before = at(1, vec![process(1, 0, 10, 0), process(2, 0, 10, 0)]);
    let mut again = process(2, 0, 50, 0);
    again.started_ticks = 9;
    let after = at(3, vec![process(1, 0, 13, 0), again, process(3, 1, 9, 0)]);
    let window = Window::new(&before, &after).unwrap();
    let who = Who::from_snapshot(&after, Some(&window), By::Program).unwrap();
    assert_eq!(who.rows[0].growth, Some(SignedBytes(3 << 20)));
    assert_eq!((who.rows[1].growth, who.started_ended), (None, Some((2, 1))));
}

#[test]
fn a_tree_adds_up_what_each_has_started_and_survives_a_ring() {
    let child = |pid, parent, anon| Process { parent, ..process(pid, 0, anon, 0) };
    let mut list =
        vec![child(1, 0, 1), child(5, 1, 10), child(6, 5, 20), child(7, 5, 20), child(8, 9, 3), child(9, 8, 4)];
    list[2].name = "worker".into();
    list[3].name = "worker".into();
    let who = Who::from_snapshot(&seen(list, 58, 0), None, By::Tree).unwrap();
    let shown: Vec<_> = who.rows.iter().map(|r| (r.depth, r.name.as_str(), r.processes)).collect();
    assert_eq!(shown, [(0, "p1", 4), (1, "p5", 3), (2, "worker", 2)]);
}

#[test]
fn a_program_goes_by_the_name_it_was_started_by_and_forks_of_one_file_still_share() {
    let mut list = vec![process(1, 0, 10, 0), process(2, 0, 20, 0), process(3, 1, 5, 0)];
    list[1].run_as = Some("redis-server".into());
    let who = who(&seen(list, 35, 0));
    let names: Vec<&str> = who.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["redis-server", "a", "b"]);
    assert!(who.rows[0].holds.low <= mib(20), "what a fork of the same file may share is not its own alone");
}

#[test]
fn the_share_of_a_processor_is_of_the_time_between_two_looks() {
    let at = |ticks: u64, uptime: u64| {
        let mut list = vec![process(1, 0, 10, 0), process(2, 1, 5, 0)];
        list[0].cpu_ticks = Some(ticks);
        let mut snapshot = seen(list, 15, 0);
        (snapshot.machine.boot_id, snapshot.machine.ticks_per_s) = (Some("b".into()), 100);
        snapshot.machine.uptime = Some(Nanos(uptime * 1_000_000_000));
        snapshot
    };
    let (before, after) = (at(1000, 10), at(1100, 12));
    let window = Window::new(&before, &after).unwrap();
    let rows = Who::from_snapshot(&after, Some(&window), By::Program).unwrap().rows;
    assert_eq!((rows[0].cpu, rows[1].cpu), (Some(0.5), None));
    assert_eq!(who(&after).rows[0].cpu, None, "one look knows no share");
}

#[test]
fn hostile_numbers_overflow_nothing() {
    let huge = Process { rss_anon: Some(Bytes(u64::MAX)), rss_file: Some(Bytes(u64::MAX)), ..process(1, 0, 1, 1) };
    let who = who(&seen(vec![huge, process(2, 1, 0, 0)], 1, 1));
    assert!(who.rows.iter().all(|r| r.holds.low <= r.holds.value && r.holds.value <= r.holds.high));
}

#[test]
fn a_filter_leaves_rows_out_and_no_page() {
    let mut list = vec![process(1, 0, 10, 0), process(2, 1, 30, 0), process(3, 1, 20, 0), process(4, 2, 1, 0)];
    (list[1].uid, list[2].uid, list[2].parent) = (7, 8, 2);
    let mut seen = seen(list, 61, 0);
    let Seen::Seen { data, .. } = &mut seen.processes else { unreachable!() };
    data.users.insert(7, "www".into());
    let rows = |by, filter: &Filter| {
        let who = Who::matching(&seen, None, by, filter).unwrap();
        let rows: Vec<(String, Option<u32>, Option<String>)> =
            who.rows.into_iter().map(|row| (row.name, row.pid, row.user)).collect();
        (rows, who.matched.unwrap_or_default(), who.whole.value)
    };
    let one = |name: &str, pid, user: &str| (name.to_owned(), Some(pid), Some(user.to_owned()));
    let of = |pids: &[u32], users: &[&str], names: &[&str]| {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        Filter { pids: pids.into(), users: words(users), names: words(names) }
    };
    let (found, matched, whole) = rows(By::Program, &of(&[], &["www"], &[]));
    assert_eq!(found, [one("b", 2, "www")]);
    assert_eq!((matched.what.as_str(), matched.processes), ("user www", 1));
    assert!(about(matched.holds.value, mib(30)) && about(whole, mib(61)), "{matched:?} {whole}");
    assert_eq!(rows(By::Program, &of(&[], &["8"], &["b"])).0, [one("b", 3, "user 8")]);
    assert_eq!(rows(By::Process, &of(&[1, 4], &[], &[])).0.len(), 2);
    assert_eq!(rows(By::Process, &of(&[1], &[], &["p4"])).0.len(), 2, "ids and names add up");
    let (mixed, matched, _) = rows(By::Program, &of(&[], &[], &["b"]));
    assert_eq!((mixed, matched.processes), (vec![("b".to_owned(), None, None)], 2));
    let tree = rows(By::Tree, &of(&[], &[], &["b"])).0;
    assert_eq!(tree.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), ["p2", "p3"], "the child stands below");
    let (none, matched, _) = rows(By::Program, &of(&[99], &[], &[]));
    assert!(none.is_empty() && matched.processes == 0 && matched.what == "process 99");
}

#[test]
fn of_a_tree_the_largest_subtrees_stay_with_those_above_and_a_leaf_uses_most() {
    let row = |name: &str, mib: u64, depth| Row {
        name: name.into(),
        holds: Spread::exact(Bytes::from_mib(mib)),
        depth,
        ..Row::default()
    };
    let rows =
        vec![row("init", 100, 0), row("shell", 60, 1), row("build", 50, 2), row("small", 1, 1), row("db", 30, 1)];
    let mut who = Who { by: By::Tree, rows, ..Who::default() };
    assert_eq!(who.largest().map(|row| row.name.as_str()), Some("build"));
    assert_eq!(who.keep(4), 1);
    assert_eq!(who.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["init", "shell", "build", "db"]);
    assert_eq!((Who { by: By::Program, ..who.clone() }.largest().unwrap().name.as_str(), who.keep(0)), ("init", 4));
    assert_eq!(who.largest(), None);
}
