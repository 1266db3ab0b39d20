//! What to do: findings with evidence, and explanations in the reader's own numbers.
//!
//! What it is: rules over a snapshot, a window and measurements; one file a rule, one table. What it is
//! not: it changes nothing and reads nothing; the change a finding names is shown, not applied.
//!
//! A rule fires only on what it saw: a counter since boot is never judged as a rate, a section that was
//! not seen makes a rule silent, and nothing is recommended that is already on.
//!
//! ```
//! use ramline_advice::{Inputs, explain, findings};
//! use ramline_snapshot::{Seen, Snapshot, machine::Machine, meminfo::Meminfo};
//! let mut seen = Snapshot::new(Machine::default());
//! seen.meminfo = Seen::new(Meminfo::parse("meminfo", "MemTotal: 4096 kB\nMemAvailable: 3072 kB\n")?);
//! let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
//! assert_eq!(findings(&inputs)[0].id, "nothing-to-change");
//! assert!(explain("avialable", &inputs).unwrap_err().to_string().contains("ramline explain available"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod caches;
mod explain;
mod finding;
mod findings;
mod headline;
mod in_group;
pub mod kill;
mod look;
pub mod planning;
mod prelude;
mod slip;
mod text;

pub use explain::{
    Area, Explanation, TOPICS, Topic, UnknownTopic, also, closest_topics, explain, topic_named, topic_of_question,
};
pub use finding::{Change, Confidence, Evidence, Finding, Inputs, Rule, Tune, Weight};
pub use findings::{NotLooked, RULES, findings, not_looked};
pub use headline::{FIRST_LINE, FIRST_LINE_OVER_TIME, headline, with_findings};
pub use planning::{NotPlanned, findings_on, planned_finding};
pub use slip::slip;
