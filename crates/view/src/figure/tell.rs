//! What a number says: its words, unit, scope and value here, from the tables where they have them, else from its description.

use super::find::FoundNumber;
use super::leaves::{Leaf, NumberKind};
use super::named::Named;
use super::{Figure, FigureScope, ValueHere, rows, value};
use crate::document::SCHEMA_VERSION;
use crate::prelude::*;

impl FoundNumber {
    /// The sections its value needs.
    #[must_use]
    pub fn wants(&self) -> Wanted {
        self.document.now.map_or(Wanted::NOTHING, |(_, wanted)| wanted)
    }

    /// What it says, with its value on this machine.
    #[must_use]
    pub fn figure(&self, snapshot: &Snapshot, window: Option<&Window<'_>>) -> Figure {
        let (document, at) = (self.document, self.leaf.path.as_str());
        let get = |pick: fn(&rows::Row) -> &'static str| {
            rows::entry(document.name, at, |row| Some(pick(row)).filter(|text| !text.is_empty()))
        };
        let scope = self.named.as_ref().map_or_else(|| scope_of(document.name, &self.leaf), |n| n.scope);
        let unit = self.named.as_ref().map_or_else(|| unit_of(document.name, &self.leaf, scope), |n| n.unit.to_owned());
        let made = document.now.map(|(make, _)| make(snapshot, window));
        let show = |raw: f64| value::print(self.leaf.kind, &unit, raw);
        let (here, all) = made.as_ref().map_or((Vec::new(), 0), |made| value::values(made, &self.path, show));
        let own = |pick: fn(&Named) -> &str| self.named.as_ref().map(pick).filter(|t| !t.is_empty());
        let topic = own(|n| n.topic).or_else(|| get(|r| r.topic)).unwrap_or("used").to_owned();
        Figure {
            schema_version: SCHEMA_VERSION,
            name: self.name.clone(),
            document: document.name.to_owned(),
            path: self.path.clone(),
            command: document.command.to_owned(),
            what: own(|n| &n.what).map_or_else(|| words(&self.leaf), str::to_owned),
            part_of: self.leaf.part_of.as_deref().filter(|_| self.named.is_none()).map(told),
            source: own(|n| &n.source).or_else(|| get(|r| r.source)).unwrap_or_default().to_owned(),
            not_here: self.not_here(&here, all, scope, window.is_some()),
            large_when: own(|n| n.large).or_else(|| get(|r| r.large)).map(str::to_owned),
            next_command: format!("ramline explain {topic}"),
            unit,
            scope,
            here,
            topic,
            also: self.also.clone(),
        }
    }

    fn not_here(&self, here: &[ValueHere], all: usize, scope: FigureScope, window: bool) -> Option<String> {
        if all > here.len() {
            let command = self.document.command;
            return Some(format!("The first {} of {all}; all of them: {command} --json", here.len()));
        }
        if !here.is_empty() {
            return None;
        }
        Some(match (self.document.now, scope) {
            (None, _) => format!("Not known from a look; it stands in the output of: {} --json", self.document.command),
            (Some(_), FigureScope::Rate | FigureScope::Change) if !window => {
                "It needs two readings: --for 2s.".to_owned()
            }
            (Some(_), _) => "There is none here, or it could not be seen.".to_owned(),
        })
    }
}

/// What a number says: a sentence, with the kernel's own name spelled out where that is all there is.
fn words(leaf: &Leaf) -> String {
    let what = leaf.what.trim();
    match what.strip_prefix('`').and_then(|w| w.strip_suffix('`')) {
        Some(key) if !key.contains('`') => format!("The kernel's {key}."),
        _ => told(what),
    }
}

/// Words of the program's source, where the descriptions are from, and what stands for them on a screen (docs/glossary.md).
const SAID: &[(&str, &str)] = &[
    ("`None`", "absent"),
    ("Gauge", "Now"),
    ("Gauges", "Now"),
    ("gauge", "as of now"),
    ("gauges", "as of now"),
    ("an arm", "a setting"),
    ("An arm", "A setting"),
    ("arm", "setting"),
    ("arms", "settings"),
    ("Arms", "Settings"),
    ("can be had", "is available"),
    ("gives way", "is reclaimed"),
    ("nobody else", "no other process"),
    ("nobody", "no process"),
    ("somebody", "some process"),
    ("whoever started", "whatever started"),
    ("whoever", "the program that"),
    ("may be claimed", "is significant"),
    ("foretold", "predicted"),
    ("comes back", "is read again"),
    ("come back", "are read again"),
    ("came back", "were read again"),
];

/// A description as a reader has it.
fn told(text: &str) -> String {
    let mut out = text.to_owned();
    for (word, said) in SAID {
        let mut rest = std::mem::take(&mut out);
        while let Some((before, after)) = rest.split_once(word) {
            let whole = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
            out.push_str(before);
            out.push_str(if whole { said } else { word });
            rest = after.to_owned();
        }
        out.push_str(&rest);
    }
    out
}

/// From the table, or from the words of the description.
fn scope_of(document: &str, leaf: &Leaf) -> FigureScope {
    if let Some(scope) = rows::entry(document, &leaf.path, |row| row.scope) {
        return scope;
    }
    let text = leaf.what.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if leaf.path.contains("per_s") || has(&["a second", "over the window", "in the window"]) {
        FigureScope::Rate
    } else if has(&["counter.", "since boot"]) {
        FigureScope::Counter
    } else if has(&["peak", "highest"]) {
        FigureScope::Peak
    } else if has(&["setting", "`vm."]) {
        FigureScope::Setting
    } else {
        FigureScope::Gauge
    }
}

/// From the table, the type, the name or the words of the description.
fn unit_of(document: &str, leaf: &Leaf, scope: FigureScope) -> String {
    let last = leaf.path.rsplit('.').next().unwrap_or_default();
    let text = leaf.what.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let rate =
        if scope == FigureScope::Rate && (last.contains("per_s") || has(&["a second"])) { " a second" } else { "" };
    match leaf.kind {
        NumberKind::Bytes | NumberKind::SignedBytes => return format!("bytes{rate}"),
        NumberKind::Pages => return format!("pages{rate}"),
        NumberKind::Nanos => return "nanoseconds".to_owned(),
        NumberKind::Ratio => return "times: original over compressed".to_owned(),
        NumberKind::Number => {}
    }
    if let Some(unit) = rows::entry(document, &leaf.path, |row| Some(row.unit).filter(|unit| !unit.is_empty())) {
        return unit.to_owned();
    }
    let by_name = [
        (last.ends_with("_ns"), "nanoseconds"),
        (last.ends_with("_us") || has(&["microseconds"]), "microseconds"),
        (last.ends_with("_ms"), "milliseconds"),
        (last.contains("percent") || has(&["percent", "per cent"]), "percent"),
        (last.contains("share") || has(&["share of", "share in"]), "share of 1"),
        (last.ends_with("_s") || has(&["seconds"]), "seconds"),
        (last.contains("minutes"), "minutes"),
        (last.contains("bytes"), "bytes"),
        (last.contains("pages") || has(&["pages"]), "pages"),
        (last.contains("fault"), "faults"),
        (last == "pid" || last == "node" || last == "uid", "number"),
        (has(&["ratio"]), "ratio"),
    ];
    let unit = by_name.iter().find(|(is, _)| *is).map_or("number", |(_, unit)| unit);
    format!("{unit}{rate}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_source_do_not_reach_a_screen() {
        for (text, said) in [
            ("What it holds. Gauge.", "What it holds. Now."),
            ("Gauges, each page once; `None` in an arm without.", "Now, each page once; absent in a setting without."),
            ("Pages nobody uses; some ARM kernels alarm.", "Pages no process uses; some ARM kernels alarm."),
        ] {
            assert_eq!(told(text), said);
        }
    }
}
