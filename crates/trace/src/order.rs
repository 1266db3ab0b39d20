//! Events of several processors in the order of their times, although each processor's buffer is read by itself.
//!
//! What was read in one round may lack what another processor wrote meanwhile: only what is not later than the latest of the round
//! *before* is handed out.

/// Puts what several processors recorded in order.
#[derive(Debug)]
pub struct InOrder<T> {
    waiting: Vec<(u64, T)>,
    // The latest of the round before, and of this one.
    complete: u64,
    latest: u64,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        InOrder { waiting: Vec::new(), complete: 0, latest: 0 }
    }
}

impl<T> InOrder<T> {
    /// Takes in one that was read in this round.
    pub fn push(&mut self, time: u64, what: T) {
        self.latest = self.latest.max(time);
        self.waiting.push((time, what));
    }

    /// Ends a round: hands out, in order, what is sure to be complete; with `all`, everything.
    pub fn round(&mut self, all: bool, mut each: impl FnMut(u64, T)) {
        let until = if all { u64::MAX } else { self.complete };
        self.complete = self.latest;
        // Stable, and quick on what is in order already.
        self.waiting.sort_by_key(|(time, _)| *time);
        let ready = self.waiting.partition_point(|(time, _)| *time <= until);
        for (time, what) in self.waiting.drain(..ready) {
            each(time, what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_processor_wrote_earlier_is_still_handed_out_first() {
        let mut order = InOrder::default();
        let mut out = Vec::new();
        order.push(5, 'b');
        order.round(false, |_, what| out.push(what));
        assert!(out.is_empty(), "another processor may have written before 5");
        order.push(4, 'a');
        order.push(9, 'd');
        order.round(false, |_, what| out.push(what));
        assert_eq!(out, ['a', 'b']);
        order.push(8, 'c');
        order.round(true, |_, what| out.push(what));
        assert_eq!(out, ['a', 'b', 'c', 'd']);
    }
}
