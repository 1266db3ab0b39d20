//! Every screen on every captured machine: it fits 100 columns, prints no control character, and survives hostile names.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use ramline_advice::{Inputs, TOPICS, explain, findings, headline};
use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_model::groups::Selection;
use ramline_model::ledger::Ledger;
use ramline_model::{swap, tiers, tmpfs, watermarks, zram};
use ramline_snapshot::cgroup::Group;
use ramline_snapshot::mounts::{Capacity, Mount};
use ramline_snapshot::shmem::{Amount, File, GraphicsClient, GraphicsRegion, Holder, Object, Shmem};
use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::{Seen, Snapshot, Unseen, Wanted, Window};
use ramline_testkit::{names, tree};
use ramline_units::{Bytes, Nanos};
use ramline_view::sheet::{Block, Depth, Sheet};
use ramline_view::text::{Style, width};
use ramline_view::{
    CheckupReport, Screen, ShowCgroups, ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram,
    UnseenSection, html, screen, topics,
};

const STYLE: Style = Style { colour: false, width: 100 };

fn trees() -> Vec<PathBuf> {
    names("healthy").iter().map(|name| tree(name)).collect()
}

fn machine(tree: &Path) -> Snapshot {
    gather(&Root::new(tree), Wanted::ALL)
}

fn report(seen: &Snapshot) -> CheckupReport {
    let inputs = Inputs { snapshot: seen, window: None, tiers: None, runs: &[] };
    let verdict = headline(&inputs);
    CheckupReport {
        machine: seen.machine.clone(),
        sentence: verdict.as_ref().map(|v| v.text.clone()).unwrap_or_default(),
        verdict,
        ledger: Ledger::from_snapshot(seen),
        tiers: tiers::from_snapshot(seen),
        watermarks: watermarks::from_snapshot(seen, None),
        pressure: Some(ramline_model::verdict::pressure_with_groups(seen, None)),
        swap: swap::from_snapshot(seen, None),
        zram: zram::from_snapshot(seen),
        tmpfs: tmpfs::from_snapshot(seen),
        would_fit: ShowTmpfs::new(seen).would_fit,
        findings: findings(&inputs),
        unseen: UnseenSection::from_snapshot(seen),
        ..CheckupReport::default()
    }
}

fn screens(seen: &Snapshot, window: Option<&Window<'_>>, style: &Style) -> Vec<(String, String)> {
    let inputs = Inputs { snapshot: seen, window: window.copied(), tiers: None, runs: &[] };
    let mut out = vec![
        ("show memory".to_owned(), ShowMemory::new(seen, window).text(style)),
        ("show tiers".to_owned(), ShowTiers::new(seen, None).text(style)),
        ("show zram".to_owned(), ShowZram::new(seen).text(style)),
        ("show swap".to_owned(), ShowSwap::new(seen, window).text(style)),
        ("show tmpfs".to_owned(), ShowTmpfs::new(seen).text(style)),
        ("show pressure".to_owned(), ShowPressure::new(seen, window).text(style)),
        ("show cgroups".to_owned(), ShowCgroups::new(seen, window, Selection::default()).text(style)),
        (
            "show cgroups /".to_owned(),
            ShowCgroups::one(seen, window, Selection::default(), "/").map_or_else(|e| e.to_string(), |s| s.text(style)),
        ),
        ("findings".to_owned(), screen::findings(&findings(&inputs), style)),
        ("checkup".to_owned(), screen::checkup(&report(seen), &["report.html".to_owned()], style)),
    ];
    for topic in TOPICS {
        out.push((format!("explain {}", topic.id), screen::explain(&explain(topic.id, &inputs).unwrap(), style)));
    }
    out
}

/// Commands to copy are never broken, so they alone may be longer.
fn is_command(line: &str) -> bool {
    line.starts_with("      ")
}

#[test]
fn every_screen_of_every_captured_machine_fits_and_holds_only_text() {
    assert!(trees().len() >= 5, "too few fixtures to say anything");
    for tree in trees() {
        for (name, text) in screens(&machine(&tree), None, &STYLE) {
            let at = format!("{name} on {}", tree.display());
            assert!(text.ends_with('\n') && text.len() > 20, "{at} says next to nothing: {text}");
            for line in text.lines() {
                assert!(width(line) <= 100 || is_command(line), "{at} is too wide: {line}");
                assert!(!line.ends_with(' ') && !line.chars().any(char::is_control), "{at}: {line:?}");
            }
        }
        assert!(screen::checkup(&report(&machine(&tree)), &[], &STYLE).lines().count() <= 40, "{}", tree.display());
    }
}

/// What a terminal shows without being asked for more.
fn brief(seen: &Snapshot, style: &Style) -> Vec<(String, String)> {
    let text = |sheet: Sheet| sheet.text(style, Depth::Brief);
    vec![
        ("show".to_owned(), text(ShowMemory::new(seen, None).sheet())),
        ("show tiers".to_owned(), text(ShowTiers::new(seen, None).sheet())),
        ("show zram".to_owned(), text(ShowZram::new(seen).sheet())),
        ("show swap".to_owned(), text(ShowSwap::new(seen, None).sheet())),
        ("show pressure".to_owned(), text(ShowPressure::new(seen, None).sheet())),
    ]
}

#[test]
fn no_line_is_longer_than_the_terminal_and_colour_changes_no_word() {
    for tree in trees() {
        let seen = machine(&tree);
        for columns in [60, 80, 120, 200] {
            let style = Style { colour: false, width: columns };
            let colour = Style { colour: true, width: columns };
            let plain = screens(&seen, None, &style).into_iter().chain(brief(&seen, &style));
            let coloured = screens(&seen, None, &colour).into_iter().chain(brief(&seen, &colour));
            for ((name, text), (_, painted)) in plain.zip(coloured) {
                let at = format!("{name} on {} at {columns} columns", tree.display());
                let long = text.lines().find(|line| width(line) > columns && !is_command(line));
                assert_eq!(long, None, "{at}");
                let own = [0, 1, 2, 31, 32, 33, 34, 35, 36].map(|code| format!("\u{1b}[{code}m"));
                assert_eq!(own.iter().fold(painted, |text, code| text.replace(code, "")), text, "{at}");
            }
        }
    }
}

#[test]
fn show_fits_a_small_terminal_and_its_first_line_is_short() {
    for tree in trees() {
        let seen = machine(&tree);
        for (name, text) in brief(&seen, &Style { colour: false, width: 80 }) {
            let first = text.lines().next().unwrap_or_default();
            assert!(!first.is_empty() && width(first) < 100, "{name} on {}: {first}", tree.display());
        }
        let show = ShowMemory::new(&seen, None).sheet().text(&Style { colour: false, width: 80 }, Depth::Brief);
        assert!(show.lines().count() <= 14, "{}:\n{show}", tree.display());
        let verdict = ShowMemory::new(&seen, None).verdict;
        assert!(verdict.is_none_or(|verdict| width(&verdict.text) < 100), "{}", tree.display());
    }
}

#[test]
fn the_short_answer_of_every_topic_fits_a_terminal_of_80_by_24() {
    let style = Style { colour: false, width: 80 };
    for tree in trees() {
        let seen = machine(&tree);
        let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
        for topic in TOPICS {
            let told = explain(topic.id, &inputs).unwrap();
            let text = screen::explain(&told, &style);
            let at = format!("{} on {}:\n{text}", topic.id, tree.display());
            assert!(text.lines().count() <= screen::SHORT && text.lines().all(|line| width(line) <= 80), "{at}");
            // The answer leads, with at least two of the numbers it rests on, where there are so many.
            assert!(told.answer_short.starts_with(text.lines().next().unwrap()), "{at}");
            let shown = text.lines().filter(|line| line.starts_with("  ")).count();
            assert!(shown >= told.numbers.len().min(2), "{at}");
        }
    }
}

#[test]
fn a_terminal_of_any_width_is_no_reason_to_fail() {
    for width in [0, 1, 7, 20, 60, 400] {
        for (name, text) in screens(&machine(&trees()[0]), None, &Style { colour: false, width }) {
            assert!(!text.is_empty(), "{name} at {width} columns");
        }
    }
}

#[test]
fn a_report_comes_back_from_json_as_it_went() {
    for tree in trees() {
        let report = report(&machine(&tree));
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<CheckupReport>(&text).unwrap(), report, "{}", tree.display());
    }
}

#[test]
fn an_empty_snapshot_is_said_to_be_one_on_every_screen() {
    let nothing = Snapshot::default();
    for (name, text) in screens(&nothing, None, &STYLE) {
        assert!(text.len() > 20, "{name}: {text:?}");
        assert!(!text.contains("NaN") && !text.contains("inf "), "{name}: {text}");
    }
}

#[test]
fn hostile_names_of_mounts_areas_and_devices_reach_no_screen_raw() {
    const EVIL: &str = "/mnt/\u{1b}[2J\u{202e}evil\n<script>alert(1)</script>\r\u{7}";
    for tree in trees() {
        let mut seen = machine(&tree);
        let capacity = Capacity { size: Bytes(4096), free: Bytes(0), available: Bytes(0), inodes: 9, inodes_free: 1 };
        let mount = |fs: &str, at: &str| Mount {
            dev: format!("0:{at}"),
            root: EVIL.into(),
            at: at.into(),
            options: EVIL.into(),
            fs: fs.into(),
            source: EVIL.into(),
            super_options: EVIL.into(),
            capacity: Some(capacity),
            hidden: false,
            quotas: vec![],
        };
        seen.mounts = Seen::new(vec![mount("ext4", "/"), mount("tmpfs", EVIL), mount("tmpfs", "/tmp")]);
        let area = |path: &str, priority| SwapArea {
            path: path.into(),
            kind: EVIL.into(),
            size: Bytes(1 << 30),
            used: Bytes(1 << 20),
            priority,
        };
        seen.swaps = Seen::new(vec![area(EVIL, 5), area("/dev/zram0", 1)]);
        let holder = || Holder { name: EVIL.into(), ..Holder::default() };
        let amount = Amount { count: 1, resident: Bytes(4096), ..Amount::default() };
        seen.shmem = Seen::new(Shmem {
            files: vec![File { path: EVIL.into(), amount, ..File::default() }],
            objects: vec![Object { name: EVIL.into(), amount, holders: vec![holder()], ..Object::default() }],
            graphics: vec![GraphicsClient {
                driver: EVIL.into(),
                regions: vec![GraphicsRegion { name: EVIL.into(), ..GraphicsRegion::default() }],
                holder: holder(),
                ..GraphicsClient::default()
            }],
            ..Shmem::default()
        });
        seen.zswap = Seen::Denied { path: EVIL.into() };
        if let Seen::Seen { data, .. } = &mut seen.groups {
            data.mount = EVIL.into();
            data.list.push(Group { path: format!("/{EVIL}"), current: Some(Bytes(4096)), ..Group::default() });
            data.unreadable = 1;
            data.unseen = vec![Unseen::new(EVIL, EVIL)];
        }
        seen.machine.kernel = EVIL.into();
        seen.machine.container = Some(EVIL.into());
        if let Seen::Seen { data, .. } = &mut seen.zram {
            for device in &mut data.devices {
                device.algorithm = Some(EVIL.into());
                device.algorithms = vec![EVIL.into(), EVIL.into()];
            }
        }
        for style in [STYLE, Style { colour: true, width: 60 }] {
            for (name, text) in screens(&seen, None, &style) {
                let own = [0, 1, 2, 31, 32, 33, 34, 35, 36].map(|code| format!("\u{1b}[{code}m"));
                let bare = own.iter().fold(text, |text, code| text.replace(code, ""));
                let raw = bare.chars().find(|c| *c != '\n' && ramline_view::is_hostile(*c));
                assert_eq!(raw, None, "{name} on {}", tree.display());
            }
        }
    }
}

#[test]
fn a_window_gives_rates_and_its_length_and_none_says_so() {
    let after = machine(&trees()[0]);
    let mut before = after.clone();
    let mut later = after;
    (before.machine.boot_id, later.machine.boot_id) = (Some("x".into()), Some("x".into()));
    (before.machine.uptime, later.machine.uptime) = (Some(Nanos(10_000_000_000)), Some(Nanos(12_000_000_000)));
    let window = Window::new(&before, &later).unwrap();
    let with = ShowPressure::new(&later, Some(&window)).text(&STYLE);
    let without = ShowPressure::new(&later, None).text(&STYLE);
    assert!(with.contains("Reclaim, per second, over 2.0 s"), "{with}");
    assert!(without.contains("counters since boot only, no rate") && !without.contains("/s "), "{without}");
    assert!(ShowMemory::new(&later, Some(&window)).text(&STYLE).contains("Drift over 2.0 s: no line; leftover +0 B."));
}

/// Those of healthy machines, and those on which a finding fires, or an explanation has much to say.
fn every_tree() -> Vec<PathBuf> {
    names("").iter().map(|name| tree(name)).collect()
}

/// Every sentence of a sheet, folded ones too.
fn sentences(sheet: &Sheet, out: &mut Vec<String>) {
    for block in sheet.blocks() {
        match block {
            Block::Answer(_, text) | Block::Line { text, .. } => out.push(text.clone()),
            Block::Card { title, sheet, .. } => {
                out.push(title.clone());
                sentences(sheet, out);
            }
            Block::More { sheet, .. } => sentences(sheet, out),
            _ => {}
        }
    }
}

/// What a reader of the page sees, blanks as one.
fn read(page: &str) -> String {
    let body = page.split_once("</head>").unwrap().1;
    let mut out = String::new();
    for part in body.split('<') {
        // What stands in a tag is not read; where one ends, words may.
        out.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&"), ("\u{a0}", " ")];
    let text = plain.iter().fold(out, |text, (from, to)| text.replace(from, to));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_sentence_of_every_sheet_stands_in_the_text_and_on_the_page() {
    let wide = Style { colour: false, width: 100_000 };
    let mut count = 0;
    for tree in every_tree() {
        let report = report(&machine(&tree));
        let page = read(&html::page(&report));
        for topic in topics(&report) {
            let mut all = Vec::new();
            sentences(&topic.sheet, &mut all);
            let text = topic.sheet.text(&wide, Depth::All);
            for sentence in all {
                let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
                let at = format!("{} on {}", topic.id, tree.display());
                let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat.contains(&sentence), "{at}: the text lacks: {sentence}");
                assert!(page.contains(&sentence), "{at}: the page lacks: {sentence}");
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count} sentences are too few to say anything");
}

#[test]
fn a_state_has_one_sentence_on_every_screen() {
    for tree in every_tree() {
        let seen = machine(&tree);
        let report = report(&seen);
        let memory = ShowMemory::new(&seen, None);
        if let (Some(shown), Some(reported)) = (&memory.verdict, &report.verdict) {
            assert_eq!(shown.text, reported.text, "{}", tree.display());
        }
        let answer = |sheet: &Sheet| {
            sheet.blocks().iter().find_map(|block| match block {
                Block::Answer(_, text) => Some(text.clone()),
                _ => None,
            })
        };
        let topic = topics(&report).into_iter().find(|topic| topic.id == "pressure").unwrap();
        assert_eq!(answer(&topic.sheet), answer(&ShowPressure::new(&seen, None).sheet()), "{}", tree.display());
    }
}
