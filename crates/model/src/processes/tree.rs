//! The tree of processes: each with all that it has started. Children of one parent with one name are one row.

use super::by;
use super::row::Row;
use super::rows::{Parts, Sum};
use crate::prelude::*;

/// Rows in the order of the tree, larger subtrees first.
pub fn rows(parts: &Parts<'_>) -> Vec<Row> {
    let list = &parts.all.list;
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut tops = Vec::new();
    for (at, p) in list.iter().enumerate().filter(|(_, p)| !p.kernel_thread) {
        // A parent that is not listed, or that claims to be its own, makes a top.
        match list.binary_search_by_key(&p.parent, |q| q.pid) {
            Ok(parent) if parent != at => children.entry(parent).or_default().push(at),
            _ => tops.push(at),
        }
    }
    if !parts.filter.is_empty() {
        tops = (0..list.len()).filter(|at| parts.takes(&list[*at]) && !is_below(parts, *at)).collect();
    }
    let mut out = Vec::new();
    level(parts, &children, &tops, 0, &mut out);
    out
}

/// It was started by one that is asked for, and so stands below that.
fn is_below(parts: &Parts<'_>, at: usize) -> bool {
    let list = &parts.all.list;
    let mut parent = list[at].parent;
    for _ in 0..DEEPEST {
        match list.binary_search_by_key(&parent, |p| p.pid) {
            Ok(up) if up != at && parts.takes(&list[up]) => return true,
            Ok(up) if up != at => parent = list[up].parent,
            _ => return false,
        }
    }
    false
}

/// Deeper trees are cut: their memory is in the row they are cut at. A captured tree may hold any chain, even a ring.
const DEEPEST: u64 = 64;

fn level(parts: &Parts<'_>, children: &HashMap<usize, Vec<usize>>, here: &[usize], depth: u64, out: &mut Vec<Row>) {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in here {
        by_name.entry(parts.all.list[*at].name.as_str()).or_default().push(*at);
    }
    let mut nodes: Vec<(Row, Vec<usize>)> = by_name
        .into_values()
        .map(|members| {
            let mut sum = Sum::default();
            let mut stack = members.clone();
            while let Some(at) = stack.pop() {
                sum.add(parts, at);
                stack.extend(children.get(&at).into_iter().flatten());
            }
            let first = &parts.all.list[members[0]];
            let name = by::name(parts.all, first, by::By::Tree).into_owned();
            let pid = (members.len() == 1).then_some(first.pid);
            (Row { name, pid, depth, ..sum.finish(parts) }, members)
        })
        .filter(|(row, _)| row.processes > 0)
        .collect();
    ramline_units::sort_by(&mut nodes, |(a, _), (b, _)| {
        b.holds.value.cmp(&a.holds.value).then_with(|| a.name.cmp(&b.name))
    });
    for (row, members) in nodes {
        out.push(row);
        let below: Vec<usize> = members.iter().filter_map(|at| children.get(at)).flatten().copied().collect();
        if !below.is_empty() && depth < DEEPEST {
            level(parts, children, &below, depth + 1, out);
        }
    }
}
