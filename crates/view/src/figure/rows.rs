//! What the schemas cannot know of a number: its source, its names on the screens, what makes it large, its topic.
//!
//! One row a path, or a part of a document: a number takes each entry from the longest row it lies below that has one, so
//! that a new field needs a row only where it differs. `DOCUMENT:PATH` is of one document, `PATH` of any.

use super::FigureScope;

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The path it is for and everything below it; `DOCUMENT:` alone is a whole document.
    pub at: &'static str,
    /// The names it has on the screens.
    pub labels: &'static [&'static str],
    /// The file and key, or the formula.
    pub source: &'static str,
    /// What makes it large.
    pub large: &'static str,
    /// The topic of `explain`.
    pub topic: &'static str,
    /// Its unit, where the type and the description do not tell.
    pub unit: &'static str,
    /// Its scope, where the description does not tell.
    pub scope: Option<FigureScope>,
}

const NONE: Row = Row { at: "", labels: &[], source: "", large: "", topic: "", unit: "", scope: None };

const fn row(at: &'static str, source: &'static str, topic: &'static str) -> Row {
    Row { at, source, topic, ..NONE }
}

impl Row {
    const fn named(mut self, labels: &'static [&'static str]) -> Row {
        self.labels = labels;
        self
    }

    const fn large(mut self, when: &'static str) -> Row {
        self.large = when;
        self
    }

    const fn unit(mut self, unit: &'static str) -> Row {
        self.unit = unit;
        self
    }

    const fn scope(mut self, scope: FigureScope) -> Row {
        self.scope = Some(scope);
        self
    }
}

const ZONES: &str = "/proc/zoneinfo";
const MM_STAT: &str = "/sys/block/zramN/mm_stat and the formula of its meaning";
const FLOW: &str = "/proc/vmstat pswpin, pswpout, swpin_zero, swpout_zero, zswpin, zswpout over the window";
const OWNERS: &str = "/proc/PID/pagemap (root) or VmSwap, mm_stat, and zram's block_state or a sample of the slots";
const RUN: &str = "the record of a run in the sandbox: counters before and after, samples every 100 ms";

/// The table.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    // Whole documents: what holds unless a row below says more.
    row("show-memory:", "the formula of its description, from /proc/meminfo, /proc/zoneinfo and /proc/vmstat", "used"),
    row("show-tiers:", "the formula of its description, from /proc/meminfo, /proc/swaps, statfs and mm_stat", "available"),
    row("show-zram:", MM_STAT, "zram-ratio"),
    row("show-swap:", "/proc/swaps, /proc/vmstat and the settings in /proc/sys/vm", "swap-in-use"),
    row("show-tmpfs:", "statfs of each mount, walks of the directories, /proc/meminfo Shmem", "tmpfs"),
    row("show-pressure:", "/proc/pressure, /proc/vmstat and /proc/zoneinfo", "pressure"),
    row("show-processes:", "/proc/PID/stat, statm, status, cgroup, and smaps_rollup where it was walked", "rss-pss"),
    row("show-cgroups:", "the memory files of each control group (memory.current, memory.stat, memory.events)", "cgroup-memory"),
    row("show-maps:", "/proc/PID/smaps, or mincore and cachestat of the mapped files", "page-cache"),
    row("show-translate:", "the formula each tool uses, on /proc/meminfo and the files of control groups", "used"),
    row("checkup:", "the formula of its description, from the second snapshot of the checkup", "pressure"),
    row("checkup-comparison:", "the later checkup less the earlier one", "pressure").scope(FigureScope::Change),
    row("tier-report:", "measure tiers: timed accesses, one page each", "swappiness").scope(FigureScope::Measured),
    row("proof-table:", RUN, "no-swap").scope(FigureScope::Measured),
    row("run-record:", RUN, "no-swap").scope(FigureScope::Measured),
    row("explanation:", "the numbers of the answer carry their own sources", "used").scope(FigureScope::Fact),
    row("snapshot:", "the kernel's file of the section's name, unchanged", "used"),
    row("schema_version", "the program: documents of one version have the same fields", "used").unit("number").scope(FigureScope::Fact),
    // The ledger.
    row("ledger", "/proc/meminfo, /proc/zoneinfo and /proc/vmstat, every byte on one line", "used"),
    row("ledger.total", "/proc/meminfo MemTotal", "used")
        .named(&["MemTotal", "total"])
        .large("the machine has much RAM; what firmware, the kernel's image and the page descriptors took is not in it")
        .scope(FigureScope::Fact),
    row("ledger.lines[].bytes", "/proc/meminfo, /proc/zoneinfo or /proc/vmstat; ask for the line by its name", "used")
        .named(&["bytes"])
        .large("its owner holds much; the line says who"),
    row("ledger.locked", "/proc/meminfo AnonPages + Shmem less Active(anon) + Inactive(anon), at most Unevictable", "used")
        .named(&["locked memory"])
        .large("programs lock memory (mlock, SHM_LOCK) so that it is never reclaimed"),
    row("ledger.leftover", "MemTotal less every line", "kernel-memory")
        .named(&["leftover"])
        .large("drivers, pipes and unix sockets took pages that no counter has, or counters moved between two reads"),
    row("ledger.leftover_share", "leftover / MemTotal", "kernel-memory").named(&["share of the leftover"]),
    row("ledger.bound", "/proc/zoneinfo vm stats threshold x CPUs, for every counter used", "used")
        .named(&["bound", "error of the counters"])
        .large("there are many CPUs, each of which may hold changes back"),
    row("ledger.in_report", "/sys/module/page_reporting, and the features of the balloon device; 64 blocks at most at a time", "kernel-memory")
        .named(&["in report", "free page reporting"])
        .large("a hypervisor learns which memory is free, so that it can use it elsewhere"),
    row("ledger.counters", "the program: counters that make up the lines", "used").unit("counters").scope(FigureScope::Fact),
    row("ledger.outside", "/proc/vmstat nr_memmap_boot_pages, and the size of RAM and page", "used")
        .named(&["outside MemTotal", "page descriptors"])
        .large("there is much RAM: 64 bytes for every page of 4 KiB")
        .scope(FigureScope::Fact),
    row("pieces", "sums of the lines of the ledger; the leftover is with the kernel, or a piece where it is large", "used")
        .named(&["P processes", "T tmpfs and shared memory", "L locked", "H huge pages", "Z compressed", "k kernel", "B balloon of the hypervisor", "G graphics memory", "S kernel objects in use (slab)", "? in no counter (drivers)", "A ZFS cache (ARC)", "d page cache, to be written", "c page cache", ". free"])
        .large("its owner holds much; --all has it line by line"),
    row("drift", "the later ledger less the earlier one", "used").scope(FigureScope::Change).named(&["drift"]),
    row("drift.span", "boot-time clock of the two snapshots", "used").scope(FigureScope::Fact),
    row("verdict", "/proc/pressure/memory, /proc/vmstat refaults and the ledger", "pressure"),
    row("verdict.available", "/proc/meminfo MemAvailable, or what our group's limit leaves if that is less", "available")
        .named(&["available"])
        .large("much is free or clean cache; the part of that cache in use would be missed"),
    row("verdict.machine_available", "/proc/meminfo MemAvailable, and what the ZFS cache gives back", "available"),
    row("verdict.arc", "/proc/spl/kstat/zfs/arcstats size - c_min, as far as it is evictable", "available"),
    row("verdict.cache_in_use", "/proc/meminfo Active(file), at most what is available", "available"),
    row("verdict.deciding", "the number that decides the status", "pressure").scope(FigureScope::Fact),
    row("verdict.total", "/proc/meminfo MemTotal, or the limit of our group", "used").scope(FigureScope::Fact),
    row("verdict.group", "the memory files of our group: memory.max, memory.current, memory.stat inactive_file", "cgroup-memory"),
    row("verdict.to_low", "free less low, reserves left out: /proc/zoneinfo", "watermarks"),
    // The tiers.
    row("show-tiers:tiers", "as on the screen of that tier: /proc/meminfo, /proc/swaps, mm_stat, statfs", "available"),
    row("tiers[].used", "/proc/meminfo, /proc/swaps used, or size less free by statfs", "available")
        .named(&["uses", "in swap", "tier uses"])
        .large("much was put there and nothing has needed the room"),
    row("tiers[].capacity", "/proc/swaps size, or statfs size", "available").named(&["of", "capacity"]).scope(FigureScope::Fact),
    row("tiers[].ram", "what it holds, or mm_stat mem_used_total for compressed pages", "zram-ratio")
        .named(&["RAM it takes"])
        .large("it holds much, or what it holds does not compress"),
    row("tiers[].gives_way", "the order of reclaim for this set-up (the program)", "swap-order").named(&["reclaimed"]).unit("place in order").scope(FigureScope::Fact),
    row("tiers[].cost", "measure tiers", "swappiness").scope(FigureScope::Measured).named(&["p50", "p99"]),
    row("tiers[].latency", "measure tiers: one timed access of one page each, n of them", "swappiness")
        .named(&["latency", "mean", "median", "n", "operations"])
        .large("the device is slow or busy; p99 far above the median means a few long waits")
        .scope(FigureScope::Measured),
    row("tiers[].latency.n", "measure tiers: accesses timed", "swappiness").unit("accesses").scope(FigureScope::Measured),
    row("tiers[].throughput", "measure tiers: bytes over time, sequential", "read-ahead")
        .named(&["throughput", "sequential"])
        .unit("bytes a second")
        .scope(FigureScope::Measured),
    row("tiers[].throughput.n", "measure tiers: runs", "read-ahead").unit("runs").scope(FigureScope::Measured),
    row("took_s", "wall clock around the measurement", "swappiness").scope(FigureScope::Measured),
    row("balance", "vm.swappiness and the formula s(3T+1)/(T+a+1) against (200-s)(3T+1)/(T+f+1)", "swappiness").unit("share of 1"),
    row("balance.swappiness", "/proc/sys/vm/swappiness", "swappiness").named(&["vm.swappiness", "swappiness"]).unit("of 200").scope(FigureScope::Setting),
    row("swap_areas", "/proc/swaps, lines", "swap-order").unit("areas"),
    // zram.
    row("zram", MM_STAT, "zram-ratio"),
    row("zram.devices[].fields", "/sys/block/zramN/mm_stat, bd_stat, io_stat; ask for the field by its name", "zram-ratio").unit("by its own column"),
    row("zram.devices[].disksize", "/sys/block/zramN/disksize", "zram-limit").scope(FigureScope::Setting),
    row("zram.devices[].failed_writes", "/sys/block/zramN/io_stat failed_writes", "zram-limit").unit("events").large("the limit was reached, or every zone was at min"),
    row("zram.devices[].priority", "/proc/swaps Priority", "swap-order").named(&["swap priority"]).unit("number").scope(FigureScope::Setting),
    row("zram.devices[].outranked_by.priority", "/proc/swaps Priority", "swap-order").unit("number").scope(FigureScope::Setting),
    row("zram.devices[].gain.true_ratio", "(orig_data_size - same_pages - written back) / compr_data_size", "zram-ratio").named(&["true ratio"]).large("pages compress well"),
    row("zram.devices[].gain.zramctl_ratio", "orig_data_size / mem_used_total", "zram-ratio").named(&["zramctl's COMP-RATIO"]).large("pages compress well, or are of one byte, or were written back"),
    row("zram.devices[].gain.effective_ratio", "the same pages / mem_used_total", "zram-ratio").named(&["effective ratio"]).large("pages compress well and the allocator wastes little"),
    row("zram.devices[].gain.efficiency", "compr_data_size / mem_used_total", "zram-ratio").named(&["allocator efficiency"]).unit("share of 1").large("the pool is filled evenly; it falls when many pages were freed"),
    row("zram.devices[].gain.incompressible", "huge_pages / pages resident", "zram-ratio").named(&["incompressible"]).large("encrypted, compressed or random data was swapped"),
    row("zram.devices[].gain.headroom", "disksize - orig_data_size", "zram-limit").named(&["room left"]),
    row("zram.devices[].gain.limit_headroom", "mem_limit - mem_used_total", "zram-limit").named(&["room to the limit"]),
    row("zram.devices[].gain.limit_use", "mem_used_total / mem_limit", "zram-limit").named(&["limit in use"]).large("writes are about to fail"),
    row("zram.devices[].gain.full_cost", "disksize / effective ratio + slot table", "zram-ratio").named(&["RAM when full"]),
    row("zram.devices[].gain.capacity", "RAM - disksize/ratio + disksize", "zram-ratio").named(&["capacity when full"]),
    row("zram.devices[].gain.net_saved", "stored - mem_used_total - slot table", "zram-ratio").named(&["net gain"]),
    row("zram.devices[].gain.slot_table", "16 bytes for every page of disksize", "zram-ratio").named(&["slot table"]).large("the device is large, used or not").scope(FigureScope::Fact),
    row("zram.devices[].gain.mem_used", "/sys/block/zramN/mm_stat mem_used_total", "zram-ratio").named(&["zram RAM used"]),
    row("zram.devices[].gain.stored", "/sys/block/zramN/mm_stat orig_data_size", "zram-ratio").named(&["zram stored"]),
    row("show-zram:ram", "/proc/meminfo MemTotal", "used").scope(FigureScope::Fact),
    // Swap.
    row("swap", "/proc/swaps", "swap-in-use"),
    row("swap.areas[].turn", "/proc/swaps, sorted by priority", "swap-order").named(&["turn"]).unit("place in order").scope(FigureScope::Fact),
    row("swap.areas[].priority", "/proc/swaps Priority", "swap-order").named(&["priority"]).unit("number").scope(FigureScope::Setting),
    row("swap.areas[].size", "/proc/swaps Size", "swap-order").named(&["size", "size of the swap area"]).scope(FigureScope::Setting),
    row("swap.areas[].used", "/proc/swaps Used", "swap-in-use").named(&["uses", "swap area uses"]).large("idle pages were parked there; it counts uncompressed bytes, also on zram"),
    row("swap.areas[].share", "Used / Size", "swap-in-use").named(&["share", "share of the swap area"]),
    row("swap.total", "/proc/swaps Size, added up", "swap-in-use").named(&["swap total", "SwapTotal"]).scope(FigureScope::Setting),
    row("swap.used", "/proc/swaps Used, added up", "swap-in-use").named(&["in swap", "stock", "swap used"]).large("idle pages were parked there; only flow hurts"),
    row("swap.flow", FLOW, "swap-in-use").named(&["moving", "flow", "areas"]).large("RAM is made free (out), or tasks wait for pages (in)").scope(FigureScope::Rate),
    row("swap.flow.refaults_per_s", "/proc/vmstat workingset_refault_anon over the window", "swap-in-use").named(&["refaults from swap"]).unit("pages a second").scope(FigureScope::Rate),
    row("swap.verdict", FLOW, "swap-in-use"),
    row("show-swap:spill", "/proc/swaps: used of areas below zram", "swap-order").named(&["spilled"]).large("zram is full and its pages do not compress, or it is small"),
    row("owners", OWNERS, "swap-in-use"),
    row("owners.processes[].costs", OWNERS, "zram-ratio").named(&["costs in RAM"]).large("its pages do not compress"),
    row("owners.processes[].processes", OWNERS, "swap-in-use").unit("processes"),
    row("owners.groups[].processes", OWNERS, "swap-in-use").unit("processes"),
    row("owners.areas[].state", "/sys/kernel/debug/zram/zramN/block_state (root)", "zram-ratio").unit("pages"),
    row("owners.took", "wall clock around the look", "swap-in-use").scope(FigureScope::Measured),
    row("show-swap:read_ahead_pages", "2^vm.page-cluster: /proc/sys/vm/page-cluster", "page-cluster").named(&["swap read-ahead", "vm.page-cluster"]).unit("pages").scope(FigureScope::Setting),
    row("span", "boot-time clock of the two snapshots", "pressure").scope(FigureScope::Fact),
    row("pressure.span", "boot-time clock of the two snapshots", "pressure").scope(FigureScope::Fact),
    row("zswap", "/sys/module/zswap/parameters", "zram-vs-zswap").unit("percent").scope(FigureScope::Setting),
    // tmpfs.
    row("tmpfs", "statfs of each mount and /proc/meminfo Shmem", "tmpfs"),
    row("tmpfs.mounts[].used", "statfs: size less free", "tmpfs").named(&["uses", "tmpfs mount uses"]).large("files were left there; they stay until they are deleted"),
    row("tmpfs.mounts[].size", "statfs size, from the mount's size= option", "tmpfs").named(&["at most"]).scope(FigureScope::Setting),
    row("tmpfs.mounts[].share", "used / size", "tmpfs").named(&["share of the mount"]),
    row("tmpfs.mounts[].share_of_ram", "used / MemTotal", "tmpfs").named(&["of RAM"]),
    row("tmpfs.mounts[].inodes", "statfs inodes", "tmpfs").named(&["inodes"]).unit("inodes").scope(FigureScope::Setting),
    row("tmpfs.mounts[].inodes_used", "statfs: inodes less free ones", "tmpfs").unit("inodes").large("there are many small files"),
    row("tmpfs.limits", "the size of every mount, added up", "tmpfs").named(&["together they may hold"]).scope(FigureScope::Setting),
    row("tmpfs.limits_over_ram", "limits / MemTotal", "tmpfs").unit("times RAM").scope(FigureScope::Setting),
    row("tmpfs.elsewhere", "/proc/meminfo Shmem less the mounts", "shmem").named(&["of Shmem in no mount seen here", "elsewhere"]).large("programs share segments, memfd or graphics objects, or keep deleted files open"),
    row("tmpfs.used", "statfs of each mount, added up", "tmpfs").named(&["file systems in RAM"]),
    row("would_fit", "a walk of the directory against /proc/meminfo", "tmpfs"),
    row("would_fit[].need", "a walk: sizes rounded up to pages, with directories", "tmpfs").named(&["needs"]),
    row("would_fit[].cached", "cachestat or mincore of every file", "page-cache").named(&["in the page cache"]),
    row("would_fit[].inodes", "a walk: files and directories", "tmpfs").named(&["inodes it needs"]).unit("inodes"),
    row("would_fit[].inode_limit", "statfs, or one for every two pages of RAM", "tmpfs").unit("inodes").scope(FigureScope::Setting),
    row("would_fit[].inode_margin", "inode_limit - inodes", "tmpfs").named(&["inodes left"]).unit("inodes"),
    row("would_fit[].margins[].margin", "the limit of the model less what is needed", "tmpfs")
        .named(&["RAM/2 or mount", "half of free", "half of RAM", "available for tmp", "free + swap", "margin"])
        .large("there is room; negative: this model breaks"),
    row("would_fit[].margins[].limit", "/proc/meminfo, by the model's name", "tmpfs").named(&["limit of the model"]),
    // Pressure.
    row("pressure.memory", "/proc/pressure/memory", "psi"),
    row("pressure.io", "/proc/pressure/io", "psi"),
    row("pressure.cpu", "/proc/pressure/cpu", "psi"),
    row("pressure.memory.some.avg10", "/proc/pressure/memory some avg10", "psi").named(&["last 10 s", "memory, some task", "io, some task", "cpu, some task", "some task", "avg10", "memory"]).large("tasks reclaim by themselves, read back evicted pages or swap in"),
    row("pressure.memory.full.avg10", "/proc/pressure/memory full avg10", "psi").named(&["memory, all tasks", "io, all tasks", "all tasks", "full"]).large("nothing useful is done: every task waits"),
    row("pressure.memory.some.avg60", "/proc/pressure/memory some avg60", "psi").named(&["60 s", "avg60"]),
    row("pressure.memory.some.avg300", "/proc/pressure/memory some avg300", "psi").named(&["300 s", "avg300"]),
    row("pressure.memory.some.total_us", "/proc/pressure/memory some total", "psi").named(&["since boot", "stalled since boot"]),
    row("pressure.memory.some_percent", "growth of /proc/pressure/memory some total over the window", "psi").named(&["over", "stalled over the window"]).scope(FigureScope::Rate),
    row("pressure.io.some.avg10", "/proc/pressure/io some avg10", "psi").named(&["io", "waiting for I/O"]).large("tasks wait for disks, whatever for"),
    row("pressure.cpu.some.avg10", "/proc/pressure/cpu some avg10", "psi").named(&["cpu", "waiting for a CPU"]).large("more tasks want to run than there are CPUs"),
    row("pressure.rates", "/proc/vmstat over the window", "pressure").unit("pages a second").scope(FigureScope::Rate),
    row("pressure.rates.refault_file", "/proc/vmstat workingset_refault_file over the window", "page-cache")
        .named(&["refaults", "file refaults", "of files read again after they were evicted"])
        .unit("pages a second")
        .large("the files in use do not fit into what is left of RAM"),
    row("pressure.rates.refault_anon", "/proc/vmstat workingset_refault_anon over the window", "swap-in-use")
        .named(&["anonymous refaults", "of processes needed again after they were swapped out"])
        .unit("pages a second")
        .large("process memory in use was swapped out"),
    row("pressure.rates.restore_file", "/proc/vmstat workingset_restore_file over the window", "page-cache")
        .named(&["of files put straight back among the active ones"])
        .unit("pages a second")
        .large("the working set itself is being evicted"),
    row("pressure.rates.major_faults", "/proc/vmstat pgmajfault over the window", "read-ahead")
        .named(&["major faults", "had to read a device"])
        .unit("faults a second")
        .large("programs start, or their code and data were evicted"),
    row("pressure.rates.scanned", "/proc/vmstat pgscan_anon + pgscan_file over the window", "watermarks").named(&["looked at by reclaim", "scanned"]).unit("pages a second"),
    row("pressure.rates.stolen", "/proc/vmstat pgsteal_anon + pgsteal_file over the window", "watermarks").named(&["freed by reclaim", "stolen"]).unit("pages a second"),
    row("pressure.rates.allocstall", "/proc/vmstat allocstall_* over the window", "watermarks")
        .named(&["an allocation had to reclaim by itself", "allocation stalls"])
        .unit("events a second")
        .large("memory is asked for faster than kswapd frees it"),
    row("pressure.rates.oom_kills", "/proc/vmstat oom_kill over the window", "oom").named(&["kills", "killed"]).unit("processes").scope(FigureScope::Change),
    row("pressure.rates.efficiency", "stolen / scanned", "pressure").named(&["freed of what was looked at"]).unit("share of 1"),
    row("pressure.rates.direct_share", "pgscan_direct / (pgscan_direct + pgscan_kswapd) over the window", "watermarks").named(&["scanned by tasks themselves"]).unit("share of 1").large("kswapd does not keep up"),
    row("watermarks", ZONES, "watermarks"),
    row("watermarks.nodes[].zones[].managed", "/proc/zoneinfo managed x page size", "watermarks").named(&["managed"]).scope(FigureScope::Fact),
    row("watermarks.nodes[].zones[].free", "/proc/zoneinfo pages free x page size", "watermarks").named(&["free in the zone"]),
    row("watermarks.nodes[].zones[].min", "/proc/zoneinfo min x page size, from vm.min_free_kbytes", "watermarks").named(&["min"]).large("vm.min_free_kbytes is large").scope(FigureScope::Setting),
    row("watermarks.nodes[].zones[].low", "/proc/zoneinfo low: min and one gap", "watermarks").named(&["low"]).large("vm.min_free_kbytes or vm.watermark_scale_factor is large").scope(FigureScope::Setting),
    row("watermarks.nodes[].zones[].high", "/proc/zoneinfo high: min and two gaps", "watermarks").named(&["high"]).large("vm.min_free_kbytes or vm.watermark_scale_factor is large").scope(FigureScope::Setting),
    row("watermarks.nodes[].min", "/proc/zoneinfo min, summed over the zones", "watermarks").scope(FigureScope::Setting),
    row("watermarks.nodes[].low", "/proc/zoneinfo low, summed over the zones", "watermarks").scope(FigureScope::Setting),
    row("watermarks.nodes[].high", "/proc/zoneinfo high, summed over the zones", "watermarks").scope(FigureScope::Setting),
    row("watermarks.nodes[].managed", "/proc/zoneinfo managed, summed over the zones", "watermarks").scope(FigureScope::Fact),
    row("watermarks.nodes[].node", ZONES, "numa").unit("number").scope(FigureScope::Fact),
    row("watermarks.nodes[].zones[].node", ZONES, "numa").unit("number").scope(FigureScope::Fact),
    row("watermarks.nodes[].zones[].boost", "/proc/zoneinfo boost x page size", "watermarks").named(&["boost"]).large("blocks of several pages ran short lately").scope(FigureScope::Gauge),
    row("watermarks.nodes[].zones[].reserve", "/proc/zoneinfo protection, the last entry x page size", "watermarks").named(&["reserve"]).large("there is much memory in higher zones").scope(FigureScope::Setting),
    row("watermarks.nodes[].zones[].to_low", "free less low (and reserve)", "watermarks").named(&["to kswapd"]),
    row("watermarks.nodes[].zones[].to_min", "free less min (and reserve)", "watermarks").named(&["to stalls"]),
    row("watermarks.nodes[].zones[].active", "/proc/zoneinfo nr_zone_active_anon + nr_zone_active_file", "page-cache").named(&["active"]),
    row("watermarks.nodes[].zones[].inactive", "/proc/zoneinfo nr_zone_inactive_anon + nr_zone_inactive_file", "page-cache").named(&["inactive"]),
    row("watermarks.nodes[].zones[].unevictable", "/proc/zoneinfo nr_zone_unevictable", "used").named(&["unevictable"]).large("programs locked memory (mlock)"),
    row("watermarks.nodes[].zones[].orders[].order", "/proc/buddyinfo, the column", "watermarks").named(&["order"]).unit("power of two, in pages").scope(FigureScope::Fact),
    row("watermarks.nodes[].zones[].orders[].free_blocks", "/proc/buddyinfo", "watermarks").named(&["blocks"]).unit("blocks"),
    row("watermarks.nodes[].zones[].orders[].index", "the kernel's fragmentation index over /proc/buddyinfo", "zram-unused")
        .named(&["index", "fragmentation index"])
        .unit("thousandths")
        .large("there is enough free memory, in pieces that are too small"),
    row("watermarks.extfrag_threshold", "/proc/sys/vm/extfrag_threshold", "zram-unused").unit("thousandths").scope(FigureScope::Setting),
    row("watermarks.scale", "/proc/sys/vm/watermark_scale_factor and min_free_kbytes", "watermarks").scope(FigureScope::Setting),
    row("watermarks.scale.value", "/proc/sys/vm/watermark_scale_factor", "watermarks").named(&["vm.watermark_scale_factor"]).unit("ten-thousandths of the zone").scope(FigureScope::Setting),
    row("watermarks.scale.crossover", "2500 x min_free_kbytes / managed KiB", "watermarks").unit("ten-thousandths of the zone").scope(FigureScope::Fact),
    row("watermarks.not_handed_out", "MemTotal less managed pages: not given to the allocator yet", "used"),
    // Of checkups and runs.
    row("checkup:cost", "the program's own clocks and counters: what the checkup itself took", "pressure").scope(FigureScope::Measured),
    row("checkup:measured", "measure tiers", "swappiness").scope(FigureScope::Measured),
    row("measured.tiers[].throughput", "measure tiers: bytes over time, sequential", "read-ahead").unit("bytes a second").scope(FigureScope::Measured),
    row("measured.tiers[].throughput.n", "measure tiers: runs", "read-ahead").unit("runs").scope(FigureScope::Measured),
    row("checkup:cost_ratio", "the mean costs of measure tiers, and 200r/(1+r)", "swappiness").unit("ratio of two costs").scope(FigureScope::Measured),
    row("cost_ratio.swappiness", "200r/(1+r), r the ratio of the two costs", "swappiness").unit("of 200").scope(FigureScope::Measured),
    row("cost_ratio.if_zram.swappiness", "200r/(1+r) with zram's measured cost", "swappiness").unit("of 200").scope(FigureScope::Measured),
    row("cost_ratio.with_compression.swappiness", "200r/(1+r) with the cost of compressing added", "swappiness").unit("of 200").scope(FigureScope::Measured),
    row("cost_ratio.blended[].swappiness", "200r/(1+r), at most 100", "swappiness").unit("of 200").scope(FigureScope::Measured),
    row("cost_ratio.blended[].fast_share", "assumed, listed for several shares", "swappiness").scope(FigureScope::Fact),
    row("cost_ratio.file_ns", "measure tiers: mean random read of a file's page", "swappiness").unit("nanoseconds").scope(FigureScope::Measured),
    row("cost_ratio.swap_ns", "measure tiers: mean swap-in", "swappiness").unit("nanoseconds").scope(FigureScope::Measured),
    row("cost_ratio.compress_ns", "measure tiers: mean compression of a page", "swappiness").unit("nanoseconds").scope(FigureScope::Measured),
    row("checkup:proof", RUN, "no-swap").scope(FigureScope::Measured),
    row("arms[].completed", RUN, "no-swap").unit("runs").scope(FigureScope::Measured),
    row("arms[].rounds", RUN, "no-swap").unit("rounds").scope(FigureScope::Measured),
    row("arms[].major_faults", RUN, "no-swap").unit("faults").scope(FigureScope::Measured),
    row("arms[].read_bytes", RUN, "read-ahead").unit("bytes").scope(FigureScope::Measured),
    row("arms[].refault_anon", RUN, "swap-in-use").unit("pages").scope(FigureScope::Measured),
    row("arms[].refault_file", RUN, "page-cache").unit("pages").scope(FigureScope::Measured),
    row("arms[].swap_in", RUN, "swap-in-use").unit("pages").scope(FigureScope::Measured),
    row("arms[].swap_out", RUN, "swap-in-use").unit("pages").scope(FigureScope::Measured),
    row("arms[].seconds_per_round", RUN, "no-swap").unit("seconds").scope(FigureScope::Measured),
    row("arms[].system_s", RUN, "no-swap").unit("seconds").scope(FigureScope::Measured),
    row("arms[].cpu_s", RUN, "no-swap").unit("seconds").scope(FigureScope::Measured),
    row("arms[].user_s", RUN, "no-swap").unit("seconds").scope(FigureScope::Measured),
    row("arms[].swappiness", "vm.swappiness of the setting", "swappiness").unit("of 200").scope(FigureScope::Setting),
    row("checkup:machine", "uname, sysconf and /proc/uptime", "used").scope(FigureScope::Fact),
    row("checkup:taken_unix_ns", "the machine's clock", "used").unit("nanoseconds since 1970").scope(FigureScope::Fact),
    row("checkup:window", "boot-time clock of the two snapshots", "pressure").scope(FigureScope::Fact),
    row("checkup:drift.span", "boot-time clock of the two snapshots", "used").scope(FigureScope::Fact),
    row("machine.taken_unix_ns", "the machine's clock", "used").unit("nanoseconds since 1970").scope(FigureScope::Fact),
    // The kernel's own files.
    row("snapshot:machine", "uname, sysconf and /proc/uptime", "used").scope(FigureScope::Fact),
    row("snapshot:meminfo", "/proc/meminfo, the line of that name", "used").scope(FigureScope::Gauge),
    row("snapshot:meminfo.data.mem_available", "/proc/meminfo MemAvailable: free above the watermarks, cache and kernel objects less a reserve", "available")
        .named(&["available", "MemAvailable"])
        .large("much is free or cache; what of the cache is in use it does not know"),
    row("snapshot:meminfo.data.committed_as", "/proc/meminfo Committed_AS", "overcommit").large("programs map much and touch little of it"),
    row("snapshot:meminfo.data.commit_limit", "/proc/meminfo CommitLimit", "overcommit").scope(FigureScope::Setting),
    row("snapshot:vmstat", "/proc/vmstat, the line of that name", "pressure").unit("pages or events").scope(FigureScope::Counter),
    row("snapshot:vmstat.data.nr_", "/proc/vmstat, the line of that name", "kernel-memory").unit("pages").scope(FigureScope::Gauge),
    row("snapshot:zoneinfo", "/proc/zoneinfo", "watermarks"),
    row("snapshot:settings", "/proc/sys/vm, the file of that name", "watermarks").unit("as the name says").scope(FigureScope::Setting),
    row("snapshot:settings.data.swappiness", "/proc/sys/vm/swappiness", "swappiness").unit("of 200").scope(FigureScope::Setting),
    row("snapshot:settings.data.page_cluster", "/proc/sys/vm/page-cluster", "page-cluster").unit("power of two, in pages").scope(FigureScope::Setting),
    row("snapshot:settings.data.dirty_", "/proc/sys/vm, the file of that name", "dirty").unit("as the name says").scope(FigureScope::Setting),
    row("snapshot:settings.data.overcommit_", "/proc/sys/vm, the file of that name", "overcommit").unit("as the name says").scope(FigureScope::Setting),
    row("snapshot:thp", "/sys/kernel/mm/transparent_hugepage", "thp").scope(FigureScope::Setting),
    row("snapshot:lru_gen", "/sys/kernel/mm/lru_gen", "mglru").unit("bits").scope(FigureScope::Setting),
    row("snapshot:lru_gen.data.min_ttl_ms", "/sys/kernel/mm/lru_gen/min_ttl_ms", "mglru").unit("milliseconds").scope(FigureScope::Setting),
    row("snapshot:hugepages", "/sys/kernel/mm/hugepages", "hugepages").unit("pages"),
    row("snapshot:swaps", "/proc/swaps", "swap-order"),
    row("snapshot:zram", "/sys/block/zramN", "zram-ratio"),
    row("snapshot:zswap", "/sys/module/zswap/parameters", "zram-vs-zswap").scope(FigureScope::Setting),
    row("snapshot:processes", "/proc/PID", "rss-pss"),
    row("snapshot:groups", "the memory files of each control group", "cgroup-memory"),
    row("snapshot:cgroups", "the memory files of the root group and our own", "cgroup-memory"),
    row("snapshot:slab", "/proc/slabinfo", "kernel-memory"),
    row("snapshot:shmem", "/proc/sysvipc/shm and the open files of processes", "shmem"),
];

/// Looks a row's entry up for a number of a document: the longest row that has one.
#[must_use]
pub fn entry<T>(document: &str, path: &str, get: impl Fn(&'static Row) -> Option<T>) -> Option<T> {
    let rows = ROWS.iter().filter_map(|row| Some((below(row, document, path)?, get(row)?)));
    rows.max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
}

/// How long the part of the path is that a row is for, and whether the row is of one document, which then beats one of any.
fn below(row: &Row, document: &str, path: &str) -> Option<(usize, bool)> {
    let (of, at) = row.at.split_once(':').map_or((None, row.at), |(of, at)| (Some(of), at));
    if of.is_some_and(|of| of != document) {
        return None;
    }
    // `arms[]` stands in several documents at different depths.
    let starts = |path: &str| {
        path.strip_prefix(at)
            .is_some_and(|rest| rest.is_empty() || at.is_empty() || at.ends_with('_') || rest.starts_with(['.', '[']))
    };
    let deeper =
        || std::iter::successors(path.split_once('.'), |(_, rest)| rest.split_once('.')).any(|(_, rest)| starts(rest));
    let matches = starts(path) || (of.is_none() && at.contains("[]") && deeper());
    matches.then_some((at.len(), of.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_each_entry_from_the_longest_row_that_has_one() {
        let topic = |d: &str, p: &str| entry(d, p, |r| Some(r.topic).filter(|t| !t.is_empty()));
        assert_eq!(topic("show-memory", "ledger.leftover"), Some("kernel-memory"));
        assert_eq!(topic("checkup", "ledger.counters"), Some("used"));
        assert_eq!(topic("show-pressure", "pressure.rates.oom_kills"), Some("oom"));
        assert_eq!(topic("show-pressure", "nothing.known"), Some("pressure"));
        assert_eq!(topic("no-document", "nothing.known"), None);
        let unit = |d: &str, p: &str| entry(d, p, |r| Some(r.unit).filter(|t| !t.is_empty()));
        assert_eq!(unit("checkup", "proof.arms[].refault_file.ci95.high"), Some("pages"));
    }

    #[test]
    fn every_row_names_a_topic_that_exists() {
        for row in ROWS {
            assert!(
                row.topic.is_empty() || ramline_advice::topic_named(row.topic).is_some(),
                "{}: {}",
                row.at,
                row.topic
            );
        }
    }
}
