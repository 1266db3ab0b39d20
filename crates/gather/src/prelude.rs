//! What readers are written with.

pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub(crate) use std::fs;
pub(crate) use std::fs::File;
pub(crate) use std::os::fd::OwnedFd;
pub(crate) use std::os::unix::fs::MetadataExt;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_kernel::Root;
pub(crate) use ramline_kernel::kernel_file::read_text;
pub(crate) use ramline_snapshot::meminfo::Meminfo;
pub(crate) use ramline_snapshot::processes::{Process, Processes};
pub(crate) use ramline_snapshot::{Seen, Unseen};
pub(crate) use ramline_units::{Bytes, Nanos};

pub(crate) use crate::proc_dir::{ProcDir, pids};
