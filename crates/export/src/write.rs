//! The two text formats: OpenMetrics 1.0, and Prometheus' own 0.0.4, which node_exporter's textfile collector and `promtool check
//! metrics` read.
//!
//! They are written here because the encoders in use know one of them each and keep values in a registry between two readings,
//! while here samples come and go with groups and devices; both are checked against the parsers of Prometheus (tests/export).
//! They differ in where `_total` and `_info` stand, in the type `info`, in units and in the end.
//!
//! Worked example: the counter `ramline_refaults` is `# TYPE ramline_refaults counter` in OpenMetrics and `# TYPE
//! ramline_refaults_total counter` in the other; the sample is `ramline_refaults_total{kind="file"} 7` in both.

use std::collections::HashSet;
use std::fmt::Write;

use ramline_snapshot::{Snapshot, Window};

use crate::families::all;
use crate::family::{Family, Kind, Samples, Unit, Value};
use crate::label::quote;
use crate::reading::{Limits, Reading};

/// The format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4.
    Prometheus,
}

impl Form {
    /// As HTTP calls it.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Form::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// All metrics of a snapshot as text: families that have samples. Rates and what rests on them need a window.
#[must_use]
pub fn text(snapshot: &Snapshot, window: Option<Window<'_>>, limits: &Limits, form: Form) -> String {
    let reading = Reading::new(snapshot, window, *limits);
    let mut out = String::with_capacity(32 << 10);
    for family in all() {
        let mut samples = Samples::default();
        (family.fill)(&reading, &mut samples);
        if !samples.list.is_empty() {
            head(family, form, &mut out);
            lines(family, samples, &mut out);
        }
    }
    if form == Form::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn head(family: &Family, form: Form, out: &mut String) {
    let (name, kind) = match (form, family.kind) {
        (Form::OpenMetrics, Kind::Info) => (family.name.to_owned(), "info"),
        (Form::OpenMetrics, _) => (family.name.to_owned(), kind(family.kind)),
        (Form::Prometheus, _) => (family.sample_name(), kind(family.kind)),
    };
    out.push_str(&format!("# TYPE {name} {kind}\n"));
    if form == Form::OpenMetrics && family.unit != Unit::None {
        out.push_str(&format!("# UNIT {name} {}\n", family.unit.word()));
    }
    out.push_str(&format!("# HELP {name} {}\n", family.help));
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge | Kind::Info => "gauge",
        Kind::Counter => "counter",
    }
}

/// Of two samples with the same labels the first stands: a series that is there twice spoils a whole reading.
fn lines(family: &Family, samples: Samples, out: &mut String) {
    let name = family.sample_name();
    let mut seen = HashSet::new();
    for (labels, value) in samples.list {
        let mut line = String::with_capacity(128);
        for (at, (label, value)) in labels.iter().enumerate() {
            line.push_str(if at == 0 { "{" } else { "," });
            line.push_str(label);
            line.push_str("=\"");
            quote(value, &mut line);
            line.push('"');
        }
        line.push_str(if labels.is_empty() { "" } else { "}" });
        if seen.contains(&line) {
            continue;
        }
        out.push_str(&name);
        out.push_str(&line);
        // Writing to a string cannot fail.
        let _ = match value {
            Value::Whole(value) => writeln!(out, " {value}"),
            Value::Signed(value) => writeln!(out, " {value}"),
            Value::Real(value) => writeln!(out, " {value}"),
        };
        seen.insert(line);
    }
}
