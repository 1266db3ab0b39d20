//! The names nearly every experiment is written with.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::fs::{File, OpenOptions};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_act::Run;
pub(crate) use ramline_evidence::rng::SplitMix64;
pub(crate) use ramline_evidence::{Arm, Better, Figure, Phase, RunRecord, Sample, SwapKind, Verdict};
pub(crate) use ramline_gather::gather;
pub(crate) use ramline_gather::headroom::memory_headroom;
pub(crate) use ramline_kernel::cgroup::{Group, GroupStat, Hierarchy, Version};
pub(crate) use ramline_kernel::map::{Advice, Map, Sharing};
pub(crate) use ramline_kernel::place::Place;
pub(crate) use ramline_kernel::{Root, input, process, residency, swap, zram, zswap};
pub(crate) use ramline_model::settings::Knob;
pub(crate) use ramline_sandbox::child::{self, End, Event, ReadMethod, Request, Response, Supervisor, Worker};
pub(crate) use ramline_sandbox::error::{LabError, Result, first_line};
pub(crate) use ramline_sandbox::fill::{Fill, Filler, small_pages};
pub(crate) use ramline_sandbox::observe::Observer;
pub(crate) use ramline_sandbox::own_fs::{OwnFs, image_size};
pub(crate) use ramline_sandbox::progress::Progress;
pub(crate) use ramline_sandbox::requirements::{
    self, Caller, Check, PRIORITY, Reason, Requirements, Resources, Tool, consent, is_unprivileged, margin,
    scratch_line,
};
pub(crate) use ramline_sandbox::{arm, group, knobs, observe, scratch};
pub(crate) use ramline_snapshot::Wanted;
pub(crate) use ramline_units::{Bytes, Limit, Nanos, command_line};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Value, json};

pub(crate) use crate::experiment::{Bench, Experiment, PlannedSeries, Series, Study, counted, prepared};
pub(crate) use crate::figures::Figures;
pub(crate) use crate::params::{
    self, COMMAND, Parameter, ParameterKind as Kind, Params, check_read_ahead, refuse_if, row,
};
