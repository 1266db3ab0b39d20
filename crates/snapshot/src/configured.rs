//! Settings as files configure them for the next boot: `sysctl.d` in the order in which it is read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of a sysctl file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Setting {
    /// The knob: `vm.swappiness`.
    pub key: String,
    /// Its value, as text.
    pub value: String,
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

/// What the files say, in the order in which it takes effect: of one key the last wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Configured {
    /// Every setting below `vm.`, in order of effect.
    pub settings: Vec<Setting>,
}
