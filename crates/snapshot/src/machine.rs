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
    /// Its memory nodes, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeMemory>,
    /// Its files were copied by another program than ramline (no `meta.json`): one that is not there may be there on the machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// Of a capture: there is no second moment of it. Whoever reads one sets it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub captured: bool,
}

/// One memory node (`/sys/devices/system/node/nodeN`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeMemory {
    /// Its number.
    pub node: u32,
    /// MemTotal of its `meminfo`.
    pub total: Bytes,
    /// MemFree of it.
    pub free: Bytes,
    /// Whether it has processors; `None` where neither `cpulist` nor `cpumap` was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_cpus: Option<bool>,
}

impl NodeMemory {
    /// From the number and the texts of its `meminfo` (`Node 0 MemTotal: 16303964 kB`), `cpulist` (empty without processors) and
    /// `cpumap` (then nothing but zeros), which is as good where the list is missing.
    #[must_use]
    pub fn from_texts(node: u32, meminfo: &str, cpulist: Option<&str>, cpumap: Option<&str>) -> Option<Self> {
        let of = |key: &str| {
            let line = meminfo.lines().find_map(|line| line.split_once(key)?.1.trim().strip_suffix("kB"))?;
            Some(Bytes::from_kib(line.trim().parse().ok()?))
        };
        let in_map = |map: &str| map.chars().any(|c| c.is_ascii_hexdigit() && c != '0');
        let has_cpus = cpulist.map(|list| !list.trim().is_empty()).or_else(|| cpumap.map(in_map));
        Some(NodeMemory { node, total: of(" MemTotal:")?, free: of(" MemFree:")?, has_cpus })
    }
}

impl Machine {
    /// Memory of nodes that are known to have no processors: a graphics card's, CXL, persistent memory.
    pub fn nodes_without_cpus(&self) -> impl Iterator<Item = &NodeMemory> {
        self.nodes.iter().filter(|node| node.has_cpus == Some(false) && node.total.0 > 0)
    }

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
            nodes: Vec::new(),
            copied: false,
            captured: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_an_empty_list_of_processors_has_none_and_without_a_list_it_is_not_known() {
        let text = "Node 7 MemTotal:       2097152 kB\nNode 7 MemFree:        1048576 kB\nNode 7 MemUsed: 1 kB\n";
        let node = |list| NodeMemory::from_texts(7, text, list, None).unwrap();
        assert_eq!((node(Some("\n")).total, node(Some("\n")).free), (Bytes::from_gib(2), Bytes::from_gib(1)));
        assert_eq!([Some("\n"), Some("0-3\n"), None].map(|list| node(list).has_cpus), [Some(false), Some(true), None]);
        let by_map = |map| NodeMemory::from_texts(7, text, None, Some(map)).unwrap().has_cpus;
        assert_eq!(["0000,00000000\n", "0000,00000003\n"].map(by_map), [Some(false), Some(true)]);
        assert_eq!(NodeMemory::from_texts(7, "Node 7 MemTotal: x kB\n", None, None), None);
    }
}
