//! The experiments there are, and the children they start: one line each.
//!
//! ```
//! let known = ramline_lab::experiments::find("code-plus-data").unwrap();
//! assert!(known.question.ends_with('?'));
//! ```

pub mod big_reader;
pub mod code_plus_data;
pub mod cold_warm;
pub mod drop_caches;
pub mod eat_memory;
pub mod fork_storm;
pub mod knee;
pub mod known_load;
pub mod page_cache_vs_tmpfs;
pub mod read_path;
mod self_check;
pub mod swap_command;
pub mod tmpfs_vs_disk;

use std::process::ExitCode;

use crate::experiment::Experiment;
use crate::fileops::work;
use ramline_sandbox::child::{self, ChildKind, command, keeper, worker};

/// All of them.
pub const EXPERIMENTS: &[Experiment] = &[
    code_plus_data::EXPERIMENT,
    eat_memory::EXPERIMENT,
    drop_caches::EXPERIMENT,
    tmpfs_vs_disk::EXPERIMENT,
    page_cache_vs_tmpfs::EXPERIMENT,
    cold_warm::EXPERIMENT,
    knee::EXPERIMENT,
    swap_command::EXPERIMENT,
    self_check::EXPERIMENT,
    big_reader::EXPERIMENT,
    read_path::EXPERIMENT,
    fork_storm::EXPERIMENT,
    known_load::EXPERIMENT,
];

/// Kinds of child that many experiments share.
const CHILDREN: &[ChildKind] = &[
    (work::KIND, work::main),
    (worker::KIND, worker::main),
    (command::KIND, command::main),
    (keeper::KIND, keeper::main),
];

/// This binary as a child: what stands after [`child::ARGUMENT`].
#[must_use]
pub fn child_main(args: &[String]) -> ExitCode {
    let own = EXPERIMENTS.iter().filter_map(|experiment| Some((experiment.name, experiment.child?)));
    child::main(&own.chain(CHILDREN.iter().copied()).collect::<Vec<_>>(), args)
}

/// The experiment of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

/// Those whose load can be simulated, in the order of the table.
pub fn simulated() -> impl Iterator<Item = &'static Experiment> {
    EXPERIMENTS.iter().filter(|experiment| experiment.forecast.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{ParameterKind, Params};

    #[test]
    fn every_experiment_asks_a_question_and_has_a_page() {
        for experiment in EXPERIMENTS {
            assert!(experiment.question.ends_with('?'), "{}", experiment.name);
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(experiment.docs());
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            assert!(text.contains(experiment.reading), "{}", page.display());
            let rows = experiment.reading();
            assert!(rows.len() >= 3, "{} has no table to read results by", page.display());
            assert!(rows.iter().all(|(shown, told)| !shown.contains('|') && told.ends_with('.')), "{rows:?}");
        }
    }

    #[test]
    fn every_default_is_of_its_kind_and_no_name_stands_twice() {
        for experiment in EXPERIMENTS {
            let table = experiment.table();
            for row in &table {
                assert_eq!(table.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
                for text in Params::defaults(&[*row]).list(row.name) {
                    assert_eq!(row.kind.objection(text), None, "{}", row.name);
                }
            }
            assert!(table.iter().filter(|row| row.kind == ParameterKind::Command).count() <= 1);
        }
    }
}
