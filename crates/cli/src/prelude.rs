//! What commands are written with.

pub(crate) use std::ffi::OsString;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::ExitCode;
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use anyhow::{Result, ensure};
pub(crate) use clap::{Args, Subcommand};
pub(crate) use ramline_act::{ActError, RunLock, StateDir};
pub(crate) use ramline_gather::Walking;
pub(crate) use ramline_kernel::{Cause, KernelError, Root, input, process, signals, stdio};
pub(crate) use ramline_lab::store::RunFolder;
pub(crate) use ramline_pagecache::walk::WalkOptions;
pub(crate) use ramline_pagecache::{Context, RunningCount};
pub(crate) use ramline_snapshot::{Snapshot, Wanted, Window};
pub(crate) use ramline_units::{Bytes, Nanos};
pub(crate) use ramline_view::cache::Rows;
pub(crate) use ramline_view::sheet::Depth;
pub(crate) use ramline_view::text::Style;
pub(crate) use ramline_view::{Mode, Screen, Versioned, cache};
pub(crate) use serde::Serialize;

pub(crate) use crate::choice::{Choice, choices};
pub(crate) use crate::exit::{self, Failure};
pub(crate) use crate::output::{self, Format, Shown};
pub(crate) use crate::progress::Terminal;
pub(crate) use crate::readings::SourceReadings;
pub(crate) use crate::source::{Source, SourceKind};
pub(crate) use crate::{consent, duration, place, remembered, state, whom};
