//! The way of single calls through the kernel as a screen: of each arm the run of median length, as a tree with layers and times.
//!
//! What it is: a function of raw records of `lab run read-path`. What it is not: the whole tree: steps that took little together with
//! all they called are counted and not drawn; `--json` has them all.

use ramline_evidence::path::{CallPath, Layer, Step};
use ramline_evidence::{RunRecord, SeriesTable};
use ramline_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::series::series;
use crate::escape;
use crate::text::{Cell, Column, Page, Style, Table, number, width};

/// A step that took less of the whole, with all it called, is not drawn.
const LEAST: f64 = 0.02;
/// Longest name drawn, with its indentation.
const NAME: usize = 58;

/// A series of read-path: its table, and the recorded calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadPaths {
    /// The table, as of any series.
    #[serde(flatten)]
    pub table: SeriesTable,
    /// One recorded call of each arm that records.
    pub paths: Vec<ArmPath>,
}

/// The recorded call of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmPath {
    /// Its name.
    pub arm: String,
    /// The run whose recorded call had the median length.
    pub path: CallPath,
    /// Functions of the file system that something else called, as `caller -> function`; nothing where only tracepoints were seen.
    pub registered: Vec<String>,
}

impl ReadPaths {
    /// Of raw records; `None` when there are none.
    #[must_use]
    pub fn of(records: &[RunRecord]) -> Option<ReadPaths> {
        let table = SeriesTable::of(records)?;
        let paths = table.arms.iter().filter_map(|arm| of_arm(&arm.name, records)).collect();
        Some(ReadPaths { table, paths })
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, lead: &[&str], style: &Style) -> String {
        let mut page = Page::new(style);
        for found in &self.paths {
            draw(&mut page, found);
        }
        series(&self.table, lead, style) + &page.finish()
    }
}

fn of_arm(arm: &str, records: &[RunRecord]) -> Option<ArmPath> {
    let runs = records.iter().filter(|record| record.arm.name == arm);
    let mut paths: Vec<CallPath> = runs
        .filter_map(|record| serde_json::from_value(record.detail.clone()?).ok())
        .filter(|path: &CallPath| !path.steps.is_empty())
        .collect();
    paths.sort_by_key(|path| path.took);
    let path = paths.get(paths.len() / 2)?.clone();
    Some(ArmPath { arm: arm.to_owned(), registered: path.registered(), path })
}

fn time(nanos: Nanos) -> String {
    match nanos.0 {
        0..10_000 => format!("{} ns", number::count(nanos.0)),
        _ => format!("{:.1} us", nanos.as_secs_f64() * 1e6),
    }
}

fn draw(page: &mut Page<'_>, found: &ArmPath) {
    let path = &found.path;
    page.heading(&format!("{}: {}", found.arm, path.what));
    let how = if path.tracer == "tracepoints" { "tracepoints only" } else { path.tracer.as_str() };
    page.line(&format!("Recorded: {} ({how}; recording takes time itself).", time(path.took)));
    let by = path.by_layer();
    let parts: Vec<String> =
        Layer::ALL.iter().filter_map(|layer| Some(format!("{} {}", layer.word(), time(*by.get(layer)?)))).collect();
    page.line(&format!("By layer: {}.", parts.join(", ")));
    let mut drawn =
        Table::new(vec![Column::right("at"), Column::right("own time"), Column::left("layer"), Column::left("step")]);
    let mut left_out = path.cut;
    for (index, step) in path.steps.iter().enumerate() {
        if !counts(path, index) {
            left_out = left_out.saturating_add(1);
            continue;
        }
        let own = if step.by.is_some() || step.own.0 == 0 { String::new() } else { time(step.own) };
        let cells: [Cell; 4] = [time(step.at).into(), own.into(), step.layer.word().into(), label(step).into()];
        drawn.row(cells);
    }
    page.table(&drawn);
    if left_out > 0 {
        page.dim(&format!("{} shorter than {:.0} % are not drawn.", number::things(left_out, "step"), LEAST * 100.0));
    }
    for (after, time_asleep) in path.stalls().iter().take(3) {
        let word = if path.tracer == "tracepoints" { "after" } else { "in" };
        page.line(&format!("Asleep {} {word} {}.", time(*time_asleep), escape(after)));
    }
    for text in &found.registered {
        page.line(&format!("The file system's own function: {}", escape(text)));
    }
}

/// Long enough to be drawn: with all it called, or, where only tracepoints are seen, in any case.
fn counts(path: &CallPath, index: usize) -> bool {
    let Some(step) = path.steps.get(index) else { return false };
    if step.by.is_some() || path.tracer == "tracepoints" {
        return true;
    }
    let below = path.steps[index + 1..].iter().take_while(|other| other.depth > step.depth || other.by.is_some());
    let inside =
        below.filter(|other| other.by.is_none()).fold(step.own.0, |sum, other| sum.saturating_add(other.own.0));
    Nanos(inside).as_secs_f64() >= path.took.as_secs_f64() * LEAST
}

fn label(step: &Step) -> String {
    let indent = "  ".repeat(usize::try_from(step.depth).unwrap_or(0).min(14));
    let by = step.by.as_ref().map(|by| format!("[{}] ", escape(by))).unwrap_or_default();
    let said = if step.said.is_empty() { String::new() } else { format!(" {}", escape(&step.said)) };
    let text = format!("{indent}{by}{}{said}", escape(&step.name));
    if width(&text) <= NAME { text } else { text.chars().take(NAME - 1).collect::<String>() + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Verdict};

    fn record(arm: &str, took: u64) -> RunRecord {
        let step = |depth: u32, name: &str, at: u64, own: u64| Step {
            at: Nanos(at),
            depth,
            name: name.to_owned(),
            layer: Layer::of(name),
            own: Nanos(own),
            ..Step::default()
        };
        let steps = vec![
            step(0, "__x64_sys_pread64", 0, 100),
            step(1, "vfs_read", 100, 5),
            step(2, "ext4_file_read_iter", 105, took),
            step(1, "fdput", 900, 1),
        ];
        let path = CallPath {
            what: "a read".to_owned(),
            tracer: "function".to_owned(),
            took: Nanos(took + 106),
            steps,
            cut: 0,
        };
        RunRecord {
            experiment: "read-path".to_owned(),
            arm: Arm::named(arm, &[]),
            verdict: Verdict::Completed,
            detail: serde_json::to_value(path).ok(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn the_tree_is_that_of_the_median_run_and_short_steps_are_counted() {
        let records = [record("a", 900), record("a", 5000), record("a", 20_000)];
        let shown = ReadPaths::of(&records).unwrap();
        assert_eq!(shown.paths[0].path.took, Nanos(5106));
        let text = shown.text(&[], &Style::default());
        assert!(text.contains("    ext4_file_read_iter"), "{text}");
        assert!(text.contains("1 step shorter than 2 % are not drawn") && !text.contains("fdput"), "{text}");
        assert!(text.contains("vfs_read -> ext4_file_read_iter"), "{text}");
    }

    #[test]
    fn arms_without_a_recording_have_no_tree() {
        let mut plain = record("calls-disk", 1);
        plain.detail = None;
        assert!(ReadPaths::of(&[plain]).unwrap().paths.is_empty());
        assert_eq!(ReadPaths::of(&[]), None);
    }
}
