//! The structure holds: who may depend on whom, and what pure crates do not do.

use std::collections::BTreeMap;
use std::fs;

use ramline_testkit::project;

mod circles;
mod effects;
mod names;
mod source;

/// For each crate, the crates of ours it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("no-schema", &[]),
    ("units", &["no-schema"]),
    ("snapshot", &["units"]),
    ("evidence", &["units"]),
    ("trace", &["units", "snapshot", "evidence"]),
    ("history", &["units", "snapshot"]),
    ("model", &["units", "snapshot", "evidence"]),
    ("sim", &["units", "evidence", "trace", "model"]),
    ("predict", &["units", "snapshot", "evidence", "trace", "sim"]),
    ("plan", &["units"]),
    ("advice", &["units", "snapshot", "evidence", "model", "plan"]),
    ("sheet", &["units"]),
    ("view", &["units", "snapshot", "evidence", "trace", "model", "predict", "plan", "advice", "sheet"]),
    ("live", &["units", "sheet"]),
    ("export", &["units", "snapshot", "model", "advice"]),
    ("kernel", &["units", "snapshot"]),
    ("serve", &["kernel"]),
    ("gather", &["units", "snapshot", "kernel"]),
    ("act", &["units", "plan", "kernel"]),
    ("pagecache", &["units", "snapshot", "trace", "kernel", "gather", "act"]),
    ("capture", &["units", "trace", "kernel"]),
    ("recorder", &["units", "snapshot", "history", "kernel", "gather"]),
    ("sandbox", &["units", "snapshot", "evidence", "model", "kernel", "gather", "act"]),
    ("lzo", &[]),
    ("measure", &["units", "lzo", "snapshot", "evidence", "model", "kernel", "gather", "act", "sandbox"]),
    (
        "lab",
        &[
            "units", "snapshot", "evidence", "trace", "model", "predict", "kernel", "gather", "act", "sandbox",
            "measure",
        ],
    ),
    (
        "cli",
        &[
            "units",
            "snapshot",
            "evidence",
            "trace",
            "model",
            "plan",
            "advice",
            "view",
            "live",
            "export",
            "serve",
            "kernel",
            "gather",
            "act",
            "sandbox",
            "measure",
            "pagecache",
            "capture",
            "history",
            "recorder",
            "lab",
            "predict",
        ],
    ),
    ("testkit", &[]),
];

const PURE: &[&str] = &[
    "no-schema",
    "units",
    "lzo",
    "snapshot",
    "evidence",
    "trace",
    "history",
    "model",
    "sim",
    "predict",
    "plan",
    "advice",
    "sheet",
    "view",
    "export",
];

fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(project().join("crates").join(name).join("Cargo.toml")).unwrap();
    let real = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    real.lines().filter_map(|l| Some(l.strip_prefix("ramline-")?.split([' ', '=']).next()?.to_owned())).collect()
}

#[test]
fn crates_depend_only_on_those_before_them() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    for entry in fs::read_dir(project().join("crates")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let may = allowed.get(name.as_str()).unwrap_or_else(|| panic!("crate {name} has no line in ALLOWED"));
        for dependency in dependencies(&name) {
            assert!(may.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

/// The fuzz targets have a lock file of their own; a dependency that only a crate's manifest gained is missing there.
#[test]
fn the_lock_of_the_fuzz_targets_knows_what_the_crates_need() {
    let lock = fs::read_to_string(project().join("fuzz/Cargo.lock")).unwrap();
    let mut checked = 0;
    for package in lock.split("[[package]]") {
        let Some(name) = package.split("name = \"ramline-").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        // The package of the targets themselves: its manifest is beside the lock, and cargo holds it against that.
        if name == "fuzz" {
            continue;
        }
        let manifest = fs::read_to_string(project().join("crates").join(name).join("Cargo.toml")).unwrap();
        let needs = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        let needs = needs.lines().filter(|line| !line.starts_with('#'));
        for need in needs.filter_map(|line| line.split([' ', '.', '=']).next()).filter(|need| !need.is_empty()) {
            let known = package.contains(&format!(" \"{need}\",")) || package.contains(&format!(" \"{need} "));
            assert!(
                known,
                "fuzz/Cargo.lock: ramline-{name} needs {need}; try: cargo metadata --offline --manifest-path fuzz/Cargo.toml >/dev/null"
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} dependencies were found to check");
}

#[test]
fn unsafe_stands_only_in_the_kernel_crate() {
    for (name, _) in ALLOWED.iter().filter(|(name, _)| *name != "kernel") {
        for file in source::in_crate(name) {
            assert!(!file.code.contains("unsafe {"), "{}", file.path);
        }
    }
}

#[test]
fn kernel_paths_stand_only_in_kernel_and_gather() {
    for name in ["act", "capture", "sandbox", "measure", "pagecache", "lab", "cli"] {
        for source::Source { path, code, .. } in source::in_crate(name) {
            for named in ["\"/proc/", "\"/sys/", "\"/sys\"", "\"/proc\""] {
                assert!(!code.contains(named), "{path} names a kernel file: {named}");
            }
        }
    }
}

/// Lines of the effect crates, outside tests, that hold one of these and stand in none of the files that may.
fn elsewhere(words: &[&str], may: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !PURE.contains(name) && *name != "testkit") {
        let may = |file: &source::Source| {
            may.iter().any(|may| file.path == *may || may.ends_with('/') && file.path.starts_with(may))
        };
        for file in source::in_crate(name).iter().filter(|file| !may(file)) {
            let hits = file.code.lines().filter(|line| words.iter().any(|word| line.contains(word)));
            found.extend(hits.map(|line| format!("{}: {}", file.path, line.trim())));
        }
    }
    found
}

#[test]
fn what_comes_from_outside_is_read_by_the_one_reader_with_its_bounds() {
    // The kernel's own files, which are no file of anybody; a file that this run has made; inside a guest, whose files are ours.
    let may = [
        "gather/src/processes/begun.rs",
        "gather/src/sections/evictors.rs",
        "gather/src/sections/processes.rs",
        "gather/src/sections/shmem/spaces.rs",
        "gather/src/sections/captured.rs",
        "gather/src/sections/zram.rs",
        "gather/src/held.rs",
        "sandbox/src/vm/guest.rs",
    ];
    let found = elsewhere(&["fs::read(", "fs::read_to_string(", "io::read_to_string"], &may);
    assert!(found.is_empty(), "read through ramline_kernel::input:\n{}", found.join("\n"));
    let found = elsewhere(&["fs::write(", "File::create(", "NamedTempFile", "tempfile::"], &may);
    assert!(found.is_empty(), "write through ramline_kernel::output or act:\n{}", found.join("\n"));
}

#[test]
fn what_is_printed_passes_the_printer_that_escapes() {
    let may = ["kernel/src/stdio.rs", "sandbox/src/vm/guest.rs"];
    let found = elsewhere(&["println!(", "eprint!(", "print!("], &may);
    assert!(found.is_empty(), "print through ramline_kernel::stdio::tell or cli's output:\n{}", found.join("\n"));
}

#[test]
fn programs_of_the_system_are_started_by_the_one_function_that_looks_at_their_owners() {
    let may = [
        "kernel/src/program.rs",
        // This program itself.
        "kernel/src/process.rs",
        "sandbox/src/child/entry.rs",
        // What the user has named.
        "sandbox/src/child/command.rs",
        "cli/src/commands/cache/trace.rs",
        "cli/src/commands/trace/record.rs",
        "pagecache/src/run.rs",
        // A command of the command line.
        "cli/src/commands/lab/run.rs",
    ];
    let found = elsewhere(&["Command::new("], &may);
    assert!(found.is_empty(), "start through ramline_kernel::program:\n{}", found.join("\n"));
}

#[test]
fn a_command_that_is_proposed_is_quoted_for_the_shell() {
    let mut found = elsewhere(&["hint(format!", "hint(&format!", "hint = format!"], &["act/"]);
    found.retain(|line| line.contains(".display()") || line.contains(".join("));
    found.extend(elsewhere(&["command\").join("], &[]));
    assert!(found.is_empty(), "use ramline_units::{{quoted_path, command_line}}:\n{}", found.join("\n"));
}

#[test]
fn threads_are_watched_for_panics() {
    let may = ["kernel/src/worker.rs", "kernel/src/signals.rs"];
    let found = elsewhere(&["thread::spawn(", "thread::Builder"], &may);
    assert!(found.is_empty(), "begin threads through ramline_kernel::worker:\n{}", found.join("\n"));
}

#[test]
fn only_growth_subtracts_counters_so_that_a_reset_is_never_a_clean_zero() {
    let subtracts = ["saturating_sub(", "checked_sub(", "wrapping_sub(", "abs_diff(", " - "];
    let counters = [
        "majflt",
        "minflt",
        "_faults",
        "refault",
        "pgscan",
        "pgsteal",
        "pgpgin",
        "pswp",
        "oom_kill",
        "total_us",
        "stalled_us",
        "sectors",
        "_completed",
        "usage.user",
        "usage.system",
        "usage.read",
        "before.get(",
        "after.get(",
    ];
    // What `growth` gave is a size, no longer a counter.
    let counted = |line: &String| counters.iter().any(|word| line.contains(word)) && !line.contains("growth(");
    let found = elsewhere(&subtracts, &[]).into_iter().filter(counted);
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "use ramline_units::growth:\n{}", found.join("\n"));
}

/// Code without what stands in quotes, all white space as one blank: what spans lines is found too.
fn without_quotes(code: &str) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let raw = before.ends_with('r') || before.ends_with("r#");
        let end = match from.strip_prefix('"') {
            Some(_) if before.ends_with("r#") => from.find("\"#").map(|end| end + 2),
            Some(text) => {
                let mut escaped = false;
                let close = text.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped && !raw;
                    ends
                });
                close.map(|close| close + 2)
            }
            // A letter in quotes, or else the name of a lifetime.
            None => match from.chars().nth(1) {
                Some('\\') => from.get(3..).and_then(|from| from.find('\'')).map(|close| close + 4),
                Some(letter) if from[1 + letter.len_utf8()..].starts_with('\'') => Some(2 + letter.len_utf8()),
                _ => Some(1),
            },
        };
        rest = &from[end.unwrap_or(from.len())..];
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What formats values computes digits; every other file of `view` says what it was given. What draws is `sheet`.
const DRAWS: [&str; 1] = ["view/src/figure/value.rs"];

#[test]
fn view_does_not_compute_on_what_was_measured() {
    let operators = [" + ", " - ", " * ", " / ", " % ", " += ", " -= ", " *= ", " /= ", " %= "];
    let calls = [
        ".sum(",
        ".sum::",
        ".product(",
        ".fold(",
        "saturating_",
        "checked_",
        "wrapping_",
        ".as_f64()",
        " as f64",
        "study::",
        ".abs()",
        ".sqrt()",
        ".ln()",
    ];
    let mut found = Vec::new();
    for source::Source { path, code, .. } in source::in_crate("view") {
        if DRAWS.iter().any(|may| path.contains(may)) {
            continue;
        }
        // A sum of bounds is none.
        let code = without_quotes(code).replace(" + use<", "").replace(" + _", "");
        for word in operators.iter().chain(&calls) {
            found.extend(code.match_indices(word).map(|(at, _)| {
                let around: String = code[..at].chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
                format!("{path}: {around}{}", code[at..].chars().take(30).collect::<String>())
            }));
        }
    }
    assert!(found.is_empty(), "model or evidence computes, view shows:\n{}", found.join("\n"));
}

#[test]
fn quotes_hide_no_code_and_code_hides_no_quotes() {
    let code = "let a = \"x + \\\"y\"; let b = '\"'; let c: &'a str = r#\"1 - \"2\"#; d\n    + e; f('\\'', \"* \")";
    assert_eq!(without_quotes(code), "let a = ; let b = ; let c: &a str = r#; d + e; f(, )");
}
