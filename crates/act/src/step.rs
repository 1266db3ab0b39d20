//! The steps a run can take. A step holds what is needed to undo it, and to recognise that what is undone is ours.

use std::path::PathBuf;

use ramline_kernel::cgroup::Setting;
use ramline_kernel::{FileKey, zram};
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};

/// One change to the machine. What is known only afterwards is `None` in the record written before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the doc of each variant names its fields")]
pub enum Step {
    /// A directory of ours.
    MakeDir { path: PathBuf, id: Option<FileKey> },
    /// A directory of ours with all that is put into it: a workload's files are too many to announce each.
    MakeTree { path: PathBuf, id: Option<FileKey> },
    /// A file of ours.
    MakeFile { path: PathBuf, id: Option<FileKey> },
    /// `/dev/loop<number>` over `file`; `existing` were there before, `None` where an older version did not say.
    AttachLoop {
        file: PathBuf,
        number: Option<u32>,
        #[serde(default)]
        existing: Option<Vec<u32>>,
    },
    /// `what` mounted at `at`.
    Mount { what: PathBuf, at: PathBuf, fs: String },
    /// The memory controller given to the children of a cgroup, by its `cgroup.subtree_control`.
    EnableMemory { path: PathBuf },
    /// A memory cgroup of ours.
    MakeCgroup { path: PathBuf },
    /// A process moved from one group to one of ours.
    MoveProcess { pid: u32, start: u64, from: PathBuf, to: PathBuf },
    /// A trace buffer of ours with all its settings, in a mounted tracefs.
    MakeTrace { path: PathBuf },
    /// A process, in a group if one is named.
    SpawnInto { group: Option<PathBuf>, pid: Option<u32>, start: Option<u64> },
    /// `/dev/zram<id>`; `existing` were there before. Numbers are used again, so `identity` tells ours from a later one.
    HotAddZram {
        id: Option<u32>,
        #[serde(default)]
        identity: Option<zram::Identity>,
        existing: Vec<u32>,
    },
    /// A swap area with a header of ours.
    SwapOn { path: PathBuf, priority: Option<i32>, uuid: String },
    /// The memory limit of a group that is not ours, which is changed often while the run lasts: `before` is put back, unless by then it has a
    /// limit above `most`, the highest of ours.
    LimitGroup { path: PathBuf, before: Vec<Setting>, most: Bytes },
    /// A knob of the kernel; `after` is what was asked for until the kernel's own answer is known.
    SetKnob { path: PathBuf, before: String, after: String },
}

impl Step {
    /// The object in a few words, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Step::MakeDir { path, .. } => format!("directory {}", path.display()),
            Step::MakeTree { path, .. } => format!("directory {} and what is in it", path.display()),
            Step::MakeFile { path, .. } => format!("file {}", path.display()),
            Step::AttachLoop { file, number: Some(number), .. } => {
                format!("loop device /dev/loop{number} over {}", file.display())
            }
            Step::AttachLoop { file, number: None, .. } => format!("loop device over {}", file.display()),
            Step::Mount { at, fs, .. } => format!("{fs} mounted at {}", at.display()),
            Step::EnableMemory { path } => format!("the memory controller enabled at {}", path.display()),
            Step::MakeCgroup { path } => format!("cgroup {}", path.display()),
            Step::MoveProcess { pid, to, .. } => format!("process {pid} in cgroup {}", to.display()),
            Step::MakeTrace { path } => format!("trace instance {}", path.display()),
            Step::SpawnInto { pid: Some(pid), .. } => format!("process {pid}"),
            Step::SpawnInto { pid: None, .. } => "a process".to_owned(),
            Step::HotAddZram { id: Some(id), .. } => format!("zram device /dev/zram{id}"),
            Step::HotAddZram { id: None, .. } => "a zram device".to_owned(),
            Step::SwapOn { path, .. } => format!("swap area {}", path.display()),
            Step::LimitGroup { path, .. } => format!("the memory limit of cgroup {}", path.display()),
            Step::SetKnob { path, before, after } => format!("{} at {after} (was {before})", path.display()),
        }
    }
}
