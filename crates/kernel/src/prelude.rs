//! What nearly every file of this crate is written with.

pub(crate) use std::ffi::OsStr;
pub(crate) use std::fs::{File, OpenOptions};
pub(crate) use std::os::fd::{AsFd, AsRawFd, OwnedFd};
pub(crate) use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::Command;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_units::{Bytes, Limit};
pub(crate) use rustix::fs::{OFlags, Stat, openat};
pub(crate) use rustix::io::Errno;

pub(crate) use crate::kernel_file::{read_text, read_u64};
pub(crate) use crate::sys::check;
pub(crate) use crate::write::{Change, write_knob};
pub(crate) use crate::{KernelError, Result, Root, Tried, mount, process};
