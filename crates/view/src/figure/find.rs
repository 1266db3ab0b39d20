//! Finding a number by its name on a screen, by its path in the JSON, or by the kernel's own name.
//!
//! Names are compared without case, plural and punctuation. A path may leave out its beginning, take an element of a list
//! by place or by name, and leave out the last `bytes`. A name that several numbers have means the first document's;
//! the others are listed beside it.

use ramline_advice::{closest_topics, slip};

use super::documents::{Document, numbers};
use super::leaves::Leaf;
use super::named::{self, Named};
use super::rows::ROWS;
use super::value::{Step, steps};

/// A longer name is no name.
const LONGEST: usize = 200;
/// Numbers of the same name that are listed.
const ALSO: usize = 4;

/// A number that was found by its name.
#[derive(Debug, Clone)]
pub struct FoundNumber {
    pub(super) document: &'static Document,
    pub(super) leaf: Leaf,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) named: Option<Named>,
    pub(super) also: Vec<String>,
}

/// There is no such number, and no such topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot explain '{}': no topic and no number of a screen or report has this name{}\ntry: {}ramline explain --list", name.escape_debug(), list(closest), shell(name, closest))]
pub struct UnknownName {
    /// As asked.
    pub name: String,
    /// Names like it, the closest first.
    pub closest: Vec<String>,
}

fn list(closest: &[String]) -> String {
    if closest.is_empty() { String::new() } else { format!("; closest: {}", closest.join(", ")) }
}

fn shell(name: &str, closest: &[String]) -> String {
    // `00:46`: what happened then is what is asked.
    if ramline_units::is_time_of_day(name) {
        return format!("ramline explain kill --at {name}, or ");
    }
    closest.first().map_or_else(String::new, |first| {
        if first.contains(' ') {
            format!("ramline explain '{first}', or ")
        } else {
            format!("ramline explain {first}, or ")
        }
    })
}

/// Finds a number.
///
/// # Errors
/// Nothing has this name: the error names what is closest, topics included.
pub fn find(name: &str) -> Result<FoundNumber, UnknownName> {
    let short: String = name.chars().take(LONGEST).collect();
    let mut found = by_label(&short);
    if found.is_empty() {
        found = by_path(&short);
    }
    if found.is_empty() {
        found = by_key(&short);
    }
    let mut others = found.into_iter();
    let Some(mut first) = others.next() else {
        return Err(UnknownName { closest: closest(&short), name: short.chars().take(60).collect() });
    };
    first.also = others.map(|f| format!("{}: {}", f.document.name, f.path)).take(ALSO).collect();
    Ok(first)
}

/// Every number of every document.
#[must_use]
pub fn all() -> Vec<FoundNumber> {
    numbers().iter().flat_map(|(d, all)| all.iter().map(|leaf| plain_found(d, leaf.clone()))).collect()
}

fn document(name: &str) -> Option<&'static (&'static Document, Vec<Leaf>)> {
    numbers().iter().find(|(d, _)| d.name == name)
}

/// Without case, punctuation and plural: `Page-Tables (now)` and `page_table` are one.
fn plain(name: &str) -> String {
    let name = name.trim().trim_start_matches("- ");
    let name = name.split_once(" (").map_or(name, |(before, _)| before).to_lowercase();
    let words = name.split(|c: char| !(c.is_alphanumeric() || "./+".contains(c))).filter(|w| !w.is_empty());
    let singular = |w: &str| {
        if w.len() > 3 && !w.ends_with("ss") { w.strip_suffix('s').unwrap_or(w).to_owned() } else { w.to_owned() }
    };
    words.map(singular).collect::<Vec<_>>().join(" ")
}

/// The same written in one word: `pagetables`.
fn squash(name: &str) -> String {
    let mut word = plain(name).replace(' ', "");
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    word
}

fn by_label(name: &str) -> Vec<FoundNumber> {
    let wanted = plain(name);
    if wanted.is_empty() {
        return Vec::new();
    }
    let is = |label: &str| plain(label) == wanted || squash(label) == squash(name);
    let mut out: Vec<FoundNumber> =
        named::all().into_iter().filter(|n| n.labels.iter().any(|label| is(label))).filter_map(from_named).collect();
    for row in ROWS.iter().filter(|row| row.labels.iter().any(|label| is(label))) {
        let (of, at) = row.at.split_once(':').map_or((None, row.at), |(of, at)| (Some(of), at));
        let documents = numbers().iter().filter(|(d, _)| of.is_none_or(|of| of == d.name));
        let first = documents.filter_map(|(d, all)| leaf_at(all, at).map(|leaf| (*d, leaf))).next();
        let label = row.labels.iter().find(|label| is(label)).copied().unwrap_or_default();
        out.extend(first.map(|(d, leaf)| FoundNumber {
            name: label.to_owned(),
            path: leaf.path.clone(),
            ..plain_found(d, leaf)
        }));
    }
    out
}

/// The number at a row's path, or the first below it.
fn leaf_at(all: &[Leaf], at: &str) -> Option<Leaf> {
    let below = |path: &str| path.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    all.iter().find(|leaf| below(&leaf.path)).cloned()
}

fn plain_found(document: &'static Document, leaf: Leaf) -> FoundNumber {
    let name = leaf.path.rsplit('.').next().unwrap_or_default().trim_end_matches("[]").to_owned();
    FoundNumber { document, path: leaf.path.clone(), leaf, name, named: None, also: Vec::new() }
}

fn from_named(named: Named) -> Option<FoundNumber> {
    let (of, all) = document(named.document)?;
    let generic = |path: &str| -> String {
        let parts = steps(path).into_iter().map(|step| match step {
            Step::Key(key) => format!(".{key}"),
            _ => "[]".to_owned(),
        });
        parts.collect::<String>().trim_start_matches('.').to_owned()
    };
    let at = generic(&named.path);
    let leaf = all.iter().find(|leaf| leaf.path == at)?.clone();
    let name = named.labels.first().cloned().unwrap_or_default();
    Some(FoundNumber { document: of, path: named.path.clone(), leaf, name, named: Some(named), also: Vec::new() })
}

fn by_path(name: &str) -> Vec<FoundNumber> {
    let asked = steps(name.trim().trim_start_matches("show-"));
    // A path begins with a name.
    if !matches!(asked.first(), Some(Step::Key(_))) {
        return Vec::new();
    }
    let mut out: Vec<FoundNumber> = Vec::new();
    // A line of the ledger by its name alone, with as much of its path as was given.
    for named in named::all() {
        let whole =
            document(named.document).map(|(d, _)| steps(&format!("{}.{}", d.short, named.path))).unwrap_or_default();
        if asked.iter().any(|step| text(step) == Some(&named.element)) && is_within(&asked, &whole) {
            out.extend(from_named(named));
        }
    }
    if !out.is_empty() {
        return out;
    }
    // A part of a line of the ledger is such a line itself, and its schema stands there once.
    let parts = asked.iter().any(|step| *step == Step::Key("children".to_owned()));
    if parts {
        return by_part(&asked);
    }
    let mut ranked: Vec<(usize, FoundNumber)> = Vec::new();
    for (document, all) in numbers() {
        for leaf in all {
            let pattern = steps(&format!("{}.{}", document.short, leaf.path));
            if let Some((skipped, path)) = (0..pattern.len()).find_map(|at| Some((at, fits(&asked, &pattern[at..])?))) {
                // What was left out comes from the pattern, without the document.
                let before = join(pattern.get(1..skipped).unwrap_or_default());
                let path = if skipped == 0 {
                    path.split_once('.').map_or(path.as_str(), |(_, p)| p).to_owned()
                } else {
                    [before, path].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(".")
                };
                ranked.push((skipped, FoundNumber { path, ..plain_found(document, leaf.clone()) }));
            }
        }
    }
    ramline_units::sort_by_key(&mut ranked, |(skipped, _)| *skipped);
    ranked.into_iter().map(|(_, found)| found).collect()
}

fn by_part(asked: &[Step]) -> Vec<FoundNumber> {
    let mut whole = Vec::new();
    let mut left = asked.iter();
    while let Some(step) = left.next() {
        match step {
            Step::Key(key) if key == "children" => drop(left.next()),
            step => whole.push(step.clone()),
        }
    }
    let kept = |found: &FoundNumber, asked: &[Step]| {
        let at = asked.iter().position(|step| text(step).is_some_and(|key| found.path.starts_with(key.as_str())));
        join(asked.get(at.unwrap_or(0)..).unwrap_or_default())
    };
    let found = by_path(&join(&whole)).into_iter();
    found.map(|found| FoundNumber { path: kept(&found, asked), ..found }).collect()
}

fn text(step: &Step) -> Option<&String> {
    match step {
        Step::Key(name) | Step::Named(name) => Some(name),
        Step::Each | Step::At(_) => None,
    }
}

/// The names asked for stand in the path in this order.
fn is_within(asked: &[Step], whole: &[Step]) -> bool {
    let mut left = whole.iter();
    asked.iter().all(|step| text(step).is_some_and(|name| left.any(|s| text(s) == Some(name))))
}

/// The asked path against the whole of a pattern; a last `bytes` or `at` may be left out. The path with its elements.
fn fits(asked: &[Step], pattern: &[Step]) -> Option<String> {
    let (head, tail) = pattern.split_at_checked(asked.len())?;
    let rest = tail.iter().all(|step| matches!(step, Step::Key(key) if ["bytes", "at"].contains(&key.as_str())));
    // A name alone says nothing of the list it would be in.
    if matches!(pattern.first(), Some(Step::Each)) {
        return None;
    }
    let one = |(asked, pattern): (&Step, &Step)| match (asked, pattern) {
        (Step::Key(a), Step::Key(p)) if plain(a) == plain(p) => Some(pattern.clone()),
        (Step::Each | Step::At(_) | Step::Named(_), Step::Each) => Some(asked.clone()),
        (Step::Key(name), Step::Each) => Some(Step::Named(name.clone())),
        (Step::At(a), Step::At(p)) if a == p => Some(pattern.clone()),
        _ => None,
    };
    let steps: Option<Vec<Step>> = asked.iter().zip(head).map(one).collect();
    let mut steps = steps.filter(|_| rest)?;
    steps.extend(tail.iter().cloned());
    Some(join(&steps))
}

fn join(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.push_str(&format!(".{key}")),
            Step::Each => out.push_str("[]"),
            Step::At(index) => out.push_str(&format!("[{index}]")),
            Step::Named(name) => out.push_str(&format!("[{name}]")),
        }
    }
    out
}

/// By the kernel's own name (`pgmajfault`), then by the last part of a path.
fn by_key(name: &str) -> Vec<FoundNumber> {
    let wanted = plain(name);
    let kernel = |leaf: &Leaf| leaf.what.trim_matches('`').eq_ignore_ascii_case(name.trim());
    let found: Vec<FoundNumber> = all().into_iter().filter(|found| kernel(&found.leaf)).collect();
    if !found.is_empty() || wanted.is_empty() {
        return found;
    }
    let last = |leaf: &Leaf| leaf.path.rsplit('.').next().is_some_and(|key| plain(key) == wanted);
    all().into_iter().filter(|found| last(&found.leaf)).collect()
}

fn closest(name: &str) -> Vec<String> {
    let wanted = plain(name);
    // A path that leads to several numbers: the first of them.
    let inside = |(d, all): &(&Document, Vec<Leaf>)| -> Vec<String> {
        let path = name.trim().trim_start_matches("show-");
        let path = path.strip_prefix(d.short).and_then(|p| p.strip_prefix('.')).unwrap_or(path);
        let below = |leaf: &&Leaf| leaf.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        all.iter().filter(below).map(|leaf| leaf.path.clone()).collect()
    };
    let inner = numbers().iter().map(inside).find(|found| !found.is_empty() && !name.trim().is_empty());
    if let Some(inner) = inner {
        return inner.into_iter().take(3).collect();
    }
    let labels = named::all().into_iter().flat_map(|n| n.labels);
    let rows = ROWS.iter().flat_map(|row| row.labels).map(|label| (*label).to_owned());
    let topics: Vec<&str> = closest_topics(name);
    let near = |label: String| Some((slip(&wanted, &plain(&label))?, label));
    let mut all: Vec<(usize, String)> = labels.chain(rows).filter_map(near).collect();
    all.sort();
    all.dedup();
    // A number that is one letter off comes before a topic, what is further off after it.
    let (typos, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(far, _)| *far <= 2);
    let names = |list: Vec<(usize, String)>| list.into_iter().map(|(_, label)| label);
    let mut out: Vec<String> = Vec::new();
    for name in names(typos).chain(topics.into_iter().map(str::to_owned)).chain(names(others)) {
        // A number and a topic may have one name, or one that differs in case alone.
        if !out.iter().any(|known| plain(known) == plain(&name)) {
            out.push(name);
        }
    }
    out.truncate(3);
    out
}
