//! The JSON documents this project promises, as JSON schemas: the contract with anyone's scripts.
//!
//! What it is: one row a document. What it is not: files; those are under `schema/`, and a test holds them against this.
//!
//! ```
//! let names: Vec<&str> = ramline_view::schema::schemas().into_iter().map(|(name, _)| name).collect();
//! assert!(names.contains(&"snapshot") && names.contains(&"checkup"));
//! ```

use ramline_advice::{Explanation, Finding};
use ramline_evidence::knee::Knee;
use ramline_evidence::{RunRecord, SeriesTable, TierReport, Versus};
use ramline_snapshot::Snapshot;
use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::figure::Figure;
use crate::screen::TopicList;
use crate::{
    CacheEvict, CachePin, CacheRestore, CacheRun, CacheSave, CacheStat, CacheTop, CacheWarm, CheckupReport, Cleaned,
    Comparison, ExperimentInfo, ExperimentList, ProofTable,
};
use crate::{ShowCgroups, ShowMaps, ShowProcesses, ShowTranslate};
use crate::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram};

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

/// Name and schema of every document; the file is `schema/NAME.json`.
#[must_use]
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("snapshot", schema::<Snapshot>()),
        ("show-memory", schema::<ShowMemory>()),
        ("show-tiers", schema::<ShowTiers>()),
        ("show-zram", schema::<ShowZram>()),
        ("show-swap", schema::<ShowSwap>()),
        ("show-tmpfs", schema::<ShowTmpfs>()),
        ("show-pressure", schema::<ShowPressure>()),
        ("show-processes", schema::<ShowProcesses>()),
        ("show-cgroups", schema::<ShowCgroups>()),
        ("show-maps", schema::<ShowMaps>()),
        ("show-translate", schema::<ShowTranslate>()),
        ("explanation", schema::<Explanation>()),
        ("explain-number", schema::<Figure>()),
        ("explain-topics", schema::<TopicList>()),
        ("finding", schema::<Finding>()),
        ("tier-report", schema::<TierReport>()),
        ("run-record", schema::<RunRecord>()),
        ("series", schema::<SeriesTable>()),
        ("read-path", schema::<crate::screen::ReadPaths>()),
        ("series-comparison", schema::<Versus>()),
        ("knee", schema::<Knee>()),
        ("proof-table", schema::<ProofTable>()),
        ("lab-list", schema::<ExperimentList>()),
        ("lab-describe", schema::<ExperimentInfo>()),
        ("lab-clean", schema::<Cleaned>()),
        ("cache-stat", schema::<CacheStat>()),
        ("cache-stat-line", schema::<ramline_snapshot::cache::FileRow>()),
        ("cache-top", schema::<CacheTop>()),
        ("cache-evict", schema::<CacheEvict>()),
        ("cache-warm", schema::<CacheWarm>()),
        ("cache-save", schema::<CacheSave>()),
        ("cache-restore", schema::<CacheRestore>()),
        ("cache-run", schema::<CacheRun>()),
        ("cache-pin", schema::<CachePin>()),
        ("cache-trace", schema::<crate::CacheTrace>()),
        ("cache-watch", schema::<crate::CacheWatch>()),
        ("checkup", schema::<CheckupReport>()),
        ("checkup-comparison", schema::<Comparison>()),
    ]
}
