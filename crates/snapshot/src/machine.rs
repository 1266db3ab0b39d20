//! What no file of /proc says by itself: page size, tick rate, who looks, and where.

use crate::prelude::*;

/// The machine and the circumstances of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// Kernel release, for the record: abilities are probed, never derived from it.
    pub kernel: String,
    /// The host's name; `None` where it was not seen, or is not to be shown.
    pub host: Option<String>,
    /// Architecture.
    pub arch: String,
    /// Base page size.
    pub page_size: PageSize,
    /// Clock ticks a second in /proc (`_SC_CLK_TCK`).
    pub ticks_per_s: u64,
    /// CPUs online.
    pub cpus: u64,
    /// Of a captured tree: why what goes with its files (`meta.json`) could not be used, so that this is not that machine's.
    pub unseen: Option<Unseen>,
    /// Identifies one boot; a window needs two snapshots of the same.
    pub boot_id: Option<String>,
    /// Time since boot, suspended time included.
    pub uptime: Option<Nanos>,
    /// Wall clock, nanoseconds since 1970.
    pub taken_unix_ns: Option<u64>,
    /// The effective user is root.
    pub root: bool,
    /// Name of the container technology when inside one.
    pub container: Option<String>,
    /// Name of the hypervisor when known, "unknown" when there is one without a name.
    pub hypervisor: Option<String>,
    /// Files below /proc that lxcfs serves: they are this container's, the others the host's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lxcfs: Vec<String>,
    /// Size of the free blocks that a balloon device reports to the hypervisor; `None` where none does.
    pub free_page_reporting: Option<Bytes>,
    /// A virtio balloon gives pages back before the kernel kills (`VIRTIO_BALLOON_F_DEFLATE_ON_OOM`), and MemTotal then counts what it holds; `None`
    /// without such a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balloon_deflates_on_oom: Option<bool>,
}

impl Machine {
    /// `/proc/meminfo` is made by lxcfs for this container.
    #[must_use]
    pub fn meminfo_by_lxcfs(&self) -> bool {
        self.lxcfs.iter().any(|path| path == "/proc/meminfo")
    }

    /// Windows Subsystem for Linux, version 2: a virtual machine on Windows. Its kernels carry the name in their release.
    #[must_use]
    pub fn is_wsl(&self) -> bool {
        let release = self.kernel.to_ascii_lowercase();
        release.contains("microsoft") || release.contains("wsl2")
    }

    /// How much of the free memory may be in no counter for a moment, because it is being reported to the hypervisor: the kernel
    /// takes up to 32 blocks off the free lists at a time (PAGE_REPORTING_CAPACITY of mm/page_reporting.h). Twice that was seen
    /// missing on a 6.18 kernel with a reporter of its own, and so twice that is allowed for.
    #[must_use]
    pub fn in_report(&self) -> Bytes {
        Bytes(self.free_page_reporting.map_or(0, |block| block.0.saturating_mul(64)))
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            kernel: String::new(),
            host: None,
            arch: String::new(),
            page_size: PageSize(4096),
            ticks_per_s: 100,
            cpus: 1,
            unseen: None,
            boot_id: None,
            uptime: None,
            taken_unix_ns: None,
            root: false,
            container: None,
            hypervisor: None,
            lxcfs: Vec::new(),
            free_page_reporting: None,
            balloon_deflates_on_oom: None,
        }
    }
}
