//! The experiments there are: one line each.
//!
//! ```
//! let known = ramline_lab::experiments::find("code-plus-data").unwrap();
//! assert!(known.question.ends_with('?'));
//! ```

use crate::code_plus_data;

/// One experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// How it is done, in a few sentences.
    pub how: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// Its page, with "reading the result".
    pub docs: &'static str,
}

/// All of them.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: code_plus_data::NAME,
    question: "What happens when programs and data together do not fit into memory, with swap and without?",
    how: "A file of 3 units stands for program code, anonymous memory of 14 units for data, in a memory cgroup limited to 15. \
          The data is filled; then 11 rounds read code at random places and data in a window that moves on. Each arm is the same \
          under other swap settings, in interleaved order, with cold code and a fresh swap area every time.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with about twice the code and swap free, the limit and a margin in memory",
    docs: "docs/experiments/code-plus-data.md",
}];

/// The experiment of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_asks_a_question_and_has_a_page() {
        for experiment in EXPERIMENTS {
            assert!(experiment.question.ends_with('?'), "{}", experiment.name);
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(experiment.docs);
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            assert!(text.contains("## Reading the result"), "{} has no such section", page.display());
        }
    }
}
