//! Setting a knob for a run, where the settings table says it works: in the group, or of the whole machine.

use ramline_kernel::write::{Change, write_knob};
use ramline_model::settings::{Home, Knob, Place, home};

use crate::prelude::*;

/// The column of the table for groups of this version.
#[must_use]
pub const fn place(version: Version) -> Place {
    match version {
        Version::V1 => Place::CgroupV1,
        Version::V2 => Place::CgroupV2,
    }
}

/// The file of a knob of the whole machine.
#[must_use]
pub fn file(root: &Root, knob: Knob) -> Option<PathBuf> {
    match home(knob, Place::Native) {
        Home::Machine(path, _) => Some(root.path(path)),
        _ => None,
    }
}

/// Sets it: a file of the group goes with the group, one of the machine is put back through the journal.
///
/// # Errors
/// It cannot be written, or there is no such file.
pub fn set(knob: Knob, value: &str, group: &Group, run: &mut Run) -> Result<Change> {
    match home(knob, place(group.version())) {
        Home::Group(file, _) => Ok(write_knob(&group.dir().join(file), value)?),
        Home::Machine(path, _) => Ok(run.set_knob(&run.root().path(path), value)?),
        _ => {
            Err(KernelError::unsupported(format!("set {knob:?} for"), group.dir(), "it is not set by one file").into())
        }
    }
}
