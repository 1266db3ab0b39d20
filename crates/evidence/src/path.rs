//! The way of a system call through the kernel, as recorded: functions or tracepoints in order, with layer and time.
//!
//! The data of `lab run read-path`, kept in a record's `detail`, and what follows from it by counting. Where the kernel is only seen
//! through tracepoints a step is the time from one of them to the next.
//!
//! ```
//! use ramline_evidence::path::Layer;
//! assert_eq!(Layer::from_name("ext4_file_read_iter"), Layer::FileSystem);
//! assert_eq!(Layer::from_name("filemap_get_pages"), Layer::PageCache);
//! assert_eq!(Layer::from_name("block_rq_issue"), Layer::Block);
//! ```

mod layer;

use crate::prelude::*;

pub use layer::Layer;

/// The name of the step with which a wait ends.
pub const AGAIN: &str = "running again";

/// One function or tracepoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PathStep {
    /// When it began, since the beginning of the call.
    pub at: Nanos,
    /// How deep it was called; 0 is the system call.
    pub depth: u32,
    /// Its name.
    pub name: String,
    /// Its layer.
    pub layer: Layer,
    /// Its time without what it called: until the next step.
    pub own: Nanos,
    /// With what it called, where the kernel recorded it.
    pub whole: Option<Nanos>,
    /// What the tracepoint said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Who did it, where that was another: the journal's thread, an interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// One system call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CallPath {
    /// What was called, in words.
    pub what: String,
    /// How it was seen: `function_graph`, `function`, `tracepoints`.
    pub tracer: String,
    /// The call, recorded: longer than without a recorder.
    pub took: Nanos,
    /// In order.
    pub steps: Vec<PathStep>,
    /// So many more were not kept.
    pub cut: u64,
}

impl CallPath {
    /// Of several recordings of one call the one of median length, the longer of the middle two; `None` without any.
    #[must_use]
    pub fn median(mut paths: Vec<CallPath>) -> Option<CallPath> {
        ramline_units::sort_by_key(&mut paths, |path| path.took);
        let middle = paths.len() / 2;
        paths.into_iter().nth(middle)
    }

    /// The steps that are worth a line: those that took at least this share of the call (0 to 1) with all they called, what others
    /// did, and, where only tracepoints are seen, all. With them how many steps are left out, those that were not kept included.
    #[must_use]
    pub fn worth_a_line(&self, least: f64) -> (Vec<&PathStep>, u64) {
        let shown: Vec<&PathStep> = (0..)
            .zip(&self.steps)
            .filter(|(index, step)| self.is_long(*index, step, least))
            .map(|(_, step)| step)
            .collect();
        let short = u64::try_from(self.steps.len().saturating_sub(shown.len())).unwrap_or(u64::MAX);
        (shown, self.cut.saturating_add(short))
    }

    fn is_long(&self, index: usize, step: &PathStep, least: f64) -> bool {
        if step.by.is_some() || self.tracer == "tracepoints" {
            return true;
        }
        let after = self.steps.iter().skip(index).skip(1);
        let below = after.take_while(|other| other.depth > step.depth || other.by.is_some());
        let inside =
            below.filter(|other| other.by.is_none()).fold(step.own.0, |sum, other| sum.saturating_add(other.own.0));
        Nanos(inside).as_secs_f64() >= self.took.as_secs_f64() * least
    }

    /// Time by layer; what others did meanwhile is not in it.
    #[must_use]
    pub fn by_layer(&self) -> BTreeMap<Layer, Nanos> {
        let mut out = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            let sum: &mut Nanos = out.entry(step.layer).or_default();
            sum.0 = sum.0.saturating_add(step.own.0);
        }
        out
    }

    /// Where it slept, with the time, the longest first: the function that waited, or, where only tracepoints are seen, the last of
    /// them before.
    #[must_use]
    pub fn stalls(&self) -> Vec<(String, Nanos)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let mut above: Vec<&PathStep> = Vec::new();
        let mut before = "the call";
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            above.retain(|other| other.depth < step.depth);
            if step.layer == Layer::Waiting {
                let within = above.iter().rev().find(|other| other.layer != Layer::Waiting && other.depth > 0);
                let within = within.filter(|_| self.tracer != "tracepoints");
                let sum = sums.entry(within.map_or(before, |other| &other.name)).or_default();
                *sum = sum.saturating_add(step.own.0);
            } else if step.name != AGAIN {
                before = &step.name;
            }
            above.push(step);
        }
        let mut out: Vec<(String, Nanos)> =
            sums.into_iter().map(|(name, time)| (name.to_owned(), Nanos(time))).collect();
        ramline_units::sort_by_key(&mut out, |(name, time)| (std::cmp::Reverse(*time), name.clone()));
        out.retain(|(_, time)| time.0 > 0);
        out
    }

    /// What the file system registered, as far as seen: its functions that something else called, as `caller -> function`.
    #[must_use]
    pub fn registered(&self) -> Vec<String> {
        let mut above: Vec<&PathStep> = Vec::new();
        let mut out: Vec<String> = Vec::new();
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            above.retain(|other| other.depth < step.depth);
            // A tracepoint is a place in a function, no function of its own.
            let function = step.said.is_empty() && step.name != AGAIN && self.tracer != "tracepoints";
            let caller = above.last().filter(|caller| function && caller.name != AGAIN);
            if let Some(caller) = caller.filter(|caller| {
                step.layer == Layer::FileSystem && caller.layer != Layer::FileSystem && caller.layer != Layer::Journal
            }) {
                let text = format!("{} -> {}", caller.name, step.name);
                if !out.contains(&text) {
                    out.push(text);
                }
            }
            above.push(step);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(depth: u32, name: &str, own: u64) -> PathStep {
        PathStep { depth, name: name.to_owned(), layer: Layer::from_name(name), own: Nanos(own), ..PathStep::default() }
    }

    fn path() -> CallPath {
        let steps = vec![
            step(0, "__x64_sys_pread64", 1),
            step(1, "vfs_read", 2),
            step(2, "ext4_file_read_iter", 3),
            step(3, "filemap_read", 4),
            step(4, "ext4_readahead", 5),
            step(5, "submit_bio_noacct", 6),
            step(4, "folio_wait_bit_common", 7),
            step(5, "io_schedule", 80),
        ];
        CallPath { tracer: "function".to_owned(), steps, ..CallPath::default() }
    }

    #[test]
    fn time_is_summed_by_layer() {
        let by = path().by_layer();
        assert_eq!((by[&Layer::FileSystem], by[&Layer::Waiting]), (Nanos(8), Nanos(87)));
        assert_eq!(by.values().map(|time| time.0).sum::<u64>(), 108);
    }

    #[test]
    fn of_several_recordings_the_one_in_the_middle_counts() {
        let of = |took: u64| CallPath { took: Nanos(took), ..path() };
        assert_eq!(CallPath::median(vec![of(9), of(1), of(5)]).unwrap().took, Nanos(5));
        assert_eq!(CallPath::median(vec![of(9), of(1)]).unwrap().took, Nanos(9));
        assert_eq!(CallPath::median(vec![]), None);
    }

    #[test]
    fn a_step_that_took_little_with_all_it_called_is_left_out_and_counted() {
        let all = CallPath { took: Nanos(108), cut: 2, ..path() };
        let (shown, left_out) = all.worth_a_line(0.07);
        let names: Vec<&str> = shown.iter().map(|step| step.name.as_str()).collect();
        // `submit_bio_noacct` took 6 of 108, `ext4_readahead` 5 and what it called.
        assert_eq!((names.len(), left_out), (7, 3), "{names:?}");
        assert!(!names.contains(&"submit_bio_noacct"), "{names:?}");
        let seen = CallPath { tracer: "tracepoints".to_owned(), ..all };
        assert_eq!(seen.worth_a_line(0.07).1, 2);
    }

    #[test]
    fn a_stall_is_told_by_who_waited_or_by_what_came_before_it() {
        assert_eq!(path().stalls(), [("filemap_read".to_owned(), Nanos(87))]);
        let seen = CallPath { tracer: "tracepoints".to_owned(), ..path() };
        assert_eq!(seen.stalls(), [("submit_bio_noacct".to_owned(), Nanos(87))]);
    }

    #[test]
    fn what_a_file_system_registered_is_what_others_call_of_it() {
        let found = path().registered();
        assert_eq!(found, ["vfs_read -> ext4_file_read_iter", "filemap_read -> ext4_readahead"]);
        let seen = CallPath { tracer: "tracepoints".to_owned(), ..path() };
        assert!(seen.registered().is_empty(), "a tracepoint does not tell who called");
    }

    #[test]
    fn impossible_times_add_up_to_the_end_of_the_range() {
        let steps = vec![step(0, "vfs_read", 1), step(1, "io_schedule", u64::MAX), step(1, "io_schedule", u64::MAX)];
        let path = CallPath { tracer: "tracepoints".to_owned(), steps, ..CallPath::default() };
        assert_eq!(path.by_layer()[&Layer::Waiting], Nanos(u64::MAX));
        assert_eq!(path.stalls(), [("vfs_read".to_owned(), Nanos(u64::MAX))]);
    }
}
