//! Kills by programs in user space, and the kernel's kills as other programs report them.

use super::stamp::Stamp;
use crate::prelude::*;

/// Who reports a kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DaemonKind {
    /// systemd-oomd, which kills by groups.
    #[default]
    SystemdOomd,
    /// earlyoom.
    EarlyOom,
    /// nohang.
    Nohang,
    /// The kubelet, which evicts pods.
    Kubelet,
    /// Android's lmkd, and the driver before it.
    Lmkd,
    /// A container's runtime or the kubelet, of a kill by the kernel.
    Container,
    /// systemd, of a kill by the kernel.
    Systemd,
}

/// What the line names as its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// No reason.
    #[default]
    Unknown,
    /// A share of time in which tasks waited for memory.
    Pressure,
    /// A threshold of available memory, of swap or of a zone.
    Threshold,
    /// Something else than memory, or a reading that cannot be.
    NotMemory,
}

/// A kill, an eviction, or a moment of low memory without one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DaemonKill {
    /// Who reports it.
    pub kind: DaemonKind,
    /// When.
    pub at: Option<Stamp>,
    /// Something was killed, or chosen for it.
    pub killed: bool,
    /// The end of the process was seen. That is no proof of who ended it.
    pub exited: bool,
    /// The process, unit or pod.
    pub victim: Option<String>,
    /// The process's number.
    pub pid: Option<u32>,
    /// What it held in RAM.
    pub rss: Option<Bytes>,
    /// What it held in swap.
    pub swap: Option<Bytes>,
    /// The reason, by its kind.
    pub policy: Policy,
    /// The reason, in the line's words.
    pub reason: Option<String>,
    /// Available memory in percent.
    pub available_percent: Option<f64>,
    /// Free swap in percent.
    pub swap_free_percent: Option<f64>,
    /// RAM, where a line names it.
    pub ram: Option<Bytes>,
}

/// What a line of theirs means for what was seen before.
#[derive(Debug)]
pub(super) enum DaemonLine {
    /// A kill.
    Kill(Box<DaemonKill>),
    /// The process of the last kill ended.
    Exited,
    /// A line of theirs that adds something to the next.
    Noted,
}
