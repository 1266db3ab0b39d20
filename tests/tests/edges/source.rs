//! The source of the crates, as the structure tests read it: whole files, without comments and without what is compiled for tests only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proc_macro2::LineColumn;
use ramline_testkit::project;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One file of a crate, without comments and without items for tests.
pub struct Source {
    /// Below `crates/`.
    pub path: String,
    /// The text, with comments and test items blank: line numbers stay.
    pub code: String,
}

impl Source {
    /// Its syntax.
    pub fn syntax(&self) -> syn::File {
        syn::parse_file(&self.code).unwrap_or_else(|error| panic!("{} without tests: {error}", self.path))
    }
}

/// Every file below `src` of a crate, but files that hold tests only. A crate is parsed once for all tests: that is most of their work.
pub fn in_crate(name: &str) -> &'static [Source] {
    static PARSED: Mutex<BTreeMap<String, &'static [Source]>> = Mutex::new(BTreeMap::new());
    PARSED.lock().unwrap().entry(name.to_owned()).or_insert_with(|| Vec::leak(parsed(name)))
}

fn parsed(name: &str) -> Vec<Source> {
    let mut paths = Vec::new();
    walk(&project().join("crates").join(name).join("src"), &mut paths);
    paths.sort();
    let tests_only =
        |path: &PathBuf| path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests");
    paths.iter().filter(|path| !tests_only(path)).map(|path| read(path)).collect()
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn read(path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap();
    let shown = path.display().to_string();
    let shown = shown.split_once("crates/").map_or(shown.as_str(), |(_, below)| below).to_owned();
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let code = program(&text, &syntax);
    Source { path: shown, code }
}

/// The text without test items and comments, each replaced by blanks.
fn program(text: &str, syntax: &syn::File) -> String {
    let mut tests = TestItems::default();
    tests.visit_file(syntax);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (from, to) in tests.spans {
        for (number, line) in lines.iter_mut().enumerate().take(to.line).skip(from.line - 1) {
            let first = if number == from.line - 1 { from.column } else { 0 };
            let last = if number == to.line - 1 { to.column } else { usize::MAX };
            *line = line.chars().enumerate().map(|(at, c)| if (first..last).contains(&at) { ' ' } else { c }).collect();
        }
    }
    lines.retain_mut(|line| {
        if line.trim_start().starts_with("//") {
            line.clear();
        }
        true
    });
    lines.join("\n")
}

#[derive(Default)]
struct TestItems {
    spans: Vec<(LineColumn, LineColumn)>,
}

impl TestItems {
    fn note(&mut self, attributes: &[syn::Attribute], item: &impl Spanned) -> bool {
        let is_test = attributes.iter().any(|a| {
            a.path().is_ident("test")
                || (a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
        });
        if is_test {
            let span = item.span();
            self.spans.push((span.start(), span.end()));
        }
        is_test
    }
}

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !self.note(attributes, item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.note(&item.attrs, item) {
            visit::visit_impl_item_fn(self, item);
        }
    }
}
