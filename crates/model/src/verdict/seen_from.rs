//! From where the machine is seen: from inside a container or a virtual machine MemTotal is not a machine's.

use ramline_snapshot::machine::Machine;

use crate::prelude::*;

/// Whose memory MemTotal is, where it is not a machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// A container's, as lxcfs makes it.
    Lxcfs,
    /// The virtual machine's of WSL 2, not that of Windows.
    Wsl,
}

impl View {
    pub(super) fn from_machine(machine: &Machine) -> Option<View> {
        if machine.meminfo_by_lxcfs() {
            Some(View::Lxcfs)
        } else if machine.is_wsl() {
            Some(View::Wsl)
        } else {
            None
        }
    }

    /// A sentence for below the first line.
    pub(super) const fn words(self) -> &'static str {
        match self {
            View::Lxcfs => {
                "A container with lxcfs: /proc/meminfo is made for it; what is the host's is left out, and waiting is counted there."
            }
            View::Wsl => {
                "WSL 2: this is the memory of its virtual machine, `memory=` in .wslconfig, not that of Windows."
            }
        }
    }
}
