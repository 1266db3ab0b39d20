//! What a plan is asked for.

use ramline_plan::{Goal, Topic};

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// What it is about; all where it is empty.
    pub topics: Vec<Topic>,
    /// What it is for.
    pub goal: Goal,
    /// Nothing of it is to stay after a reboot.
    pub runtime_only: bool,
    /// Values the reader has chosen: `vm.swappiness` 200. With them, only topics that are named are planned besides.
    pub own: Vec<(String, i64)>,
    /// What a unit that stays would run: this program, or why it cannot; `None` where it was not looked for.
    pub program: Option<Result<String, String>>,
    /// Where a unit would keep its state, if not in the usual place.
    pub state: Option<String>,
}
