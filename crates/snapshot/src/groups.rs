//! All memory control groups: the tree, each group with its memory files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unseen;
use crate::cgroup::{Group, Version};

/// The tree of memory control groups as seen from here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Groups {
    /// Interface; `None` where there is no memory controller.
    pub version: Option<Version>,
    /// Every group, a parent before its children, names in order.
    pub list: Vec<Group>,
    /// The walk reached the end within its bounds.
    pub complete: bool,
    /// Groups that vanished while they were read.
    pub vanished: u64,
    /// Files that could not be used.
    pub unseen: Vec<Unseen>,
}
