//! What rules and topics are written with.

pub(crate) use ramline_evidence::RunRecord;
pub(crate) use ramline_model::pressure::REFAULTS_PER_S;
pub(crate) use ramline_model::{available, balance, pressure, tmpfs, watermarks};
pub(crate) use ramline_snapshot::processes::Process;
pub(crate) use ramline_snapshot::swaps::SwapArea;
pub(crate) use ramline_snapshot::{Snapshot, Wanted, Window};
pub(crate) use ramline_units::{Bytes, Limit, Nanos, Pages};

pub(crate) use crate::explain::topic::{LIGHT, unseen};
pub(crate) use crate::finding::{Draft, Setting, Way};
pub(crate) use crate::look::{self, Cost, Refaults};
pub(crate) use crate::text::{AddEvidence, bytes_of, capital, evidence, list, lower, nanos_of, percent, rate, word};
pub(crate) use crate::{Area, Change, Confidence, Evidence, Explanation, Inputs, Rule, Topic, Tune, Weight};
