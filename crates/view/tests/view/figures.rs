//! Every number of every document is explained: what it is, unit, scope, source, topic. Every label of a screen leads to one.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::{Snapshot, Wanted};
use ramline_testkit::{names, tree};
use ramline_view::figure::{self, FigureScope, find};
use ramline_view::text::Style;
use ramline_view::{Screen, ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram};
use serde_json::Value;

fn trees() -> Vec<PathBuf> {
    names("healthy").iter().map(|name| tree(name)).collect()
}

#[test]
fn every_number_of_every_document_has_a_meaning_a_unit_a_scope_a_source_and_a_topic() {
    let nothing = Snapshot::new(Machine::default());
    let all = figure::all();
    assert!(all.len() > 500, "{}", all.len());
    let mut wrong = Vec::new();
    for found in all {
        let told = found.figure(&nothing, None);
        let at = format!("{}: {}", told.document, told.path);
        for (what, text) in [("meaning", &told.what), ("unit", &told.unit), ("source", &told.source)] {
            if text.trim().is_empty() {
                wrong.push(format!("{at} has no {what}"));
            }
        }
        if ramline_advice::topic_named(&told.topic).is_none() {
            wrong.push(format!("{at}: no topic '{}'", told.topic));
        }
        if told.what.contains("A number of bytes") || told.what.contains("A duration in") {
            wrong.push(format!("{at} has no meaning of its own: {}", told.what));
        }
    }
    assert!(wrong.is_empty(), "give these a doc comment, or a row in view/src/figure/rows.rs:\n{}", wrong.join("\n"));
}

#[test]
fn every_number_that_a_screen_prints_is_found_by_its_path() {
    let seen = gather(&Root::new(tree("healthy/linux-6.12-zram")), Wanted::ALL);
    let documents = [
        ("memory", serde_json::to_value(ShowMemory::new(&seen, None)).unwrap()),
        ("zram", serde_json::to_value(ShowZram::new(&seen)).unwrap()),
        ("swap", serde_json::to_value(ShowSwap::new(&seen, None)).unwrap()),
        ("tmpfs", serde_json::to_value(ShowTmpfs::new(&seen)).unwrap()),
    ];
    let mut checked = 0;
    for (name, document) in documents {
        let mut paths = Vec::new();
        numbers(&document, name, &mut paths);
        // One of each list is enough: the others differ by their place only.
        for (path, raw) in paths.into_iter().filter(|(path, _)| !path.contains("[1") && !path.contains("[2")).take(40) {
            let told = find(&path).unwrap_or_else(|e| panic!("{e}")).figure(&seen, None);
            assert!(told.here.iter().any(|here| (here.raw - raw).abs() <= raw.abs() * 1e-9), "{path}: {raw} {told:?}");
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// Paths of all numbers, with their values.
fn numbers(value: &Value, path: &str, out: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(n) => out.push((path.to_owned(), n.as_f64().unwrap())),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| numbers(v, &format!("{path}[{i}]"), out)),
        Value::Object(fields) => fields.iter().for_each(|(k, v)| numbers(v, &format!("{path}.{k}"), out)),
        _ => {}
    }
}

/// Heads of columns that hold names and words, no numbers.
const WORDS: &[&str] = &[
    "line",
    "tier",
    "area",
    "device",
    "mount",
    "type",
    "directory",
    "field",
    "zramctl",
    "value",
    "scope",
    "meaning",
    "band",
    "mib",
    "stalled",
    "may go to swap",
];

#[test]
fn every_label_of_a_screen_leads_to_its_number() {
    let style = Style { colour: false, width: 100 };
    let (mut labels, mut names) = (BTreeSet::new(), BTreeSet::new());
    for tree in trees() {
        let seen = gather(&Root::new(tree), Wanted::ALL);
        let screens = [
            (ShowMemory::new(&seen, None).text(&style), serde_json::to_value(ShowMemory::new(&seen, None)).unwrap()),
            (ShowTiers::new(&seen, None).text(&style), serde_json::to_value(ShowTiers::new(&seen, None)).unwrap()),
            (ShowZram::new(&seen).text(&style), serde_json::to_value(ShowZram::new(&seen)).unwrap()),
            (ShowSwap::new(&seen, None).text(&style), serde_json::to_value(ShowSwap::new(&seen, None)).unwrap()),
            (ShowTmpfs::new(&seen).text(&style), serde_json::to_value(ShowTmpfs::new(&seen)).unwrap()),
            (
                ShowPressure::new(&seen, None).text(&style),
                serde_json::to_value(ShowPressure::new(&seen, None)).unwrap(),
            ),
        ];
        for (text, document) in screens {
            strings(&document, &mut names);
            collect(&text, &mut labels);
        }
    }
    // A long name is wrapped in its column, so the screen shows its parts.
    let named = |label: &String| names.iter().any(|n| n.starts_with(label.as_str()) || n.ends_with(label.as_str()));
    let unknown: Vec<&String> = labels.iter().filter(|label| !named(label) && find(label).is_err()).collect();
    assert!(labels.len() > 50, "{labels:?}");
    assert!(unknown.is_empty(), "give these a name in view/src/figure/rows.rs: {unknown:#?}");
}

/// Names from the machine: they are objects, not numbers.
fn strings(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(out.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|v| strings(v, out)),
        Value::Object(fields) => fields.values().for_each(|v| strings(v, out)),
        _ => {}
    }
}

/// The heads of the columns of a screen's tables, and the first cells of rows whose second cell is a number.
fn collect(text: &str, out: &mut BTreeSet<String>) {
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        let cells = |line: &str| {
            line.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let (here, next) = (cells(pair[0]), cells(pair[1]));
        let digit = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let row = |cells: &[String]| cells.len() > 1 && !digit(&cells[0]) && cells[1..].iter().any(digit);
        // Tables begin at the left edge; prose does not have gaps of two blanks.
        if !pair[0].starts_with(' ') && row(&next) && here.len() > 1 && !row(&here) {
            let heads = here.iter().filter(|head| {
                let plain = head.split(" (").next().unwrap_or(head).to_lowercase();
                !WORDS.contains(&plain.as_str()) && !plain.contains(';') && !digit(head)
            });
            out.extend(heads.cloned());
        }
        let words = WORDS.contains(
            &here.first().map(|c| c.split(" (").next().unwrap_or(c).to_lowercase()).unwrap_or_default().as_str(),
        );
        if row(&here)
            && !words
            && !here[0].starts_with("node ")
            && !here[0].starts_with('/')
            && !here[0].contains(". ")
            && !here[0].contains(';')
        {
            out.insert(here[0].trim_start_matches("- ").to_owned());
        }
    }
}

#[test]
fn a_name_is_found_without_case_plural_and_punctuation_and_an_unknown_one_names_the_closest() {
    let page_tables = |name: &str| find(name).unwrap().figure(&Snapshot::new(Machine::default()), None).path;
    for name in [
        "page tables",
        "Page Tables",
        "page table",
        "page_tables",
        "pagetables",
        "- page tables",
        "memory.ledger.page_tables",
        "ledger.lines[page_tables].bytes",
    ] {
        assert_eq!(page_tables(name), "ledger.lines[page_tables].bytes", "{name}");
    }
    let error = find("page tabels\u{1b}[31m").unwrap_err();
    assert_eq!(error.closest[0], "page tables");
    assert!(!error.to_string().contains('\u{1b}') && error.to_string().contains("try: ramline explain 'page tables'"));
    let inner = find("memory.ledger").unwrap_err();
    assert!(inner.closest.iter().all(|path| path.starts_with("ledger.")), "{inner}");
    for hostile in ["", " ", ".", "[", "][", "[0]", "*", "\0", &"x.".repeat(5000)] {
        assert!(find(hostile).is_err(), "{hostile:.20}");
    }
}

#[test]
fn measured_numbers_settings_peaks_and_counters_are_told_apart() {
    let told = |name: &str| find(name).unwrap().figure(&Snapshot::new(Machine::default()), None);
    for (name, scope, unit) in [
        ("tiers[0].latency.p99_ns", FigureScope::Measured, "nanoseconds"),
        ("vm.swappiness", FigureScope::Setting, "of 200"),
        ("mm_stat.mem_used_max", FigureScope::Peak, "bytes"),
        ("pressure.memory.some.total_us", FigureScope::Counter, "microseconds"),
        ("major faults", FigureScope::Rate, "faults a second"),
        ("drift.leftover", FigureScope::Change, "bytes"),
        ("leftover", FigureScope::Gauge, "bytes"),
        ("pgmajfault", FigureScope::Counter, "pages or events"),
        ("MemTotal", FigureScope::Fact, "bytes"),
    ] {
        let told = told(name);
        assert_eq!((told.scope, told.unit.as_str()), (scope, unit), "{name}");
    }
    assert!(told("refaults").not_here.unwrap().contains("--for 2s"));
}

/// Words of the source that have another word on a screen: docs/glossary.md.
const NOT_SAID: [&str; 9] =
    ["gauge", "gauges", "arm", "arms", "nobody", "somebody", "whoever", "can be had", "gives way"];

#[test]
fn no_number_is_explained_in_words_of_the_source() {
    let nothing = Snapshot::new(Machine::default());
    let mut wrong = BTreeSet::new();
    for found in figure::all() {
        let told = found.figure(&nothing, None);
        let texts = [Some(told.what), told.part_of, told.large_when, Some(told.source)];
        for text in texts.into_iter().flatten() {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
            let plain = format!(" {} ", words.join(" "));
            // A processor is no setting.
            let plain = plain.replace(" ARM ", " ").to_lowercase();
            wrong.extend(
                NOT_SAID
                    .iter()
                    .filter(|word| plain.contains(&format!(" {word} ")))
                    .map(|word| format!("{word}: {text}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
