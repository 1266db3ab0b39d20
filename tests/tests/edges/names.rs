//! An experiment is a row of a table: the command line knows none by its name, and the lab knows no simulator.

use std::collections::BTreeSet;
use std::fs;

use ramline_testkit::project;
use syn::visit::{self, Visit};

use crate::circles::Said;
use crate::dependencies;
use crate::source::{self, Source};

/// Each experiment has a page of its name, and a folder or file of it.
fn experiments() -> BTreeSet<String> {
    let pages = fs::read_dir(project().join("docs/experiments")).unwrap().flatten();
    let names = pages.filter_map(|page| Some(page.path().file_stem()?.to_str()?.to_owned()));
    let sources = project().join("crates/lab/src/experiments");
    let has_source = |name: &String| {
        let module = sources.join(name.replace('-', "_"));
        module.is_dir() || module.with_extension("rs").is_file()
    };
    names.filter(has_source).collect()
}

/// Where a name decides: in patterns, on both sides of `==`, and in `matches!`.
struct Decides<'a> {
    names: &'a BTreeSet<String>,
    found: Vec<String>,
}

impl Decides<'_> {
    fn look(&mut self, literal: &syn::Lit) {
        if let syn::Lit::Str(text) = literal
            && self.names.contains(&text.value())
        {
            self.found.push(text.value());
        }
    }
}

impl<'ast> Visit<'ast> for Decides<'_> {
    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Lit(literal) = pattern {
            self.look(&literal.lit);
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            for side in [&binary.left, &binary.right] {
                match side.as_ref() {
                    syn::Expr::Lit(literal) => self.look(&literal.lit),
                    syn::Expr::Field(field) if matches!(&field.member, syn::Member::Named(name) if name == "name") => {
                        let is_row =
                            |path: &syn::ExprPath| path.path.segments.last().is_some_and(|s| s.ident == "EXPERIMENT");
                        if matches!(field.base.as_ref(), syn::Expr::Path(path) if is_row(path)) {
                            self.found.push("EXPERIMENT.name".to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if mac.path.is_ident("matches") {
            let text = mac.tokens.to_string();
            self.found.extend(self.names.iter().filter(|name| text.contains(&format!("\"{name}\""))).cloned());
        }
    }
}

fn decided(source: &Source, names: &BTreeSet<String>) -> Vec<String> {
    let mut decides = Decides { names, found: Vec::new() };
    decides.visit_file(&source.syntax());
    let is_name = |path: &Vec<String>| {
        path.starts_with(&["ramline_lab".to_owned(), "experiments".to_owned()])
            && path.last().is_some_and(|l| l == "NAME")
    };
    decides.found.extend(Said::everything(source).iter().filter(|path| is_name(path)).map(|path| path.join("::")));
    decides.found
}

#[test]
fn the_command_line_decides_nothing_by_the_name_of_an_experiment() {
    let names = experiments();
    assert!(names.len() > 10, "{names:?}");
    // A load has this name too.
    let loads = ["cli/src/commands/trace/make.rs"];
    for file in source::in_crate("cli").iter().filter(|file| !loads.contains(&file.path.as_str())) {
        let found = decided(file, &names);
        assert!(found.is_empty(), "{}: a row of lab/experiments says it, not {}", file.path, found.join(", "));
    }
}

#[test]
fn no_screen_is_chosen_by_the_name_of_an_experiment() {
    let names = experiments();
    for file in source::in_crate("view") {
        let found = decided(file, &names);
        assert!(
            found.is_empty(),
            "{}: the study in a row of lab/experiments says it, not {}",
            file.path,
            found.join(", ")
        );
    }
}

#[test]
fn a_name_is_found_where_it_decides() {
    let names = BTreeSet::from(["knee".to_owned()]);
    let of = |code: &str| decided(&Source { path: String::new(), code: code.to_owned() }, &names);
    assert_eq!(of("fn f(a: &str) -> u8 { match a { \"knee\" | \"b\" => 1, _ => 2 } }"), ["knee"]);
    assert_eq!(of("fn f(a: &str) -> bool { a == \"knee\" || matches!(a, \"knee\") }"), ["knee", "knee"]);
    let named =
        "use ramline_lab::experiments::knee::{self, NAME}; fn f(a: &str) -> bool { [NAME, knee::NAME].contains(&a) }";
    assert_eq!(of(named), ["ramline_lab::experiments::knee::NAME"]);
    assert_eq!(of("fn f(a: &E) -> bool { a.name == EXPERIMENT.name }"), ["EXPERIMENT.name"]);
    assert_eq!(of("fn f() { say(\"knee\") }"), [""; 0]);
}

#[test]
fn the_lab_knows_no_simulator() {
    assert!(!dependencies("lab").contains(&"sim".to_owned()), "lab asks ramline-predict");
    for file in source::in_crate("lab") {
        let named = Said::everything(file);
        let sim = named.iter().find(|path| path.first().is_some_and(|first| first == "ramline_sim"));
        assert!(sim.is_none(), "{} names the simulator: {sim:?}", file.path);
    }
}

/// What the lab has beside the kernel is in `ramline_predict::apparatus`.
#[test]
fn the_simulator_names_no_apparatus_of_the_lab() {
    let words = ["the lab", "our worker", "observer", "loop device", "code-plus-data", "known-load"];
    for file in source::in_crate("sim") {
        let text =
            std::fs::read_to_string(ramline_testkit::project().join("crates").join(&file.path)).unwrap_or_default();
        assert!(!text.is_empty(), "{} was not read", file.path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_lowercase();
        let named: Vec<&str> = words.into_iter().filter(|word| code.contains(word)).collect();
        assert!(named.is_empty(), "{} names {named:?}", file.path);
    }
}
