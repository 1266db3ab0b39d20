//! What records and tables are written with.

pub(crate) use std::collections::BTreeMap;

pub(crate) use ramline_units::{Bytes, JsonSchema, Nanos};
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::measurement::Measurement;
pub(crate) use crate::record::RunRecord;
pub(crate) use crate::sample::Sample;
pub(crate) use crate::study;
pub(crate) use crate::study::Comparison;
