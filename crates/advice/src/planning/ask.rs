//! What a plan is asked for.

use ramline_evidence::pages::PageProfile;
use ramline_plan::{Goal, Topic};

use super::by_load::ByLoad;
use super::limit::WatchedService;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    /// What it is about; all where it is empty.
    pub topics: Vec<Topic>,
    /// Findings whose advice is planned, by their ids, besides the topics named.
    pub findings: Vec<String>,
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
    /// What the pages of this machine compress to, for the algorithm and the size of a new zram.
    pub pages: Option<PageProfile>,
    /// What qualifies that profile: it is of another machine.
    pub pages_of: Vec<String>,
    /// Services whose limits are to be what they need.
    pub services: Vec<WatchedService>,
    /// The setting under which a load of the reader's own ran fastest: zram, swap and swappiness follow it instead of costs and need.
    pub by_load: Option<ByLoad>,
}

impl Ask {
    /// Nothing was named, so all of it is planned.
    pub(super) fn is_for_all(&self) -> bool {
        self.topics.is_empty() && self.findings.is_empty() && self.own.is_empty() && self.services.is_empty()
    }
}
