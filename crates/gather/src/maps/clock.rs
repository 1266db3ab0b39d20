//! The time that may be spent.

use crate::prelude::*;

/// When to stop beginning something new.
pub struct Clock {
    pub start: Instant,
    budget: Option<Duration>,
}

impl Clock {
    pub fn new(budget: Option<Duration>) -> Clock {
        Clock { start: Instant::now(), budget }
    }

    pub fn is_over(&self) -> bool {
        self.budget.is_some_and(|budget| self.start.elapsed() >= budget)
    }
}
