//! Sums by directory, rolled up to what was named.

use std::ffi::OsString;

use ramline_snapshot::cache::Tree;

use crate::prelude::*;

#[derive(Debug, Default)]
pub struct Trees(Mutex<Vec<Node>>);

#[derive(Debug, Default)]
struct Node {
    parent: Option<u32>,
    depth: u32,
    name: OsString,
    tally: Tally,
}

fn at(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

impl Trees {
    pub fn begin(&self, place: &Place, parent: Option<u32>) {
        let mut nodes = lock(&self.0);
        let index = at(place.index);
        if nodes.len() <= index {
            nodes.resize_with(index + 1, Node::default);
        }
        let own = match parent {
            Some(_) => place.path.file_name().unwrap_or_default().to_owned(),
            None => place.path.clone().into_os_string(),
        };
        nodes[index] = Node { parent, depth: place.depth, name: own, tally: Tally::default() };
    }

    pub fn add(&self, place: &Place, tally: &Tally) {
        let mut nodes = lock(&self.0);
        if let Some(node) = nodes.get_mut(at(place.index)) {
            node.tally.add(tally);
        }
    }

    /// What was named, with everything below as far as it was seen, and the sum of all. What has no files is left out.
    pub fn roots(&self) -> (Vec<Tree>, Tally) {
        let (mut trees, _, total) = self.finish(None);
        trees.retain(|tree| tree.tally.files + tree.tally.unknown > 0);
        (trees, total)
    }

    /// Directories that hold at least so much without those below them that do, the most first: no byte is on two lines.
    pub fn heavy(&self, least: Bytes, rows: usize) -> Vec<Tree> {
        let nodes = lock(&self.0);
        let is_heavy = |sum: &Tally| sum.resident >= least && sum.resident > Bytes::ZERO;
        let sums = rolled_up(&nodes, is_heavy);
        let mut heavy: Vec<usize> = (0..nodes.len()).filter(|index| is_heavy(&sums[*index])).collect();
        ramline_units::sort_by_key(&mut heavy, |index| std::cmp::Reverse(sums[*index].resident));
        heavy.truncate(rows);
        heavy.into_iter().map(|index| tree(&nodes, index, sums[index])).collect()
    }

    /// What was named, in that order; directories down to a depth, the most resident first; and the sum of all.
    pub fn finish(&self, depth: Option<u32>) -> (Vec<Tree>, Vec<Tree>, Tally) {
        let nodes = lock(&self.0);
        let sums = rolled_up(&nodes, |_| false);
        let (mut named, mut directories, mut total) = (Vec::new(), Vec::new(), Tally::default());
        for (index, node) in nodes.iter().enumerate() {
            if node.parent.is_none() {
                total.add(&sums[index]);
                named.push(tree(&nodes, index, sums[index]));
            }
            if depth.is_some_and(|depth| node.depth <= depth) {
                directories.push(tree(&nodes, index, sums[index]));
            }
        }
        ramline_units::sort_by(&mut directories, |a, b| {
            b.tally.resident.cmp(&a.tally.resident).then_with(|| a.name.cmp(&b.name))
        });
        (named, directories, total)
    }
}

/// Each directory's sum with those below it, but for what is on a line of its own.
fn rolled_up(nodes: &[Node], apart: impl Fn(&Tally) -> bool) -> Vec<Tally> {
    let mut sums: Vec<Tally> = nodes.iter().map(|node| node.tally).collect();
    // A parent's number is smaller than its children's.
    for index in (0..nodes.len()).rev() {
        let sum = sums[index];
        if let Some(parent) = nodes[index].parent.filter(|_| !apart(&sum)) {
            sums[at(parent)].add(&sum);
        }
    }
    sums
}

fn tree(nodes: &[Node], index: usize, tally: Tally) -> Tree {
    Tree { name: name(&path(nodes, index)), depth: nodes[index].depth, tally }
}

fn path(nodes: &[Node], index: usize) -> PathBuf {
    let mut parts = Vec::new();
    let mut next = nodes.get(index);
    while let Some(node) = next {
        parts.push(node.name.as_os_str());
        next = node.parent.and_then(|parent| nodes.get(at(parent)));
    }
    parts.iter().rev().collect()
}
