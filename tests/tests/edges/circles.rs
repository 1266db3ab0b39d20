//! Inside a crate, too, imports go one way: no circle between module folders, and no long one between files.
//!
//! What is an import: each path in a file that names something another file of the crate defines. A `pub use` is none: who uses
//! the name through it depends on the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{TokenStream, TokenTree};
use ramline_testkit::project;
use syn::visit::{self, Visit};

use crate::source::{self, Source};

/// The longest circle of files that may be: two that need each other, and what both share.
const LONGEST: usize = 3;

/// Where a module stands: the names from the crate's root. The root is empty.
pub type Module = Vec<String>;

/// `lab/src/vm/host.rs` is `vm::host`, `lab/src/vm/mod.rs` and `lab/src/vm.rs` are `vm`.
fn module(path: &str) -> Module {
    let below = path.split_once("/src/").map_or(path, |(_, below)| below).trim_end_matches(".rs");
    let mut parts: Module = below.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// What one file says: the names it imports, the names it hands on, and every path in its code.
#[derive(Default)]
pub struct Said {
    imports: BTreeMap<String, Module>,
    hands_on: BTreeMap<String, Module>,
    paths: Vec<Module>,
    here: Module,
    /// Globs: `use super::*`.
    globs: Vec<Module>,
}

impl Said {
    /// The path from the crate's root, if it leads into this crate.
    fn absolute(&self, path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
        let (head, rest) = path.split_first()?;
        let base = match head.as_str() {
            "crate" => Vec::new(),
            "self" => self.here.clone(),
            "super" => {
                let mut up = self.here.clone();
                up.pop()?;
                let mut rest = rest;
                while rest.first().is_some_and(|word| word == "super") {
                    up.pop()?;
                    rest = &rest[1..];
                }
                return Some([up, rest.to_vec()].concat());
            }
            name => {
                let child = [self.here.clone(), vec![name.to_owned()]].concat();
                match self.imports.get(name) {
                    Some(import) => import.clone(),
                    None if modules.contains(&child) => child,
                    None => return None,
                }
            }
        };
        Some([base, rest.to_vec()].concat())
    }

    /// Every path of a file, where its first name was imported with what that stands for; the imports themselves, and what all names of are taken from.
    pub fn everything(source: &Source) -> BTreeSet<Module> {
        let mut said = Said::default();
        said.visit_file(&source.syntax());
        let mut found: BTreeSet<Module> = said.imports.values().chain(&said.globs).cloned().collect();
        for path in &said.paths {
            // An import of an import: `use std as s; use s::fs`.
            let mut path = path.clone();
            for _ in 0..4 {
                found.insert(path.clone());
                let Some(import) = path.first().and_then(|first| said.imports.get(first)) else { break };
                let next = [import.clone(), path[1..].to_vec()].concat();
                if next == path {
                    break;
                }
                path = next;
            }
        }
        for import in said.imports.values() {
            let Some(base) = import.first().and_then(|first| said.imports.get(first)) else { continue };
            found.insert([base.clone(), import[1..].to_vec()].concat());
        }
        found
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &Module, found: &mut Vec<(Option<String>, Module)>) {
        let with = |name: &syn::Ident| [before.clone(), vec![name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident), found),
            syn::UseTree::Name(name) if name.ident == "self" => found.push((before.last().cloned(), before.clone())),
            syn::UseTree::Name(name) => found.push((Some(name.ident.to_string()), with(&name.ident))),
            syn::UseTree::Rename(rename) if rename.ident == "self" => {
                found.push((Some(rename.rename.to_string()), before.clone()));
            }
            syn::UseTree::Rename(rename) => found.push((Some(rename.rename.to_string()), with(&rename.ident))),
            syn::UseTree::Glob(_) => found.push((None, before.clone())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before, found)),
        }
    }

    /// Paths inside the arguments of macros, which are only tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Module = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.paths.push(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.paths.push(std::mem::take(&mut path));
                    self.tokens(group.stream());
                }
                _ => {
                    self.paths.push(std::mem::take(&mut path));
                    colons = 0;
                }
            }
        }
        self.paths.push(path);
    }
}

impl<'ast> Visit<'ast> for Said {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        self.tree(&item.tree, &Vec::new(), &mut found);
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        for (name, path) in found {
            match name {
                Some(name) if is_public => {
                    self.hands_on.insert(name.clone(), path.clone());
                    self.imports.insert(name, path);
                }
                Some(name) => {
                    self.imports.insert(name, path);
                }
                None => self.globs.push(path),
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        self.tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

/// Which file uses which, by the file that defines what is used.
fn imports(sources: &[Source]) -> BTreeMap<Module, BTreeSet<Module>> {
    let modules: BTreeSet<Module> = sources.iter().map(|source| module(&source.path)).collect();
    let said: BTreeMap<Module, Said> = sources
        .iter()
        .map(|source| {
            let mut said = Said { here: module(&source.path), ..Said::default() };
            said.visit_file(&source.syntax());
            (said.here.clone(), said)
        })
        .collect();
    let first_absolute = |said: &Said, path: &Module| {
        // An import of an import: `use crate::a; use a::b`.
        said.absolute(path, &modules)
    };
    let defined_in = |path: &Module| -> Option<(Module, bool)> {
        let (mut at, mut rest, mut turns) = (Module::new(), path.clone(), 0);
        while let Some(name) = rest.first().cloned() {
            let below = [at.clone(), vec![name.clone()]].concat();
            if modules.contains(&below) {
                at = below;
                rest.remove(0);
                continue;
            }
            let Some(target) =
                said.get(&at).and_then(|said| said.hands_on.get(&name).and_then(|to| first_absolute(said, to)))
            else {
                break;
            };
            turns += 1;
            if turns > 16 || target == [at.clone(), vec![name]].concat() {
                return None;
            }
            rest.remove(0);
            rest = [target, rest].concat();
            at = Module::new();
        }
        Some((at, rest.is_empty()))
    };
    let mut edges = BTreeMap::new();
    for (here, said) in &said {
        let uses: &mut BTreeSet<Module> = edges.entry(here.clone()).or_default();
        let named = said.imports.iter().filter(|(name, _)| !said.hands_on.contains_key(*name)).map(|(_, path)| path);
        // A module that is imported by its name: what is used of it shows where it is used.
        let named = named.filter_map(|path| first_absolute(&Said { here: here.clone(), ..Said::default() }, path));
        for path in named {
            uses.extend(defined_in(&path).and_then(|(at, is_module)| (!is_module).then_some(at)));
        }
        for path in said.paths.iter().filter(|path| path.len() > 1) {
            let Some(path) = first_absolute(said, path) else { continue };
            let path = first_absolute(&Said { here: here.clone(), ..Said::default() }, &path).unwrap_or(path);
            uses.extend(defined_in(&path).map(|(at, _)| at));
        }
        uses.extend(said.globs.iter().filter_map(|path| defined_in(&first_absolute(said, path)?).map(|(at, _)| at)));
        uses.remove(here);
    }
    edges
}

/// The sets of nodes that reach each other.
fn circles<Node: Ord + Clone>(edges: &BTreeMap<Node, BTreeSet<Node>>) -> Vec<BTreeSet<Node>> {
    let reach = |from: &Node| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(node) = open.pop() {
            open.extend(edges.get(&node).into_iter().flatten().filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<&Node, BTreeSet<Node>> = edges.keys().map(|node| (node, reach(node))).collect();
    let mut found: Vec<BTreeSet<Node>> = Vec::new();
    for (node, there) in &reached {
        if !there.contains(node) || found.iter().any(|circle| circle.contains(node)) {
            continue;
        }
        found.push(
            there.iter().filter(|other| reached.get(other).is_some_and(|back| back.contains(node))).cloned().collect(),
        );
    }
    found.into_iter().filter(|circle| circle.len() > 1).collect()
}

/// The circles between what stands beside each other in a folder, where one of them is a folder.
fn folder_circles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let folders: BTreeSet<Module> = edges.keys().filter_map(|m| m.split_last().map(|(_, up)| up.to_vec())).collect();
    let mut found = Vec::new();
    for folder in &folders {
        let beside = |module: &Module| {
            (module.starts_with(folder) && module.len() > folder.len()).then(|| module[..=folder.len()].to_vec())
        };
        let mut between: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, to) in edges {
            let Some(from) = beside(from) else { continue };
            let there = to.iter().filter_map(beside).filter(|to| *to != from);
            between.entry(from.clone()).or_default().extend(there);
        }
        let circles = circles(&between).into_iter().filter(|circle| circle.iter().any(|node| folders.contains(node)));
        found.extend(circles.map(|circle| circle.iter().map(|m| m.join("::")).collect::<Vec<_>>().join(" <-> ")));
    }
    found
}

fn crates() -> Vec<String> {
    let entries = fs::read_dir(project().join("crates")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_circle_between_module_folders_and_no_long_one_between_files() {
    let mut found = Vec::new();
    for name in crates() {
        let edges = imports(source::in_crate(&name));
        found.extend(folder_circles(&edges).into_iter().map(|circle| format!("{name}: folders {circle}")));
        for circle in circles(&edges).into_iter().filter(|circle| circle.len() > LONGEST) {
            found.push(format!("{name}: {} files", circle.len()));
            for file in &circle {
                let to: Vec<String> = edges[file].intersection(&circle).map(|to| to.join("::")).collect();
                found.push(format!("    {} -> {}", file.join("::"), to.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "imports go in circles:\n{}", found.join("\n"));
}
