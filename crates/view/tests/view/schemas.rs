//! The schema file is that of the types. After a deliberate change: `RAMLINE_BLESS=1 cargo test -p ramline-view`, and build again.

#![expect(clippy::disallowed_methods, reason = "what the tests hold the crate against are files")]

use std::path::Path;
use std::{env, fs};

use ramline_view::{figure, schema};
use serde_json::Value;

/// Arrays and objects up to this width stand on one line, so that a field of a document is a line of a diff.
const WIDTH: usize = 140;

fn pretty(value: &Value, indent: usize) -> String {
    let whole = value.to_string();
    let (open, close, parts): (_, _, Vec<String>) = match value {
        _ if whole.chars().count() + indent <= WIDTH => return whole,
        Value::Array(items) => ('[', ']', items.iter().map(|item| pretty(item, indent + 1)).collect()),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), pretty(value, indent + 1))
            };
            ('{', '}', fields.iter().map(field).collect())
        }
        _ => return whole,
    };
    let (end, pad) = ("\n".to_owned() + &" ".repeat(indent), " ".repeat(indent + 1));
    let parts: Vec<String> = parts.into_iter().map(|part| format!("\n{pad}{part}")).collect();
    format!("{open}{}{end}{close}", parts.join(","))
}

#[test]
fn the_schema_file_is_that_of_the_types() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    let (file, made) = (dir.join("ramline.schema.json"), pretty(&figure::schemas(), 0) + "\n");
    if env::var_os("RAMLINE_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let hint = "schema/ramline.schema.json is not what the types say; try: RAMLINE_BLESS=1 cargo test -p ramline-view";
    assert!(fs::read_to_string(&file).unwrap() == made, "{hint}");
    assert_eq!(fs::read_dir(dir).unwrap().count(), 1, "one file holds all documents");
}

#[test]
fn every_document_names_its_fields_with_their_meaning_and_stands_by_itself() {
    assert!(schema::names().count() > 30);
    for name in schema::names() {
        let value = schema::document(name).unwrap();
        let properties = value["properties"].as_object().unwrap_or_else(|| panic!("{name} has no fields"));
        for (field, schema) in properties {
            let described = schema.get("description").is_some() || schema.get("$ref").is_some();
            assert!(described, "{name}.{field} has no description");
        }
        for target in value.to_string().split("\"$ref\":\"#/$defs/").skip(1) {
            let target = target.split('"').next().unwrap();
            assert!(value["$defs"].get(target).is_some(), "{name} refers to {target}, which it does not hold");
        }
    }
    assert_eq!(schema::document("nothing"), None);
}
