//! The way of single calls through the kernel as a screen: of each setting the run of median length, as a tree with layers and times.
//!
//! A function of raw records of `lab run read-path`. Not the whole tree: steps that took little together with all they
//! called are counted and not drawn; `--json` has them all.

use ramline_evidence::path::{CallPath, Layer, PathStep};

use super::series::series_sheet;
use crate::prelude::*;

/// A step that took less of the whole, with all it called, is not drawn.
const LEAST: f64 = 0.02;
/// Columns a name has at least, with its indentation.
const NAME: usize = 24;
/// A deeper step stands no further to the right.
const DEEPEST: usize = 14;

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
    /// The paths in raw records; `None` when there are none.
    #[must_use]
    pub fn from_records(records: &[RunRecord]) -> Option<ReadPaths> {
        let table = SeriesTable::from_records(records)?;
        let paths = table.arms.iter().filter_map(|arm| path_of_arm(&arm.name, records)).collect();
        Some(ReadPaths { table, paths })
    }

    /// The table of the series, and the calls below it; `lead` names the figures to begin with.
    #[must_use]
    pub fn sheet(&self, lead: &[&str]) -> Sheet {
        let mut sheet = series_sheet(&self.table, lead);
        self.paths.iter().for_each(|found| call(&mut sheet, found));
        sheet
    }
}

fn path_of_arm(arm: &str, records: &[RunRecord]) -> Option<ArmPath> {
    let runs = records.iter().filter(|record| record.arm.name == arm);
    let paths: Vec<CallPath> = runs
        .filter_map(|record| ramline_units::json::read(record.detail.clone()?).ok())
        .filter(|path: &CallPath| !path.steps.is_empty())
        .collect();
    let path = CallPath::median(paths)?;
    Some(ArmPath { arm: arm.to_owned(), registered: path.registered(), path })
}

fn call(sheet: &mut Sheet, found: &ArmPath) {
    let path = &found.path;
    let time = number::call_time;
    sheet.heading(format!("{}: {}", found.arm, path.what));
    let how = if path.tracer == "tracepoints" { "tracepoints only" } else { path.tracer.as_str() };
    sheet.line(format!("Recorded: {} ({how}; recording takes time itself).", time(path.took)));
    let by = path.by_layer();
    let parts: Vec<String> =
        Layer::ALL.iter().filter_map(|layer| Some(format!("{} {}", layer.word(), time(*by.get(layer)?)))).collect();
    sheet.line(format!("By layer: {}.", parts.join(", ")));
    let own = |step: &PathStep| (step.by.is_none() && step.own.0 > 0).then(|| time(step.own));
    let (steps, left_out) = path.worth_a_line(LEAST);
    let table = Table::from_rows(steps).right("at", |step| time(step.at)).right("own time", own);
    sheet.table(table.left("layer", |step| step.layer.word()).column(Column::cut("step").at_least(NAME), label));
    if left_out > 0 {
        let verb = if left_out == 1 { "is" } else { "are" };
        let steps = number::things(left_out, "step");
        sheet.dim(format!("{steps} shorter than {} {verb} not drawn.", number::whole_percent(LEAST)));
    }
    for (after, time_asleep) in path.stalls().iter().take(3) {
        let word = if path.tracer == "tracepoints" { "after" } else { "in" };
        sheet.line(format!("Asleep {} {word} {after}.", time(*time_asleep)));
    }
    found.registered.iter().for_each(|text| sheet.line(format!("The file system's own function: {text}")));
}

fn label(step: &PathStep) -> String {
    let indent = "  ".repeat(usize::try_from(step.depth).unwrap_or(DEEPEST).min(DEEPEST));
    let by = step.by.as_ref().map(|by| format!("[{by}] ")).unwrap_or_default();
    let said = if step.said.is_empty() { String::new() } else { format!(" {}", step.said) };
    format!("{indent}{by}{}{said}", step.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Verdict};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;
    use ramline_units::Nanos;

    fn record(arm: &str, took: u64) -> RunRecord {
        let step = |depth: u32, name: &str, at: u64, own: u64| PathStep {
            at: Nanos(at),
            depth,
            name: name.to_owned(),
            layer: Layer::from_name(name),
            own: Nanos(own),
            ..PathStep::default()
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
        let shown = ReadPaths::from_records(&records).unwrap();
        assert_eq!(shown.paths[0].path.took, Nanos(5106));
        let text = shown.sheet(&[]).text(&Style::default(), Depth::All);
        assert!(text.contains("    ext4_file_read_iter"), "{text}");
        assert!(text.contains("1 step shorter than 2 % is not drawn") && !text.contains("fdput"), "{text}");
        assert!(text.contains("vfs_read -> ext4_file_read_iter"), "{text}");
    }

    #[test]
    fn a_wide_terminal_cuts_no_name_and_a_narrow_one_keeps_the_tree() {
        let name = format!("ext4_{}", "a_very_long_name_".repeat(5));
        let mut one = record("a", 900);
        let mut path: CallPath = serde_json::from_value(one.detail.clone().unwrap()).unwrap();
        path.steps[2].name.clone_from(&name);
        one.detail = serde_json::to_value(path).ok();
        let draw = |width| {
            ReadPaths::from_records(&[one.clone()])
                .unwrap()
                .sheet(&[])
                .text(&Style { colour: false, width }, Depth::All)
        };
        assert!(draw(200).contains(&format!("file system      {name}\n")), "{}", draw(200));
        for width in [60, 80] {
            let text = draw(width);
            assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= width), "{text}");
            assert!(text.contains("file system      ext4_a_very") && text.contains("..\n"), "{text}");
        }
    }

    #[test]
    fn settings_without_a_recording_have_no_tree() {
        let mut plain = record("calls-disk", 1);
        plain.detail = None;
        assert!(ReadPaths::from_records(&[plain]).unwrap().paths.is_empty());
        assert_eq!(ReadPaths::from_records(&[]), None);
    }
}
