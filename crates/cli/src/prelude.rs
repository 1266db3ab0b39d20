//! What commands are written with.

pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::Duration;

pub(crate) use anyhow::{Result, ensure};
pub(crate) use clap::{Args, Subcommand};
pub(crate) use ramline_kernel::{Root, process, signals};
pub(crate) use ramline_snapshot::{Wanted, Window};
pub(crate) use ramline_units::{Bytes, Nanos};
pub(crate) use ramline_view::sheet::Depth;
pub(crate) use ramline_view::{Screen, Versioned};

pub(crate) use crate::choice::{Choice, choices};
pub(crate) use crate::exit::{self, Failure};
pub(crate) use crate::looks::Looks;
pub(crate) use crate::output::{self, Format, Shown};
pub(crate) use crate::progress::Terminal;
pub(crate) use crate::source::Source;
pub(crate) use crate::{consent, duration, place, remembered, state, whom};
