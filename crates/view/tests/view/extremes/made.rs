//! Documents made from their schemas: every field there, every number at an end of its range.
//!
//! What it is not: plausible. A captured tree or a snapshot from elsewhere may hold any number its type takes.

use ramline_evidence::rng::SplitMix64;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Which numbers a document is full of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The largest of each type.
    Largest,
    /// The smallest of each type: negative where there is a sign.
    Smallest,
    /// The middle of the unsigned types: what no signed type of that size holds.
    Middle,
    /// One of those, or a small one, at random.
    Any,
}

/// Names of counters, files and devices that the model asks for.
const KEYS: [&str; 24] = [
    "anon",
    "file",
    "shmem",
    "total_inactive_file",
    "inactive_file",
    "active_file",
    "active_anon",
    "inactive_anon",
    "file_dirty",
    "slab_reclaimable",
    "slab_unreclaimable",
    "kernel",
    "swapcached",
    "oom_kill",
    "workingset_refault_file",
    "nr_zone_active_anon",
    "nr_zone_active_file",
    "nr_active_anon",
    "nr_inactive_anon",
    "nr_active_file",
    "nr_inactive_file",
    "numa_hit",
    "numa_miss",
    "cache",
];
const NAMES: [&str; 8] = ["HugePages_Free", "HugePages_Total", "zpool", "enabled", "quota_ms", "x", "zbud", "Unknown"];
const WORDS: [&str; 12] = [
    "zram0",
    "x",
    "18446744073709551615",
    "-9223372036854775808",
    "file",
    "on",
    "pageout",
    "Y",
    "bytes/s",
    "s",
    "wall",
    "a",
];
const PATHS: [&str; 3] = ["/", "/a", "/a/b"];
const TIERS: [&str; 6] = ["disk:/", "swap:/dev/zram0", "swap-write:/dev/zram0", "zram-lz4", "ram", "tmpfs"];

/// Makes documents.
pub struct Maker {
    full: Full,
    rng: SplitMix64,
    /// Place in the innermost list.
    at: usize,
}

impl Maker {
    /// The same seed makes the same documents.
    pub const fn new(full: Full, seed: u64) -> Maker {
        Maker { full, rng: SplitMix64::new(seed), at: 0 }
    }

    /// A document of this type.
    pub fn make<T: JsonSchema + DeserializeOwned>(&mut self) -> T {
        let value = self.json::<T>();
        serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{}: {e} in {value}", T::schema_name()))
    }

    /// The same before it is read.
    pub fn json<T: JsonSchema>(&mut self) -> Value {
        let schema = schema_for!(T).to_value();
        self.value(&schema, &schema["$defs"], "", 0)
    }

    /// One of so many; the first is as likely as all others together.
    fn choose(&mut self, n: usize) -> usize {
        if self.once_in(2) { 0 } else { self.below(n) }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.rng.below(n as u64)).unwrap()
    }

    fn once_in(&mut self, n: u64) -> bool {
        self.rng.below(n) == 0
    }

    fn one_of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn value(&mut self, schema: &Value, defs: &Value, key: &str, depth: u32) -> Value {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            let mut whole = self.value(&defs[name], defs, key, depth + 1);
            // A tagged part: the tag stands beside the fields.
            if let (Some(whole), Some(tag)) = (whole.as_object_mut(), schema["properties"].as_object()) {
                whole.extend(tag.iter().map(|(name, field)| (name.clone(), self.value(field, defs, name, depth + 1))));
            }
            return whole;
        }
        if let Some(one) = schema.get("const") {
            return one.clone();
        }
        if let Some(all) = schema["enum"].as_array() {
            return all[self.below(all.len())].clone();
        }
        let variants = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
        let mut out = Map::new();
        if let Some(variants) = variants {
            let null = |v: &&Value| v["type"] == "null";
            if variants.iter().any(|v| null(&v)) && (depth > 24 || self.full == Full::Any && self.once_in(8)) {
                return Value::Null;
            }
            let real: Vec<&Value> = variants.iter().filter(|v| !null(v)).collect();
            let seen = real[0]["properties"]["state"]["const"] == "seen" && !self.once_in(16);
            let chosen = if seen { 0 } else { self.choose(real.len()) };
            match self.value(real[chosen], defs, key, depth + 1) {
                // A tagged part stands beside the fields of the whole.
                Value::Object(part) if schema.get("properties").is_some() => out.extend(part),
                value => return value,
            }
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => vec!["object"],
        };
        if kinds.contains(&"null") && (depth > 24 || self.full == Full::Any && self.once_in(8)) {
            return Value::Null;
        }
        match kinds.iter().find(|kind| **kind != "null").copied().unwrap_or("null") {
            "boolean" => json!(self.once_in(2)),
            "integer" => self.integer(schema["format"].as_str().unwrap_or_default()),
            "number" => self.float(),
            "string" => json!(self.word(key, schema)),
            "array" => self.list(schema, defs, key, depth),
            "null" => Value::Null,
            _ => {
                for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                    out.insert(name.clone(), self.value(field, defs, name, depth + 1));
                }
                if schema["additionalProperties"].is_object() {
                    let inner = &schema["additionalProperties"];
                    let text = inner["type"] == "string";
                    for name in if text { NAMES.as_slice() } else { KEYS.as_slice() } {
                        out.insert((*name).to_owned(), self.value(inner, defs, name, depth + 1));
                    }
                }
                Value::Object(out)
            }
        }
    }

    fn list(&mut self, schema: &Value, defs: &Value, key: &str, depth: u32) -> Value {
        if let Some(each) = schema["prefixItems"].as_array() {
            return each.iter().map(|item| self.value(item, defs, key, depth + 1)).collect();
        }
        let most = if depth > 18 { 0 } else { 3 };
        let above = self.at;
        let all = (0..schema["minItems"].as_u64().unwrap_or(most)).map(|at| {
            self.at = usize::try_from(at).unwrap();
            self.value(&schema["items"], defs, key, depth + 1)
        });
        let all = Value::Array(all.collect());
        self.at = above;
        all
    }

    fn integer(&mut self, format: &str) -> Value {
        if self.full == Full::Any && self.once_in(3) {
            return json!(self.rng.below(3));
        }
        let full = match self.full {
            Full::Any => [Full::Largest, Full::Smallest, Full::Middle][self.below(3)],
            full => full,
        };
        match (format, full) {
            ("int32", Full::Smallest) => json!(i32::MIN),
            ("int32", _) => json!(i32::MAX),
            ("int64", Full::Smallest) => json!(i64::MIN),
            ("int64", _) => json!(i64::MAX),
            (_, Full::Smallest) => json!(0),
            ("uint8", _) => json!(u8::MAX),
            ("uint32", Full::Middle) => json!(1_u32 << 31),
            ("uint32", _) => json!(u32::MAX),
            (_, Full::Middle) => json!(1_u64 << 63),
            _ => json!(u64::MAX),
        }
    }

    fn float(&mut self) -> Value {
        let full = if self.full == Full::Any { self.below(5) } else { self.full as usize };
        json!([f64::MAX, f64::MIN, 1e-308, 0.0, 42.5][full])
    }

    fn word(&mut self, key: &str, schema: &Value) -> String {
        let word = match key {
            _ if schema["maxLength"] == 1 => "S",
            "path" | "at" | "mount" => PATHS[self.at % PATHS.len()],
            "fs" => self.one_of(&["tmpfs", "ramfs", "ext4"]),
            "dev" => "0:1",
            "tier" => TIERS[self.at % TIERS.len()],
            "algorithm" => "lz4",
            _ => self.one_of(&WORDS),
        };
        word.to_owned()
    }
}
