//! Numbers from outside may be anything: no sum, difference, product or drawing of them panics, wraps or grows without end.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod made;
mod shown;

use made::{Full, Maker};
use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_model::ledger::Ledger;
use ramline_model::maps::{Mapped, MapsOptions};
use ramline_snapshot::maps::{MappedFile, MappedProcess, Mapping, MappingKind, Maps};
use ramline_snapshot::{Snapshot, Wanted, Window};
use ramline_units::{Bytes, Nanos, SignedBytes};
use ramline_view::text::Style;
use ramline_view::{Screen, ShowMaps};
use serde_json::{Value, json};

/// What the documents are full of; some are mixed, from different seeds.
fn rounds() -> Vec<(Full, u64)> {
    let mixed = (1..=5).map(|seed| (Full::Any, seed));
    [Full::Largest, Full::Smallest, Full::Middle].map(|full| (full, 0)).into_iter().chain(mixed).collect()
}

fn all_of(before: Snapshot, after: Snapshot, made: &mut Maker, broken: &mut Vec<String>) {
    let (mut before, mut after) = (before, after);
    (before.machine.boot_id, after.machine.boot_id) = (Some("b".into()), Some("b".into()));
    (before.machine.uptime, after.machine.uptime) = (Some(Nanos(1)), Some(Nanos(2)));
    shown::machine(&after, None, made, broken);
    let window = Window::new(&before, &after).unwrap();
    shown::machine(&after, Some(&window), made, broken);
}

#[test]
fn a_machine_whose_every_number_is_at_the_end_of_its_range_is_shown() {
    for (full, seed) in rounds() {
        let (mut made, mut broken) = (Maker::new(full, seed), Vec::new());
        let (before, after): (Snapshot, Snapshot) = (made.make(), made.make());
        all_of(before, after, &mut made, &mut broken);
        assert!(broken.is_empty(), "{full:?} {seed}: {broken:?}");
    }
}

#[test]
fn stored_documents_and_records_with_such_numbers_are_shown() {
    for (full, seed) in rounds() {
        let (mut made, mut broken) = (Maker::new(full, seed), Vec::new());
        shown::documents(&mut made, &mut broken);
        shown::records(&mut made, &mut broken);
        assert!(broken.is_empty(), "{full:?} {seed}: {broken:?}");
    }
}

/// Puts the number in the place of every number from 10 on that may hold it, and says how many.
fn replace(value: &mut Value, number: &Value, takes: &impl Fn(&str) -> bool, path: &mut Vec<String>) {
    match value {
        Value::Number(old) if old.as_f64().is_some_and(|n| n.abs() >= 10.0) && takes(&path.join("/")) => {
            *value = number.clone();
        }
        Value::Array(all) => {
            path.push("*".into());
            all.iter_mut().for_each(|one| replace(one, number, takes, path));
            path.pop();
        }
        Value::Object(all) => {
            for (key, one) in all {
                path.push(key.clone());
                replace(one, number, takes, path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The captured machine with the number in every place whose type takes it.
fn extreme(seen: &Snapshot, number: &Value) -> Snapshot {
    let mut document = serde_json::to_value(seen).unwrap();
    let kept = document.clone();
    for (name, section) in document.as_object_mut().unwrap() {
        if name == "schema_version" || name == "machine" {
            continue;
        }
        let reads = |section: &Value| {
            let alone = json!({ "schema_version": 1, "machine": {}, name: section });
            let back = serde_json::to_value(Snapshot::from_json("f", &alone.to_string()).unwrap()).unwrap();
            back[name]["state"] == kept[name]["state"]
        };
        let mut all = section.clone();
        replace(&mut all, number, &|_| true, &mut Vec::new());
        if reads(&all) {
            *section = all;
            continue;
        }
        // A type refused it: one kind of number at a time, everywhere it stands.
        let paths = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let note = |path: &str| {
            paths.borrow_mut().insert(path.to_owned());
            false
        };
        replace(section, number, &note, &mut Vec::new());
        for path in paths.into_inner() {
            let mut one = section.clone();
            replace(&mut one, number, &|at| at == path, &mut Vec::new());
            if reads(&one) {
                *section = one;
            }
        }
    }
    Snapshot::from_json("f", &document.to_string()).unwrap()
}

#[test]
fn captured_machines_are_shown_with_any_number_in_place_of_theirs() {
    for tree in ["linux-6.12-zram", "linux-6.18-cgroup-v1"] {
        let seen = gather(&Root::new(ramline_testkit::tree(&format!("healthy/{tree}"))), Wanted::ALL);
        for number in [json!(u64::MAX), json!(0), json!(i64::MIN)] {
            let after = extreme(&seen, &number);
            let mut broken = Vec::new();
            let mut made = Maker::new(Full::Largest, 1);
            all_of(seen.clone(), after.clone(), &mut made, &mut broken);
            all_of(after, seen.clone(), &mut made, &mut broken);
            assert!(broken.is_empty(), "{tree} with {number}: {broken:?}");
        }
    }
}

#[test]
fn a_ledger_of_impossible_numbers_is_off_by_as_much_as_can_be_said_and_not_by_chance() {
    let mut seen = gather(&Root::new(ramline_testkit::tree("healthy/linux-6.12-zram")), Wanted::ALL);
    let whole = Ledger::from_snapshot(&seen).unwrap();
    seen = extreme(&seen, &json!(u64::MAX));
    let ledger = Ledger::from_snapshot(&seen).unwrap();
    assert_eq!(ledger.total, Bytes(u64::MAX));
    // All lines together stop at the end of the range, and so does the total: nothing is left over.
    assert_eq!(ledger.leftover, SignedBytes(0));
    assert!(ledger.lines.len() <= whole.lines.len() && ledger.bound >= whole.bound, "{ledger:?}");
}

#[test]
fn mapped_files_at_the_end_of_the_address_space_are_shown() {
    for (page, n) in [(u64::MAX, u64::MAX), (4096, u64::MAX), (0, u64::MAX), (4096, 1 << 63), (0, 0)] {
        let usage = Maker::new(Full::Largest, n).make();
        let mapping = |start, execute| Mapping {
            start,
            end: n,
            execute,
            offset: n,
            kind: MappingKind::File,
            file: Some(0),
            usage: Some(usage),
            ..Mapping::default()
        };
        let mut made = Maker::new(Full::Largest, 0);
        let process = |pid| MappedProcess {
            pid,
            mappings: vec![mapping(0, true), mapping(n, false), mapping(n / 2, true)],
            ..MappedProcess::default()
        };
        let file = MappedFile { length: Some(Bytes(n)), ..MappedFile::default() };
        let maps = Maps {
            page,
            processes: vec![process(1), process(u32::MAX)],
            files: vec![file.clone(), file],
            missed: made.make(),
            reading: made.make(),
        };
        let mapped = Mapped::from_maps(&maps, &MapsOptions { ranges: true, ..MapsOptions::default() });
        assert!(!ShowMaps::new(mapped, 3, None).text(&Style { colour: false, width: 100 }).is_empty());
    }
}
