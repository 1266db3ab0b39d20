//! The documents whose numbers can be explained. One row a document.

use std::sync::OnceLock;

use ramline_advice::Explanation;
use ramline_evidence::{RunRecord, TierReport};
use ramline_model::processes::{By, Filter};
use ramline_snapshot::{Snapshot, Wanted, Window};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use super::leaves::{Leaf, leaves};
use crate::{CheckupReport, Comparison, ProofTable};
use crate::{ShowCgroups, ShowMaps, ShowProcesses, ShowTranslate, SortBy};
use crate::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram};

/// A JSON document with numbers.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    /// Its name, also of its schema.
    pub name: &'static str,
    /// Its name in a path, which may be left out: `memory`.
    pub short: &'static str,
    /// The command that prints it.
    pub command: &'static str,
    /// Its schema.
    pub schema: fn() -> Value,
    /// The document of this machine; `None` where making it takes more than a look.
    pub now: Option<fn(&Snapshot, Option<&Window<'_>>) -> Value>,
    /// The sections `now` looks at.
    pub wants: Wanted,
}

/// Every document with its numbers, worked out once.
pub fn numbers() -> &'static [(&'static Document, Vec<Leaf>)] {
    static NUMBERS: OnceLock<Vec<(&Document, Vec<Leaf>)>> = OnceLock::new();
    NUMBERS.get_or_init(|| DOCUMENTS.iter().map(|d| (d, leaves(&(d.schema)()))).collect())
}

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

/// A view-model always has a JSON form; `null` would only mean "no value to show".
fn json(model: impl Serialize) -> Value {
    serde_json::to_value(model).unwrap_or(Value::Null)
}

const MEMORY: Wanted = Wanted {
    meminfo: true,
    zoneinfo: true,
    vmstat: true,
    zram: true,
    pressure_memory: true,
    cgroups: true,
    swaps: true,
    settings: true,
    lru_gen: true,
    ..Wanted::NOTHING
};
const AREAS: Wanted = Wanted { mounts: true, blocks: true, zswap: true, ..MEMORY };

const fn shown(
    name: &'static str,
    short: &'static str,
    command: &'static str,
    schema: fn() -> Value,
    now: fn(&Snapshot, Option<&Window<'_>>) -> Value,
    wants: Wanted,
) -> Document {
    Document { name, short, command, schema, now: Some(now), wants }
}

const fn made(name: &'static str, short: &'static str, command: &'static str, schema: fn() -> Value) -> Document {
    Document { name, short, command, schema, now: None, wants: MEMORY }
}

/// Every document; where two hold the same path, the first one is meant.
pub const DOCUMENTS: &[Document] = &[
    shown(
        "show-memory",
        "memory",
        "ramline show memory",
        schema::<ShowMemory>,
        |s, w| json(ShowMemory::new(s, w)),
        MEMORY,
    ),
    shown(
        "show-tiers",
        "tiers",
        "ramline show tiers",
        schema::<ShowTiers>,
        |s, _| json(ShowTiers::new(s, None)),
        AREAS,
    ),
    shown("show-zram", "zram", "ramline show zram", schema::<ShowZram>, |s, _| json(ShowZram::new(s)), AREAS),
    shown("show-swap", "swap", "ramline show swap", schema::<ShowSwap>, |s, w| json(ShowSwap::new(s, w)), AREAS),
    shown(
        "show-tmpfs",
        "tmpfs",
        "ramline show tmpfs",
        schema::<ShowTmpfs>,
        |s, _| json(ShowTmpfs::new(s)),
        Wanted { mounts: true, dirs: true, ..MEMORY },
    ),
    shown(
        "show-pressure",
        "pressure",
        "ramline show pressure",
        schema::<ShowPressure>,
        |s, w| json(ShowPressure::new(s, w)),
        Wanted { buddyinfo: true, pressure_io: true, pressure_cpu: true, ..MEMORY },
    ),
    shown(
        "show-processes",
        "processes",
        "ramline show processes",
        schema::<ShowProcesses>,
        |s, w| json(ShowProcesses::new(s, w, By::default(), SortBy::default(), &Filter::default())),
        Wanted { processes: true, ..MEMORY },
    ),
    made("show-cgroups", "cgroups", "ramline show cgroups", schema::<ShowCgroups>),
    made("show-maps", "maps", "ramline show maps", schema::<ShowMaps>),
    shown(
        "show-translate",
        "translate",
        "ramline show translate",
        schema::<ShowTranslate>,
        |s, _| json(ShowTranslate::new(s, None)),
        Wanted { zfs: true, ..MEMORY },
    ),
    made("tier-report", "tier-report", "ramline measure tiers", schema::<TierReport>),
    made("checkup", "checkup", "ramline checkup", schema::<CheckupReport>),
    made("checkup-comparison", "compare", "ramline checkup --compare OLD.json", schema::<Comparison>),
    made("proof-table", "proof-table", "ramline lab report", schema::<ProofTable>),
    made("run-record", "run", "ramline lab run", schema::<RunRecord>),
    made("explanation", "explanation", "ramline explain", schema::<Explanation>),
    shown(
        "snapshot",
        "snapshot",
        "ramline snapshot",
        schema::<Snapshot>,
        |s, _| json(s),
        Wanted { buddyinfo: true, pressure_io: true, pressure_cpu: true, thp: true, hugepages: true, ..MEMORY },
    ),
];
