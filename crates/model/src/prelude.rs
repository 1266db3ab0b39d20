//! What models are written with.

pub(crate) use std::collections::{BTreeMap, HashMap};

pub(crate) use ramline_snapshot::cgroup::{Group, Version};
pub(crate) use ramline_snapshot::meminfo::Meminfo;
pub(crate) use ramline_snapshot::processes::{Process, Processes};
pub(crate) use ramline_snapshot::{Snapshot, Window};
pub(crate) use ramline_units::{Bytes, Deserialize, JsonSchema, Limit, Nanos, PageSize, Pages, Serialize};

pub(crate) use crate::SignedBytes;
pub(crate) use crate::worded::worded;
