//! All targets in one program, so that what they share is compiled and linked once: RAMLINE_FUZZ names the one that is tried.
//!
//! A target is a file in `targets` and a line in the table.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

mod targets {
    pub mod elf;
    pub mod history;
    pub mod hot_set;
    pub mod journal;
    pub mod kernel_log;
    pub mod ring_page;
    pub mod run_record;
    pub mod snapshot_json;
    pub mod standing;
    pub mod texts;
    pub mod touches;
    pub mod trace_text;
    pub mod units;
}

type Target = fn(&[u8]);

const TARGETS: &[(&str, Target)] = &[
    ("elf", targets::elf::once),
    ("history", targets::history::once),
    ("hot_set", targets::hot_set::once),
    ("journal", targets::journal::once),
    ("kernel_log", targets::kernel_log::once),
    ("ring_page", targets::ring_page::once),
    ("run_record", targets::run_record::once),
    ("snapshot_json", targets::snapshot_json::once),
    ("standing", targets::standing::once),
    ("texts", targets::texts::once),
    ("touches", targets::touches::once),
    ("trace_text", targets::trace_text::once),
    ("units", targets::units::once),
];

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("RAMLINE_FUZZ").unwrap_or_default();
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("RAMLINE_FUZZ={name} is no target; try: fuzz/run 5")).1
});

fuzz_target!(|data: &[u8]| CHOSEN(data));
