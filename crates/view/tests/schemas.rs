//! The schemas under `schema/` are those of the code. After a deliberate change: `RAMLINE_BLESS=1 cargo test -p ramline-view`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use ramline_view::schema::schemas;

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema")
}

#[test]
fn the_schema_files_say_what_the_programs_print() {
    let bless = env::var_os("RAMLINE_BLESS").is_some();
    for (name, value) in schemas() {
        let path = dir().join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
        if bless {
            fs::create_dir_all(dir()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "schema/{name}.json is not what the code says; try: RAMLINE_BLESS=1 cargo test -p ramline-view"
        );
    }
}

#[test]
fn no_schema_file_is_left_over() {
    let known: Vec<String> = schemas().iter().map(|(name, _)| format!("{name}.json")).collect();
    fs::create_dir_all(dir()).unwrap();
    for entry in fs::read_dir(dir()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".json") || known.contains(&name), "schema/{name} belongs to no document");
    }
}

#[test]
fn every_document_names_its_fields_with_their_meaning() {
    for (name, value) in schemas() {
        let properties = value["properties"].as_object().unwrap_or_else(|| panic!("{name} has no fields"));
        for (field, schema) in properties {
            let described = schema.get("description").is_some() || schema.get("$ref").is_some();
            assert!(described, "{name}.{field} has no description");
        }
    }
}
