//! What only some crates do: threads, files, clocks and writes, found by the paths that a file names, whatever it imports them as.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use crate::circles::{Module, Said};
use crate::source::{self, Source};
use crate::{ALLOWED, PURE};

/// What no pure crate names.
const EFFECTS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::thread",
    "std::process",
    "std::net",
    "std::os",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "File::open",
    "rustix",
    "libc",
];

/// The paths of a file that lead to one of these, or that take all names from above one of them.
fn leads_to(source: &Source, forbidden: &[&str]) -> Vec<String> {
    let words = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let forbidden: Vec<Module> = forbidden.iter().map(|path| words(path)).collect();
    let named: BTreeSet<Module> = Said::everything(source);
    // Who takes `std` whole, under another name or all names of it, hides what is used of it.
    let leads = |path: &Module| forbidden.iter().any(|no| path.starts_with(no)) || *path == ["std"];
    named.iter().filter(|path| leads(path)).map(|path| path.join("::")).collect()
}

#[test]
fn pure_crates_touch_no_files_clock_environment_or_threads() {
    for name in PURE {
        for file in source::in_crate(name) {
            let found = leads_to(file, EFFECTS);
            assert!(found.is_empty(), "{} uses {}", file.path, found.join(", "));
        }
    }
}

/// Methods of `kernel` that write to the kernel's files.
const WRITES: &[&str] = &[
    "set_memory_limit",
    "set_swap_limit",
    "kill_all",
    "give_up_cache",
    "set_algorithm",
    "set_disksize",
    "set_mem_limit",
    "set_writeback_limit",
    "write_back",
    "hot_remove",
];
/// And its functions.
const WRITING: &[&str] = &[
    "ramline_kernel::write::write_knob",
    "ramline_kernel::swap::swapon",
    "ramline_kernel::swap::swapoff",
    "ramline_kernel::swap::make",
    "ramline_kernel::zram::hot_add",
    "ramline_kernel::guest::set_sysctl",
    "ramline_kernel::guest::set_mglru",
];

#[derive(Default)]
struct Calls(BTreeSet<String>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.0.insert(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }
}

#[test]
fn only_act_sandbox_and_lab_write_and_measure_to_what_it_has_made() {
    let may = ["kernel", "act", "sandbox", "lab", "testkit"];
    for (name, _) in ALLOWED.iter().filter(|(name, _)| !PURE.contains(name) && !may.contains(name)) {
        for file in source::in_crate(name) {
            let mut calls = Calls::default();
            calls.visit_file(&file.syntax());
            let mut found = leads_to(file, WRITING);
            // Devices that measure has made itself, through the journal.
            let own = |call: &str| *name == "measure" && ["set_algorithm", "set_disksize"].contains(&call);
            found.extend(calls.0.into_iter().filter(|call| WRITES.contains(&call.as_str()) && !own(call)));
            assert!(found.is_empty(), "{} writes: {}", file.path, found.join(", "));
        }
    }
}

#[test]
fn a_path_is_found_whatever_it_was_imported_as() {
    let of = |code: &str| {
        let source = Source { path: String::new(), code: code.to_owned() };
        leads_to(&source, &["std::thread", "std::fs"])
    };
    assert_eq!(of("use std::{panic, thread};"), ["std::thread"]);
    assert_eq!(of("use std::thread as t; fn f() { t::scope(|_| ()) }"), ["std::thread", "std::thread::scope"]);
    assert_eq!(of("use std as s; fn f() { s::fs::read(x) }"), ["std", "std::fs::read"]);
    assert_eq!(of("use std::*;"), ["std"]);
    assert_eq!(of("fn f() { vec![std::fs::read(x)] }"), ["std::fs::read"]);
    assert_eq!(of("use std::fs::*;"), ["std::fs"]);
    assert_eq!(of("use std::path::Path; fn thread() { fs::read() }"), [""; 0]);
}
