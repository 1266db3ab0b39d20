//! What commands on cached files are written with.

pub(crate) use std::collections::{HashMap, HashSet};
pub(crate) use std::fs::File;
pub(crate) use std::io;
pub(crate) use std::os::fd::{AsFd, OwnedFd};
pub(crate) use std::os::unix::ffi::OsStrExt;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_kernel::limits::Limited;
pub(crate) use ramline_kernel::{FileKey, KernelError, Root, Tried, process, residency, signals, worker};
pub(crate) use ramline_snapshot::cache::{FileRow, Remark, Tally};
pub(crate) use ramline_units::Bytes;
pub(crate) use rustix::io::Errno;

pub(crate) use crate::hotset::Entry;
pub(crate) use crate::shared::{Count, Remarks, bytes, evictors, lock, name};
pub(crate) use crate::walk::{FoundFile, Place, Visit, WalkOptions};
pub(crate) use crate::{Context, evict, hotset, walk};
