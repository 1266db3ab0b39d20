//! The JSON documents this project promises, as JSON schemas: the contract with anyone's scripts.
//!
//! They stand in one file, `schema/ramline.schema.json`, with shared definitions and one entry a document. The binary holds that file, packed
//! (build.rs), and none of the code that derives schemas from types; a test holds the file against the types ([`crate::figure::schemas`]).
//!
//! ```
//! use ramline_view::schema;
//! assert!(schema::names().any(|name| name == "checkup"));
//! assert_eq!(schema::document("show-memory").unwrap()["title"], "ShowMemory");
//! ```

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;
use serde_json::{Map, Value};

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schema.deflate"));

/// All documents: `properties` has one entry each, `$defs` what they are made of.
///
/// ```
/// assert!(ramline_view::schema::text().contains("ShowMemory"));
/// ```
#[must_use]
pub fn text() -> &'static str {
    static UNPACKED: OnceLock<String> = OnceLock::new();
    // What was packed when this was built.
    let unpack = || {
        let mut text = String::new();
        DeflateDecoder::new(PACKED).read_to_string(&mut text).ok().map(|_| text)
    };
    UNPACKED.get_or_init(|| unpack().unwrap_or_default())
}

/// Where a `$ref` of the bundle points.
const DEFINITIONS: &str = "#/$defs/";

/// That the file is JSON is tested; what is missing in it would be missing here.
fn bundle() -> &'static Value {
    static PARSED: OnceLock<Value> = OnceLock::new();
    PARSED.get_or_init(|| serde_json::from_str(text()).unwrap_or_default())
}

/// Names of all documents.
pub fn names() -> impl Iterator<Item = &'static str> {
    bundle()["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str)
}

/// The schema of one document by itself, with the definitions it needs; `None` where no document has this name.
#[must_use]
pub fn document(name: &str) -> Option<Value> {
    let all = bundle();
    let title = all["properties"].get(name)?["$ref"].as_str()?.strip_prefix(DEFINITIONS)?;
    let mut root = all["$defs"][title].as_object()?.clone();
    let mut needed = BTreeSet::new();
    root.values().for_each(|value| definitions(value, &mut needed));
    let needed = needed.into_iter().map(|name| (name.to_owned(), all["$defs"][name].clone()));
    root.insert("$defs".to_owned(), needed.collect::<Map<_, _>>().into());
    root.insert("$schema".to_owned(), all["$schema"].clone());
    root.insert("title".to_owned(), title.into());
    Some(root.into())
}

/// The definitions a schema refers to, directly or through others.
fn definitions<'a>(schema: &'a Value, out: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| definitions(item, out)),
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix(DEFINITIONS));
            if let Some(name) = name.filter(|name| out.insert(name)) {
                definitions(&bundle()["$defs"][name], out);
            }
            fields.values().for_each(|value| definitions(value, out));
        }
        _ => {}
    }
}
