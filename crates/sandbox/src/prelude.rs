//! What this crate is written with.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::fs::File;
pub(crate) use std::os::unix::process::ExitStatusExt;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::{Command, ExitStatus, Stdio};
pub(crate) use std::thread::JoinHandle;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_act::Run;
pub(crate) use ramline_evidence::rng::SplitMix64;
pub(crate) use ramline_evidence::{RunMachine, RunRecord, Sample, SwapKind, Verdict};
pub(crate) use ramline_gather::gather;
pub(crate) use ramline_kernel::cgroup::{Group, Hierarchy, Version};
pub(crate) use ramline_kernel::map::Map;
pub(crate) use ramline_kernel::process::Usage;
pub(crate) use ramline_kernel::{KernelError, Root, process, swap};
pub(crate) use ramline_snapshot::Wanted;
pub(crate) use ramline_units::{Bytes, Nanos, command_line};
pub(crate) use serde::de::DeserializeOwned;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::Value;

pub(crate) use crate::error::{LabError, Result};
pub(crate) use crate::scratch;
