//! The figures of a run, collected by name; one that could not be measured is left out.

use crate::prelude::*;

/// Figures in the order of the table.
#[derive(Debug, Default)]
pub(crate) struct Figures(pub Vec<Figure>);

impl Figures {
    /// A value in this unit.
    pub fn add(&mut self, name: &str, value: impl Into<Option<f64>>, unit: &str, better: Better) {
        self.0.extend(value.into().map(|value| Figure::new(name, value, unit, better)));
    }

    /// A time, of which less is better.
    pub fn time(&mut self, name: &str, time: impl Into<Option<Nanos>>) {
        self.add(name, time.into().map(Nanos::as_secs_f64), "s", Better::Lower);
    }

    /// A size.
    pub fn bytes(&mut self, name: &str, size: impl Into<Option<Bytes>>, better: Better) {
        self.add(name, size.into().map(Bytes::as_f64), "bytes", better);
    }

    /// A number of pages.
    pub fn pages(&mut self, name: &str, count: impl Into<Option<u64>>, better: Better) {
        self.add(name, count.into().map(|count| count as f64), "pages", better);
    }

    /// So much in this time; none over no time at all.
    pub fn rate(&mut self, name: &str, amount: f64, time: Nanos, unit: &str) {
        self.add(name, (time.0 > 0).then(|| amount / time.as_secs_f64()), unit, Better::Higher);
    }
}
