//! Counts of events whose truth is known.

use ramline_snapshot::cache::{Name, Taken};

use super::finish::CacheCounts;
use super::*;

/// Files of 1000 pages; tasks are their own processes; task 1 is kswapd, task 2 kdamond.
struct Told;

impl World for Told {
    fn length(&mut self, _: FileId, _: u32) -> Option<u64> {
        Some(1000)
    }

    fn process(&mut self, task: u32) -> Process {
        let role = match task {
            1 => Role::MakesRoom,
            2 => Role::ByAge,
            _ => Role::Program,
        };
        Process { pid: task, name: format!("p{task}"), role }
    }

    fn maps_folios(&self) -> bool {
        true
    }
}

const A: FileId = FileId { device: 1, inode: 1 };
const B: FileId = FileId { device: 1, inode: 2 };

fn get(file: FileId, first: u64, last: u64) -> EventKind {
    EventKind::Get { file, first, last }
}

fn add(file: FileId, index: u64, pages: u64) -> EventKind {
    EventKind::Add { file, index, pages }
}

fn delete(file: FileId, index: u64, pages: u64) -> EventKind {
    EventKind::Delete { file, index, pages }
}

const MARK: EventKind = EventKind::ReadAhead { file: A };

fn counted(level: Level, events: &[(u32, EventKind)]) -> CacheCounts {
    let mut counter = Counter::new(Told, level);
    counter.watch(A);
    events.iter().for_each(|(task, what)| counter.take(Event { task: *task, what: *what }));
    counter.finish(|_, file| (Name::new(format!("f{}", file.inode).as_bytes()), None))
}

fn total(events: &[(u32, EventKind)]) -> Touched {
    counted(Level::Full, events).total
}

#[test]
fn what_read_ahead_brings_for_a_request_is_a_miss_and_the_rest_is_read_ahead() {
    let seen = total(&[
        (7, MARK),
        (7, add(A, 0, 64)),
        (7, get(A, 0, 31)),
        (7, MARK),
        (7, add(A, 64, 32)),
        (7, get(A, 32, 63)),
    ]);
    assert_eq!((seen.reads, seen.read_misses, seen.read_hits, seen.read_ahead), (2, 32, 32, 64));
}

#[test]
fn the_rest_of_a_request_served_in_parts_asks_for_nothing_new() {
    let seen = total(&[
        (7, MARK),
        (7, add(A, 0, 32)),
        (7, get(A, 0, 99)),
        (7, MARK),
        (7, add(A, 32, 68)),
        (7, get(A, 32, 99)),
        (7, get(A, 80, 99)),
    ]);
    assert_eq!((seen.reads, seen.read_misses, seen.read_hits, seen.read_ahead), (1, 100, 0, 0));
    let again = total(&[(7, get(A, 5, 5)), (7, get(A, 5, 5)), (8, get(A, 0, 9)), (9, get(A, 5, 9))]);
    assert_eq!(
        (again.reads, again.read_hits),
        (4, 17),
        "the same page again, and other tasks, are requests of their own"
    );
}

#[test]
fn a_request_beyond_the_end_of_the_file_counts_to_the_end() {
    assert_eq!(total(&[(7, get(A, 990, 1021))]).read_hits, 10);
}

#[test]
fn what_was_asked_for_in_advance_is_there_when_it_is_read() {
    let events = [(7, add(A, 0, 32)), (7, get(A, 0, 31))];
    let seen = total(&events);
    assert_eq!((seen.brought, seen.read_hits, seen.read_misses), (32, 32, 0));
    let without = counted(Level::NoMarks, &events).total;
    assert_eq!((without.brought, without.read_misses), (0, 32), "without marks it cannot be told");
}

#[test]
fn a_mapping_counts_each_page_once_and_a_fault_that_waited_as_a_miss() {
    let fault = |index| EventKind::Fault { file: A, index };
    let map = |first, last| EventKind::Map { file: A, first, last };
    let seen =
        total(&[(7, fault(0)), (7, add(A, 0, 32)), (7, fault(0)), (7, map(0, 15)), (7, map(16, 31)), (7, fault(40))]);
    assert_eq!((seen.faults, seen.mapped, seen.mapped_misses, seen.read_ahead), (3, 33, 1, 31));
    // Without windows: the first fault falls on a folio of 32 pages, the second on one that is not known, the third beyond the end.
    let seen = total(&[(7, fault(3)), (7, add(A, 0, 32)), (7, fault(40)), (7, add(A, 992, 32)), (7, fault(995))]);
    assert_eq!((seen.mapped, seen.mapped_misses), (32 + 1 + 8, 1));
    let seen = total(&[
        (7, fault(0)),
        (7, add(A, 0, 4)),
        (7, add(A, 4, 32)),
        (7, add(A, 36, 1)),
        (7, map(4, 19)),
        (7, map(30, 36)),
    ]);
    assert_eq!((seen.faults, seen.mapped), (3, 37));
    let seen = total(&[(7, map(0, 15)), (7, fault(5)), (7, fault(5)), (7, fault(6)), (7, fault(40))]);
    assert_eq!(seen.faults, 3, "a page of the window that was not there is no fault of its own, and one after it is");
    let back = total(&[(7, map(0, 15)), (1, delete(A, 0, 16)), (7, map(0, 15))]);
    assert_eq!(back.mapped, 32, "pages that were taken out are mapped anew");
}

#[test]
fn pages_are_pushed_out_for_the_file_that_is_added_next() {
    let room = |begins| EventKind::Reclaim { begins };
    let marks = EventKind::ReadAhead { file: B };
    let events = [
        (7, delete(A, 90, 10)),
        (7, marks),
        (7, room(true)),
        (7, delete(A, 0, 8)),
        (7, room(false)),
        (7, add(B, 0, 8)),
        (7, get(B, 0, 7)),
        (7, room(true)),
        (7, delete(A, 8, 4)),
        (7, room(false)),
        (7, get(B, 0, 7)),
        (8, add(A, 0, 2)),
    ];
    let seen = counted(Level::Full, &events);
    let pushed: Vec<_> = seen
        .pushed
        .iter()
        .map(|push| (push.pid, push.why, push.file.as_ref().map(|name| name.path.as_str()), push.pages))
        .collect();
    assert_eq!(
        pushed,
        [(7, Taken::Request, None, 10), (7, Taken::Room, Some("f2"), 8), (7, Taken::Room, None, 4)],
        "what is taken out without making room was not wanted, or its file is gone"
    );
    assert_eq!((seen.total.evicted, seen.total.dropped, seen.total.refaulted), (12, 10, 2));
}

#[test]
fn what_the_kernel_takes_out_falls_to_those_who_add_most() {
    let seen = counted(Level::Full, &[(7, add(B, 0, 300)), (8, add(B, 300, 100)), (1, delete(A, 0, 40))]);
    let pushed: Vec<_> = seen.pushed.iter().map(|push| (push.pid, push.through.as_deref(), push.pages)).collect();
    assert_eq!(pushed, [(7, Some("p1"), 30), (8, Some("p1"), 10)]);
    let alone = counted(Level::Full, &[(1, delete(A, 0, 40))]);
    assert_eq!(alone.pushed.iter().map(|push| (push.pid, push.pages)).collect::<Vec<_>>(), [(1, 40)]);
}

#[test]
fn what_damon_takes_out_is_idle_and_nobodys_need() {
    let seen = counted(Level::Full, &[(7, add(B, 0, 300)), (2, delete(A, 0, 40)), (8, add(B, 300, 100))]);
    let pushed: Vec<_> = seen.pushed.iter().map(|push| (push.pid, push.why, push.pages)).collect();
    assert_eq!(pushed, [(2, Taken::Age, 40)]);
    assert_eq!((seen.total.evicted, seen.total.by_age, seen.total.dropped), (40, 40, 0));
}

#[test]
fn pages_beside_the_one_of_a_fault_are_no_hits() {
    let fault = |index| EventKind::Fault { file: A, index };
    let map = |first, last| EventKind::Map { file: A, first, last };
    // Cold, in no order: each page is read alone, and what is there of the window is mapped with it.
    let cold = |page: u64, also: bool| {
        let window = map(page & !15, page | 15);
        also.then_some((7, window)).into_iter().chain([
            (7, fault(page)),
            (7, MARK),
            (7, add(A, page, 1)),
            (7, fault(page)),
        ])
    };
    let events: Vec<_> =
        [(3, false), (500, false), (9, true), (12, true)].into_iter().flat_map(|(at, also)| cold(at, also)).collect();
    let seen = total(&events);
    assert_eq!((seen.faults, seen.misses(), seen.hits(), seen.asked()), (4, 4, 0, 4), "{seen:?}");
    // In the window of a fault that waited there is a page that is read next: the kernel maps it without a record of a touch.
    assert!(seen.mapped > seen.faults, "{seen:?}");
    let warm =
        total(&[(7, map(0, 15)), (7, map(32, 47)), (7, fault(40)), (7, MARK), (7, add(A, 40, 1)), (7, fault(40))]);
    assert_eq!((warm.hits(), warm.misses()), (1, 1), "{warm:?}");
}

#[test]
fn what_a_command_faults_in_before_it_is_itself_is_left_out() {
    let fault = |file, index| EventKind::Fault { file, index };
    let name = TaskName(*b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let events = [
        // The recorder's own code, then the head of the program, which is what runs.
        (7, EventKind::Map { file: A, first: 0, last: 143 }),
        (7, fault(A, 200)),
        (7, add(A, 200, 1)),
        (7, get(B, 0, 0)),
        (7, EventKind::Rename { task: 7, name }),
        (7, EventKind::Map { file: B, first: 0, last: 15 }),
        (7, EventKind::Map { file: A, first: 0, last: 15 }),
    ];
    let mut counter = Counter::new(Told, Level::Full);
    counter.starts_as_copy(7);
    events.iter().for_each(|(task, what)| counter.take(Event { task: *task, what: *what }));
    let seen = counter.finish(|_, file| (Name::new(format!("f{}", file.inode).as_bytes()), None));
    let total = seen.total;
    assert_eq!((total.read_hits, total.faults, total.mapped, total.brought), (1, 2, 32, 0), "{total:?}");
    assert_eq!(seen.processes[0].name, "cat");
}

#[test]
fn threads_count_for_their_process_and_a_new_process_with_an_old_id_for_itself() {
    let new = |task, thread| EventKind::New { task, thread, name: TaskName(*b"cat\0\0\0\0\0\0\0\0\0\0\0\0\0") };
    let seen = counted(Level::Full, &[(7, new(8, true)), (8, get(A, 0, 0)), (7, new(8, false)), (8, get(A, 0, 2))]);
    let rows: Vec<_> = seen.processes.iter().map(|row| (row.pid, row.name.as_str(), row.touched.read_hits)).collect();
    assert_eq!(rows, [(8, "cat", 3), (7, "p7", 1)]);
}
