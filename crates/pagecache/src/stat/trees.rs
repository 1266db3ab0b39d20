//! Sums by directory, rolled up to what was named.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ramline_snapshot::cache::{Tally, Tree};
use ramline_units::Bytes;

use crate::remarks::name;
use crate::walk::Place;

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
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = nodes.get_mut(at(place.index)) {
            node.tally.add(tally);
        }
    }

    /// What was named, with everything below as far as it was seen, and the sum of all. What has no files is left out.
    pub fn roots(&self) -> (Vec<Tree>, Tally) {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: Vec<Tally> = nodes.iter().map(|node| node.tally).collect();
        for index in (0..nodes.len()).rev() {
            if let Some(parent) = nodes[index].parent {
                let sum = sums[index];
                sums[at(parent)].add(&sum);
            }
        }
        let roots = nodes.iter().zip(&sums).enumerate().filter(|(_, (node, _))| node.parent.is_none());
        let trees = roots.map(|(index, (_, tally))| Tree { name: name(&path(&nodes, index)), depth: 0, tally: *tally });
        let trees: Vec<Tree> = trees.filter(|tree| tree.tally.files + tree.tally.unknown > 0).collect();
        let mut total = Tally::default();
        trees.iter().for_each(|tree| total.add(&tree.tally));
        (trees, total)
    }

    /// Directories that hold at least so much without those below them that do, the most first: no byte is on two lines.
    pub fn heavy(&self, least: Bytes, rows: usize) -> Vec<Tree> {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sums: Vec<Tally> = nodes.iter().map(|node| node.tally).collect();
        let mut heavy = Vec::new();
        for index in (0..nodes.len()).rev() {
            let (sum, node) = (sums[index], &nodes[index]);
            if sum.resident >= least && sum.resident > Bytes::ZERO {
                heavy.push((index, sum));
            } else if let Some(parent) = node.parent {
                sums[at(parent)].add(&sum);
            }
        }
        heavy.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.resident));
        heavy.truncate(rows);
        let tree = |(index, tally): (usize, Tally)| Tree {
            name: name(&path(&nodes, index)),
            depth: nodes[index].depth,
            tally,
        };
        heavy.into_iter().map(tree).collect()
    }

    /// What was named, in that order; directories down to a depth, the most resident first; and the sum of all.
    pub fn finish(self, depth: Option<u32>) -> (Vec<Tree>, Vec<Tree>, Tally) {
        let mut nodes = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A parent's number is smaller than its children's.
        for index in (0..nodes.len()).rev() {
            let (tally, parent) = (nodes[index].tally, nodes[index].parent);
            if let Some(parent) = parent.and_then(|parent| nodes.get_mut(at(parent))) {
                parent.tally.add(&tally);
            }
        }
        let (mut named, mut directories, mut total) = (Vec::new(), Vec::new(), Tally::default());
        for (index, node) in nodes.iter().enumerate() {
            let tree = || Tree { name: name(&path(&nodes, index)), depth: node.depth, tally: node.tally };
            if node.parent.is_none() {
                total.add(&node.tally);
                named.push(tree());
            }
            if depth.is_some_and(|depth| node.depth <= depth) {
                directories.push(tree());
            }
        }
        directories.sort_by(|a, b| b.tally.resident.cmp(&a.tally.resident).then_with(|| a.name.cmp(&b.name)));
        (named, directories, total)
    }
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
