//! The numbers of a document: the numeric leaves of its schema, with their paths and descriptions.
//!
//! Worked example: `ledger` is described as "Every byte of MemTotal" and its `leftover` as "`total` less all lines": the
//! leaf `ledger.leftover` says the second and is part of the first.

use serde_json::{Map, Value};

/// What a number is made of, by its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// `Bytes`, `PageSize`.
    Bytes,
    /// `SignedBytes`.
    SignedBytes,
    /// `Pages`.
    Pages,
    /// `Nanos`.
    Nanos,
    /// `Ratio`.
    Ratio,
    /// A plain number.
    Number,
}

impl NumberKind {
    fn from_type(type_name: &str) -> Option<NumberKind> {
        match type_name {
            "Bytes" | "PageSize" => Some(NumberKind::Bytes),
            "SignedBytes" => Some(NumberKind::SignedBytes),
            "Pages" => Some(NumberKind::Pages),
            "Nanos" => Some(NumberKind::Nanos),
            "Ratio" => Some(NumberKind::Ratio),
            _ => None,
        }
    }
}

/// A number of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its path, `[]` for every element of a list and `*` for every key of a table: `ledger.lines[].bytes`.
    pub path: String,
    /// What it says; empty where the schema does not tell.
    pub what: String,
    /// What the thing says that it is a part of.
    pub part_of: Option<String>,
    /// Its type.
    pub kind: NumberKind,
}

struct Walk<'a> {
    definitions: Option<&'a Map<String, Value>>,
    out: Vec<Leaf>,
}

/// Where a walk is.
#[derive(Clone)]
struct At<'a> {
    path: String,
    what: &'a str,
    part_of: Option<&'a str>,
    kind: Option<NumberKind>,
    /// Definitions on the way: one that holds itself is followed once.
    inside: Vec<&'a str>,
}

/// Every number of a schema, in the order of its fields; a path that several variants share is listed once.
#[must_use]
pub fn leaves(schema: &Value) -> Vec<Leaf> {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut walk = Walk { definitions, out: Vec::new() };
    walk.value(schema, &At { path: String::new(), what: "", part_of: None, kind: None, inside: Vec::new() });
    let mut seen = std::collections::BTreeSet::new();
    walk.out.retain(|leaf| seen.insert(leaf.path.clone()));
    walk.out
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Value, at: &At<'a>) {
        let own = schema.get("description").and_then(Value::as_str);
        if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next()) {
            let Some(target) = self.definitions.and_then(|d| d.get(name)).filter(|_| !at.inside.contains(&name)) else {
                return;
            };
            let mut next = at.clone();
            next.inside.push(name);
            next.kind = NumberKind::from_type(name).or(at.kind);
            self.value(target, &next);
            return;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for variant in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                let mut next = at.clone();
                // A variant's own words say more than those of the choice.
                if let Some(words) = variant.get("description").and_then(Value::as_str) {
                    (next.what, next.part_of) = (words, Some(at.what).filter(|w| !w.is_empty()));
                }
                self.value(variant, &next);
            }
        }
        for (key, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let words = field.get("description").and_then(Value::as_str);
            let path = if at.path.is_empty() { key.clone() } else { format!("{}.{key}", at.path) };
            let whole = Some(at.what).filter(|w| !w.is_empty());
            let next = match words {
                Some(words) => At { path, what: words, part_of: whole, kind: None, inside: at.inside.clone() },
                None => At { path, kind: None, ..at.clone() },
            };
            self.value(field, &next);
        }
        if let Some(items) = schema.get("items") {
            self.value(items, &At { path: format!("{}[]", at.path), ..at.clone() });
        }
        for (index, item) in schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate() {
            self.value(item, &At { path: format!("{}[{index}]", at.path), ..at.clone() });
        }
        if let Some(values) = schema.get("additionalProperties").filter(|v| v.is_object()) {
            self.value(values, &At { path: format!("{}.*", at.path), ..at.clone() });
        }
        if is_number(schema) {
            let what = if at.what.is_empty() { own.unwrap_or_default() } else { at.what };
            self.out.push(Leaf {
                path: at.path.clone(),
                what: what.replace('\n', " "),
                part_of: at.part_of.map(|w| w.replace('\n', " ")),
                kind: at.kind.unwrap_or(NumberKind::Number),
            });
        }
    }
}

fn is_number(schema: &Value) -> bool {
    let number = |v: &Value| matches!(v.as_str(), Some("integer" | "number"));
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(number),
        Some(one) => number(one),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_has_its_own_words_and_those_of_what_it_is_part_of() {
        let schema = serde_json::json!({
            "properties": {
                "ledger": { "$ref": "#/$defs/Ledger", "description": "Every byte." },
                "names": { "items": { "type": "string" }, "type": "array" }
            },
            "$defs": {
                "Bytes": { "type": "integer", "description": "A number of bytes." },
                "Ledger": { "description": "A ledger.", "properties": {
                    "lines": { "description": "The lines.", "type": "array", "items": { "$ref": "#/$defs/Line" } }
                } },
                "Line": { "properties": {
                    "bytes": { "$ref": "#/$defs/Bytes", "description": "How much." },
                    "children": { "type": "array", "items": { "$ref": "#/$defs/Line" } }
                } }
            }
        });
        let found = leaves(&schema);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "ledger.lines[].bytes");
        assert_eq!((found[0].what.as_str(), found[0].part_of.as_deref()), ("How much.", Some("The lines.")));
        assert_eq!(found[0].kind, NumberKind::Bytes);
    }

    #[test]
    fn a_value_that_may_be_missing_and_one_of_several_forms_are_leaves() {
        let schema = serde_json::json!({ "properties": {
            "share": { "type": ["number", "null"], "description": "Share." },
            "size": { "description": "Its size.", "anyOf": [
                { "type": "string" },
                { "properties": { "at": { "type": "integer" } }, "description": "Limited." }
            ] }
        } });
        let found = leaves(&schema);
        assert_eq!(found.iter().map(|l| l.path.as_str()).collect::<Vec<_>>(), ["share", "size.at"]);
        assert_eq!(found[1].what, "Limited.");
    }
}
