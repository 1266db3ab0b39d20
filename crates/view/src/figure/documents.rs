//! Every JSON document: its name, its type, and, where its numbers can be explained, the command that prints it. One row a document.

use std::sync::OnceLock;

use crate::history::SarTable;
use ramline_advice::Explanation;
use ramline_advice::kill::ExplainedKill;
use ramline_evidence::SeriesVersus;
use ramline_evidence::history::{HistoryCheck, HistoryList, HistoryRow};
use ramline_evidence::knee::Knee;
use ramline_evidence::pages::PageProfile;
use ramline_evidence::{ChangeList, FleetReport};
use ramline_model::need::{Need, RoomCurve};
use ramline_model::processes::{By, Filter};
use ramline_plan::UpkeepPass;
use ramline_snapshot::cache::{
    EvictedFiles, FileRow, Pinned, Ran, Restored, Saved, Stat, Top, Traced, Warmed, Watched,
};
use ramline_trace::curve::MissCurve;
use ramline_trace::summary::TouchesSummary;
use serde_json::Value;

use super::Figure;
use super::leaves::{Leaf, leaves};
use crate::prelude::*;
use crate::screen::{ReadPaths, TopicList};
use crate::{
    CheckupComparison, CheckupReport, Cleaned, ExperimentInfo, ExperimentList, MeasuredPages, Prediction, ProofTable,
    ShowCgroups, ShowMaps, ShowMemory, ShowPressure, ShowProcesses, ShowSwap, ShowTiers, ShowTmpfs, ShowTranslate,
    ShowZram, SortBy, TunePlan, Versioned, schema,
};

/// A JSON document with numbers that can be explained.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    /// Its name, also of its schema.
    pub name: &'static str,
    /// Its name in a path, which may be left out: `memory`.
    pub short: &'static str,
    /// The command that prints it.
    pub command: &'static str,
    /// The document of this machine, and the sections it looks at; `None` where making it takes more than a look.
    pub now: Option<(MakeDocument, Wanted)>,
}

type MakeDocument = fn(&Snapshot, Option<&Window<'_>>) -> Value;

/// Every document with its numbers, worked out once.
pub fn numbers() -> &'static [(&'static Document, Vec<Leaf>)] {
    static NUMBERS: OnceLock<Vec<(&Document, Vec<Leaf>)>> = OnceLock::new();
    let of = |document: &Document| leaves(&schema::document(document.name).unwrap_or_default());
    NUMBERS.get_or_init(|| DOCUMENTS.iter().map(|document| (document, of(document))).collect())
}

/// A view-model always has a JSON form; `null` would only mean "no value to show".
fn value(model: impl Serialize) -> Value {
    ramline_units::json::tree(&model).unwrap_or(Value::Null)
}

macro_rules! documents {
    ($($name:literal $type:ty $(, $short:literal $command:literal $now:expr)?;)*) => {
        /// Those with numbers; where two hold the same path, the first one is meant.
        const DOCUMENTS: &[Document] = &[$($(Document { name: $name, short: $short, command: $command, now: $now },)?)*];

        /// Each can be written as JSON. (Without the feature `schema` nothing else names the types.)
        const _: () = {
            const fn is_written<T: Serialize>() {}
            $(is_written::<$type>();)*
        };

        /// The schemas of all documents as the types say: what [`crate::schema::text`] has to be.
        #[cfg(feature = "schema")]
        #[must_use]
        pub fn schemas() -> Value {
            let mut generator = schemars::generate::SchemaSettings::default().into_generator();
            let documents: serde_json::Map<_, _> =
                [$(($name.to_owned(), generator.subschema_for::<$type>().into())),*].into_iter().collect();
            serde_json::json!({
                "$schema": generator.settings().meta_schema,
                "title": "ramline",
                "description": "The JSON documents of ramline, one a property: show-memory is what `ramline show memory --json` prints.",
                "properties": documents,
                "$defs": generator.take_definitions(true),
            })
        }
    };
}

documents! {
    "show-memory" ShowMemory, "memory" "ramline show memory"
        Some((|s, w| value(ShowMemory::new(s, w)), ShowMemory::WANTED));
    "show-tiers" ShowTiers, "tiers" "ramline show tiers"
        Some((|s, _| value(ShowTiers::new(s, None)), ShowTiers::WANTED));
    "show-zram" ShowZram, "zram" "ramline show zram" Some((|s, _| value(ShowZram::new(s)), ShowZram::WANTED));
    "show-swap" ShowSwap, "swap" "ramline show swap" Some((|s, w| value(ShowSwap::new(s, w)), ShowSwap::WANTED));
    "show-tmpfs" ShowTmpfs, "tmpfs" "ramline show tmpfs"
        // What is in each tmpfs takes a walk.
        Some((|s, _| value(ShowTmpfs::new(s)), Wanted { shmem: false, ..ShowTmpfs::WANTED }));
    "show-pressure" ShowPressure, "pressure" "ramline show pressure"
        Some((|s, w| value(ShowPressure::new(s, w)), ShowPressure::WANTED));
    "show-processes" ShowProcesses, "processes" "ramline show processes"
        Some((
            |s, w| value(ShowProcesses::new(s, w, By::default(), SortBy::default(), &Filter::default())),
            ShowProcesses::WANTED,
        ));
    "show-cgroups" ShowCgroups, "cgroups" "ramline show cgroups" None;
    "show-maps" ShowMaps, "maps" "ramline show maps" None;
    "show-translate" ShowTranslate, "translate" "ramline show translate"
        Some((|s, _| value(ShowTranslate::new(s, None)), ShowTranslate::WANTED));
    "measured-pages" MeasuredPages;
    "page-profile" PageProfile;
    "tier-report" TierReport, "tier-report" "ramline measure tiers" None;
    "checkup" CheckupReport, "checkup" "ramline checkup" None;
    "checkup-comparison" CheckupComparison, "compare" "ramline checkup --compare OLD.json" None;
    "proof-table" ProofTable, "proof-table" "ramline lab report" None;
    "run-record" RunRecord, "run" "ramline lab run" None;
    "explanation" Explanation, "explanation" "ramline explain" None;
    "prediction" Prediction;
    "fleet-report" FleetReport;
    "trace-info" Versioned<'static, TouchesSummary>;
    "trace-curve" Versioned<'static, MissCurve>;
    "need" Versioned<'static, Need>;
    "curve" Versioned<'static, RoomCurve>;
    "history" HistoryList;
    "history-check" HistoryCheck;
    "history-sar" SarTable;
    "history-row" HistoryRow;
    "explain-kill" Versioned<'static, ExplainedKill>;
    "tune-plan" TunePlan;
    "tune-status" Versioned<'static, ChangeList>;
    "swap-maintain" Versioned<'static, UpkeepPass>;
    "snapshot" Snapshot, "snapshot" "ramline snapshot"
        Some((|s, _| value(s), Wanted { zswap: true, thp: true, ..ShowPressure::WANTED }));
    "explain-number" Figure;
    "explain-topics" TopicList;
    "finding" Finding;
    "series" SeriesTable;
    "read-path" ReadPaths;
    "series-comparison" SeriesVersus;
    "knee" Knee;
    "lab-list" ExperimentList;
    "lab-describe" ExperimentInfo;
    "lab-clean" Cleaned;
    "cache-stat" Versioned<'static, Stat>;
    "cache-stat-line" FileRow;
    "cache-top" Versioned<'static, Top>;
    "cache-evict" Versioned<'static, EvictedFiles>;
    "cache-warm" Versioned<'static, Warmed>;
    "cache-save" Versioned<'static, Saved>;
    "cache-restore" Versioned<'static, Restored>;
    "cache-run" Versioned<'static, Ran>;
    "cache-pin" Versioned<'static, Pinned>;
    "cache-trace" Versioned<'static, Traced>;
    "cache-watch" Versioned<'static, Watched>;
}
