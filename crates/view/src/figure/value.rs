//! The value of a number in a document: which elements a path selects, and how they print.

use serde_json::Value;

use super::ValueHere;
use super::leaves::NumberKind;
use crate::prelude::*;
use ramline_sheet::text::number;

/// More values than this are counted, not listed.
const LISTED: usize = 12;

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field.
    Key(String),
    /// Every element of a list, or every value of a table.
    Each,
    /// The element at a place, from 0.
    At(usize),
    /// The element of this name.
    Named(String),
}

/// `ledger.lines[page_tables].bytes` as steps.
#[must_use]
pub fn steps(path: &str) -> Vec<Step> {
    let mut out = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        // A name in brackets may hold dots: `fields[mm_stat.huge_pages]`.
        if let Some((inner, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            out.push(match (inner, inner.parse()) {
                ("", _) => Step::Each,
                (_, Ok(index)) => Step::At(index),
                (name, Err(_)) => Step::Named(name.to_owned()),
            });
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.find(['.', '[']).filter(|end| *end > 0).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        match key.trim_matches('.') {
            "" => {}
            "*" => out.push(Step::Each),
            key => out.push(Step::Key(key.to_owned())),
        }
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    out
}

/// The values a path selects, with the names of the elements on the way, as far as they are listed; and how many there are in all.
#[must_use]
pub fn values(document: &Value, path: &str, print: impl Fn(f64) -> String) -> (Vec<ValueHere>, usize) {
    let mut found = Vec::new();
    select(document, &steps(path), "", &mut found);
    let all = found.len();
    found.truncate(LISTED);
    let here = |(of, raw): (String, f64)| ValueHere { of, value: print(raw), raw };
    (found.into_iter().map(here).collect(), all)
}

fn select(value: &Value, steps: &[Step], of: &str, out: &mut Vec<(String, f64)>) {
    let Some((step, rest)) = steps.split_first() else {
        if let Some(raw) = value.as_f64() {
            out.push((of.to_owned(), raw));
        }
        return;
    };
    let join = |name: &str| if of.is_empty() { name.to_owned() } else { format!("{of}, {name}") };
    match (step, value) {
        (Step::Key(key), Value::Object(fields)) => {
            if let Some(next) = fields.get(key) {
                select(next, rest, of, out);
            }
        }
        (Step::Each, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                select(item, rest, &join(&name(item).unwrap_or_else(|| index.to_string())), out);
            }
        }
        (Step::Each, Value::Object(fields)) => {
            for (key, item) in fields {
                select(item, rest, &join(key), out);
            }
        }
        (Step::At(index), Value::Array(items)) => {
            if let Some(item) = items.get(*index) {
                select(item, rest, &join(&name(item).unwrap_or_else(|| index.to_string())), out);
            }
        }
        (Step::Named(wanted), Value::Array(items)) => {
            for item in items {
                if is_named(item, wanted) {
                    select(item, rest, of, out);
                }
                if let Some(children) = item.get("children") {
                    select(children, steps, of, out);
                }
            }
        }
        (Step::Named(wanted), Value::Object(fields)) => {
            if let Some(item) = fields.get(wanted) {
                select(item, rest, of, out);
            }
        }
        _ => {}
    }
}

/// Fields that say which element of a list this is, the best first.
const NAMES: [&str; 10] = ["label", "path", "at", "name", "model", "tier", "order", "node", "id", "pid"];

fn name(item: &Value) -> Option<String> {
    NAMES.iter().find_map(|key| match item.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(format!("{key} {n}")),
        _ => None,
    })
}

fn is_named(item: &Value, wanted: &str) -> bool {
    NAMES.iter().any(|key| item.get(key).and_then(Value::as_str) == Some(wanted))
}

/// A number with its unit.
#[must_use]
pub fn print(kind: NumberKind, unit: &str, raw: f64) -> String {
    let whole = |raw: f64| number::bytes(raw.abs());
    let sign = if raw < 0.0 { "-" } else { "" };
    let per_second = if unit.ends_with("a second") { "/s" } else { "" };
    match kind {
        NumberKind::Bytes | NumberKind::SignedBytes => format!("{sign}{}{per_second}", whole(raw)),
        NumberKind::Nanos => Nanos(whole(raw).0).to_string(),
        _ if unit.starts_with("bytes") => format!("{sign}{}{per_second}", whole(raw)),
        _ if unit.starts_with("share") => number::percent(raw),
        _ if unit == "percent" => format!("{raw:.2} %"),
        _ if unit == "nanoseconds" => Nanos(whole(raw).0).to_string(),
        _ if unit == "microseconds" => Nanos(whole(raw * 1000.0).0).to_string(),
        _ if raw.fract() == 0.0 => format!("{sign}{} {unit}", number::count(whole(raw).0)),
        _ => format!("{raw:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_selects_one_element_by_name_or_all_with_their_names() {
        let document = serde_json::json!({ "lines": [
            { "id": "anon", "label": "process memory", "bytes": 4096, "children": [{ "id": "swap_cache", "bytes": 7 }] },
            { "id": "free", "label": "free", "bytes": 8192 }
        ] });
        let show = |raw: f64| format!("{raw}");
        let of = |path: &str| values(&document, path, show).0.into_iter().map(|h| (h.of, h.value)).collect::<Vec<_>>();
        assert_eq!(of("lines[free].bytes"), [(String::new(), "8192".to_owned())]);
        assert_eq!(
            of("lines[swap_cache].bytes"),
            [(String::new(), "7".to_owned())],
            "a part of a line has a name, too"
        );
        assert_eq!(of("lines[].bytes")[0], ("process memory".to_owned(), "4096".to_owned()));
        assert_eq!(of("lines[1].bytes"), [("free".to_owned(), "8192".to_owned())]);
        assert!(of("lines[9].bytes").is_empty() && of("nothing.here").is_empty());
    }

    #[test]
    fn a_path_is_cut_at_dots_outside_of_brackets_and_any_text_comes_to_an_end() {
        let named = |name: &str| Step::Named(name.into());
        let key = |name: &str| Step::Key(name.into());
        assert_eq!(steps("a[x.y].b"), [key("a"), named("x.y"), key("b")]);
        assert_eq!(steps("a[0][].*"), [key("a"), Step::At(0), Step::Each, Step::Each]);
        for hostile in ["", ".", "..", "[", "]", "[[", "a[", "a[b", ".[.].", "[]]", "a..b", "\u{1b}[2J"] {
            assert!(steps(hostile).len() <= hostile.len(), "{hostile}");
        }
    }

    #[test]
    fn a_number_prints_with_its_unit() {
        assert_eq!(print(NumberKind::Bytes, "bytes", 1_572_864.0), "1.5 MiB");
        assert_eq!(print(NumberKind::SignedBytes, "bytes", -1024.0), "-1.0 KiB");
        assert_eq!(print(NumberKind::Bytes, "bytes a second", 2048.0), "2.0 KiB/s");
        assert_eq!(print(NumberKind::Number, "share of 1", 0.25), "25.0 %");
        assert_eq!(print(NumberKind::Number, "events", 1234.0), "1,234 events");
        assert_eq!(print(NumberKind::Number, "microseconds", 1500.0), "1.50 ms");
    }
}
