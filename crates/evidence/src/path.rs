//! The way of a system call through the kernel, as recorded: functions or tracepoints in order, with layer and time.
//!
//! What it is: the data of `lab run read-path`, kept in a record's `detail`, and what follows from it by counting. What it is not:
//! exact where the kernel is only seen through tracepoints: then a step is the time from one of them to the next.
//!
//! ```
//! use ramline_evidence::path::Layer;
//! assert_eq!(Layer::of("ext4_file_read_iter"), Layer::FileSystem);
//! assert_eq!(Layer::of("filemap_get_pages"), Layer::PageCache);
//! assert_eq!(Layer::of("block_rq_issue"), Layer::Block);
//! ```

use std::collections::BTreeMap;

use ramline_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the step with which a wait ends.
pub const AGAIN: &str = "running again";

/// Where in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The system call itself, entry and exit.
    Call,
    /// What is the same for all file systems.
    Vfs,
    /// The file system.
    FileSystem,
    /// Its journal.
    Journal,
    /// The page cache: look-up, read-ahead, copying.
    PageCache,
    /// Pages: allocation, charging, lists, reclaim.
    Memory,
    /// Dirty pages: counting, throttling, writing back.
    Writeback,
    /// Requests to a disk.
    Block,
    /// The driver of the disk.
    Driver,
    /// Asleep, or not on a processor.
    Waiting,
    /// None of these.
    #[default]
    Other,
}

/// Beginnings of names, the first that fits counts. From the sources of Linux 6.1 to 6.18; functions and tracepoints alike.
const NAMES: &[(&str, Layer)] = &[
    ("sys_", Layer::Call),
    ("__x64_sys_", Layer::Call),
    ("__arm64_sys_", Layer::Call),
    ("do_syscall", Layer::Call),
    ("syscall_", Layer::Call),
    ("sched_switch", Layer::Waiting),
    ("schedule", Layer::Waiting),
    ("__schedule", Layer::Waiting),
    ("io_schedule", Layer::Waiting),
    ("folio_wait_", Layer::Waiting),
    ("wait_on_", Layer::Waiting),
    ("__wait_on_", Layer::Waiting),
    ("bit_wait", Layer::Waiting),
    ("wait_for_", Layer::Waiting),
    ("__wait_for_", Layer::Waiting),
    ("out_of_line_wait_", Layer::Waiting),
    ("preempt_schedule", Layer::Waiting),
    ("jbd2_log_wait_", Layer::Waiting),
    ("prepare_to_wait", Layer::Waiting),
    ("jbd2_", Layer::Journal),
    ("__jbd2_", Layer::Journal),
    ("journal_", Layer::Journal),
    ("ext4_journal", Layer::Journal),
    ("__ext4_journal", Layer::Journal),
    ("ext4_", Layer::FileSystem),
    ("__ext4_", Layer::FileSystem),
    ("shmem_", Layer::FileSystem),
    ("__shmem_", Layer::FileSystem),
    ("xfs_", Layer::FileSystem),
    ("btrfs_", Layer::FileSystem),
    ("f2fs_", Layer::FileSystem),
    ("iomap_", Layer::FileSystem),
    ("simple_", Layer::FileSystem),
    ("mpage_", Layer::FileSystem),
    ("balance_dirty", Layer::Writeback),
    ("writeback_", Layer::Writeback),
    ("__writeback_", Layer::Writeback),
    ("wb_", Layer::Writeback),
    ("do_writepages", Layer::Writeback),
    ("write_cache_pages", Layer::Writeback),
    ("bdi_", Layer::Writeback),
    ("folio_account_dirtied", Layer::Writeback),
    ("sb_mark_inode_writeback", Layer::Writeback),
    ("sb_clear_inode_writeback", Layer::Writeback),
    ("__mark_inode_dirty", Layer::Writeback),
    ("virtblk_", Layer::Driver),
    ("virtqueue_", Layer::Driver),
    ("virtio_", Layer::Driver),
    ("vring_", Layer::Driver),
    ("vp_notify", Layer::Driver),
    ("vm_notify", Layer::Driver),
    ("nvme_", Layer::Driver),
    ("scsi_", Layer::Driver),
    ("ata_", Layer::Driver),
    ("sd_", Layer::Driver),
    ("loop_", Layer::Driver),
    ("lo_", Layer::Driver),
    ("dma_", Layer::Driver),
    ("sg_", Layer::Driver),
    ("submit_bio", Layer::Block),
    ("__submit_bio", Layer::Block),
    ("submit_bh", Layer::Block),
    ("bio_", Layer::Block),
    ("blk_", Layer::Block),
    ("__blk_", Layer::Block),
    ("block_", Layer::Block),
    ("__block_", Layer::Block),
    ("dd_", Layer::Block),
    ("wbt_", Layer::Block),
    ("rq_", Layer::Block),
    ("__rq_", Layer::Block),
    ("sbitmap_", Layer::Block),
    ("elv_", Layer::Block),
    ("io_start_", Layer::Block),
    ("__page_cache_", Layer::PageCache),
    ("page_cache_", Layer::PageCache),
    ("mm_filemap_", Layer::PageCache),
    ("filemap_", Layer::PageCache),
    ("__filemap_", Layer::PageCache),
    ("generic_perform_write", Layer::PageCache),
    ("generic_file_", Layer::PageCache),
    ("generic_write_", Layer::PageCache),
    ("read_pages", Layer::PageCache),
    ("readahead", Layer::PageCache),
    ("force_page_cache", Layer::PageCache),
    ("ondemand_readahead", Layer::PageCache),
    ("do_page_cache_ra", Layer::PageCache),
    ("copy_page_", Layer::PageCache),
    ("copy_folio_", Layer::PageCache),
    ("_copy_to_iter", Layer::PageCache),
    ("_copy_from_iter", Layer::PageCache),
    ("fault_in_", Layer::PageCache),
    ("xas_", Layer::PageCache),
    ("xa_", Layer::PageCache),
    ("__xa_", Layer::PageCache),
    ("folio_mark_", Layer::PageCache),
    ("__folio_mark_", Layer::PageCache),
    ("folio_unlock", Layer::PageCache),
    ("pagecache_", Layer::PageCache),
    ("mm_lru_", Layer::Memory),
    ("mm_page_", Layer::Memory),
    ("mm_vmscan_", Layer::Memory),
    ("folio_", Layer::Memory),
    ("__folio_", Layer::Memory),
    ("alloc_pages", Layer::Memory),
    ("__alloc_", Layer::Memory),
    ("alloc_", Layer::Memory),
    ("get_page_from_", Layer::Memory),
    ("rmqueue", Layer::Memory),
    ("prep_new_page", Layer::Memory),
    ("mem_cgroup_", Layer::Memory),
    ("__mem_cgroup_", Layer::Memory),
    ("try_charge", Layer::Memory),
    ("charge_", Layer::Memory),
    ("lru_", Layer::Memory),
    ("__lru_", Layer::Memory),
    ("lruvec_", Layer::Memory),
    ("__mod_", Layer::Memory),
    ("mod_", Layer::Memory),
    ("kmem_cache_", Layer::Memory),
    ("kmalloc", Layer::Memory),
    ("__kmalloc", Layer::Memory),
    ("kfree", Layer::Memory),
    ("shrink_", Layer::Memory),
    ("policy_", Layer::Memory),
    ("ksys_", Layer::Vfs),
    ("vfs_", Layer::Vfs),
    ("rw_verify_", Layer::Vfs),
    ("security_", Layer::Vfs),
    ("fsnotify", Layer::Vfs),
    ("__fsnotify", Layer::Vfs),
    ("file_", Layer::Vfs),
    ("touch_atime", Layer::Vfs),
    ("atime_", Layer::Vfs),
    ("inode_", Layer::Vfs),
    ("current_time", Layer::Vfs),
    ("fdget", Layer::Vfs),
    ("__fdget", Layer::Vfs),
    ("do_fsync", Layer::Vfs),
    ("new_sync_", Layer::Vfs),
    ("kiocb_", Layer::Vfs),
    ("do_iter_", Layer::Vfs),
];

impl Layer {
    /// All of them, as they lie one on another.
    pub const ALL: [Layer; 11] = [
        Layer::Call,
        Layer::Vfs,
        Layer::FileSystem,
        Layer::Journal,
        Layer::PageCache,
        Layer::Memory,
        Layer::Writeback,
        Layer::Block,
        Layer::Driver,
        Layer::Waiting,
        Layer::Other,
    ];

    /// Of a function or tracepoint, by its name.
    #[must_use]
    pub fn of(name: &str) -> Layer {
        NAMES.iter().find(|(start, _)| name.starts_with(start)).map_or(Layer::Other, |(_, layer)| *layer)
    }

    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Layer::Call => "system call",
            Layer::Vfs => "VFS",
            Layer::FileSystem => "file system",
            Layer::Journal => "journal",
            Layer::PageCache => "page cache",
            Layer::Memory => "memory",
            Layer::Writeback => "writeback",
            Layer::Block => "block",
            Layer::Driver => "driver",
            Layer::Waiting => "waiting",
            Layer::Other => "other",
        }
    }
}

/// One function or tracepoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Step {
    /// When it began, since the beginning of the call.
    pub at: Nanos,
    /// How deep it was called; 0 is the system call.
    pub depth: u32,
    /// Its name.
    pub name: String,
    /// Its layer.
    pub layer: Layer,
    /// Its time without what it called: until the next step.
    pub own: Nanos,
    /// With what it called, where the kernel recorded it.
    pub whole: Option<Nanos>,
    /// What the tracepoint said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Who did it, where that was another: the journal's thread, an interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// One system call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CallPath {
    /// What was called, in words.
    pub what: String,
    /// How it was seen: `function_graph`, `function`, `tracepoints`.
    pub tracer: String,
    /// The call, recorded: longer than without a recorder.
    pub took: Nanos,
    /// In order.
    pub steps: Vec<Step>,
    /// So many more were not kept.
    pub cut: u64,
}

impl CallPath {
    /// Time by layer; what others did meanwhile is not in it.
    #[must_use]
    pub fn by_layer(&self) -> BTreeMap<Layer, Nanos> {
        let mut out = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            let sum: &mut Nanos = out.entry(step.layer).or_default();
            sum.0 = sum.0.saturating_add(step.own.0);
        }
        out
    }

    /// Where it slept, with the time, the longest first: the function that waited, or, where only tracepoints are seen, the last of
    /// them before.
    #[must_use]
    pub fn stalls(&self) -> Vec<(String, Nanos)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let mut above: Vec<&Step> = Vec::new();
        let mut before = "the call";
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            above.retain(|other| other.depth < step.depth);
            if step.layer == Layer::Waiting {
                let within = above.iter().rev().find(|other| other.layer != Layer::Waiting && other.depth > 0);
                let within = within.filter(|_| self.tracer != "tracepoints");
                let sum = sums.entry(within.map_or(before, |other| &other.name)).or_default();
                *sum = sum.saturating_add(step.own.0);
            } else if step.name != AGAIN {
                before = &step.name;
            }
            above.push(step);
        }
        let mut out: Vec<(String, Nanos)> =
            sums.into_iter().map(|(name, time)| (name.to_owned(), Nanos(time))).collect();
        out.sort_by_key(|(name, time)| (std::cmp::Reverse(*time), name.clone()));
        out.retain(|(_, time)| time.0 > 0);
        out
    }

    /// What the file system registered, as far as seen: its functions that something else called, as `caller -> function`.
    #[must_use]
    pub fn registered(&self) -> Vec<String> {
        let mut above: Vec<&Step> = Vec::new();
        let mut out: Vec<String> = Vec::new();
        for step in self.steps.iter().filter(|step| step.by.is_none()) {
            above.retain(|other| other.depth < step.depth);
            // A tracepoint is a place in a function, no function of its own.
            let function = step.said.is_empty() && step.name != AGAIN && self.tracer != "tracepoints";
            let caller = above.last().filter(|caller| function && caller.name != AGAIN);
            if let Some(caller) = caller.filter(|caller| {
                step.layer == Layer::FileSystem && caller.layer != Layer::FileSystem && caller.layer != Layer::Journal
            }) {
                let text = format!("{} -> {}", caller.name, step.name);
                if !out.contains(&text) {
                    out.push(text);
                }
            }
            above.push(step);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(depth: u32, name: &str, own: u64) -> Step {
        Step { depth, name: name.to_owned(), layer: Layer::of(name), own: Nanos(own), ..Step::default() }
    }

    fn path() -> CallPath {
        let steps = vec![
            step(0, "__x64_sys_pread64", 1),
            step(1, "vfs_read", 2),
            step(2, "ext4_file_read_iter", 3),
            step(3, "filemap_read", 4),
            step(4, "ext4_readahead", 5),
            step(5, "submit_bio_noacct", 6),
            step(4, "folio_wait_bit_common", 7),
            step(5, "io_schedule", 80),
        ];
        CallPath { tracer: "function".to_owned(), steps, ..CallPath::default() }
    }

    #[test]
    fn time_is_summed_by_layer() {
        let by = path().by_layer();
        assert_eq!((by[&Layer::FileSystem], by[&Layer::Waiting]), (Nanos(8), Nanos(87)));
        assert_eq!(by.values().map(|time| time.0).sum::<u64>(), 108);
    }

    #[test]
    fn a_stall_is_told_by_who_waited_or_by_what_came_before_it() {
        assert_eq!(path().stalls(), [("filemap_read".to_owned(), Nanos(87))]);
        let seen = CallPath { tracer: "tracepoints".to_owned(), ..path() };
        assert_eq!(seen.stalls(), [("submit_bio_noacct".to_owned(), Nanos(87))]);
    }

    #[test]
    fn what_a_file_system_registered_is_what_others_call_of_it() {
        let found = path().registered();
        assert_eq!(found, ["vfs_read -> ext4_file_read_iter", "filemap_read -> ext4_readahead"]);
        let seen = CallPath { tracer: "tracepoints".to_owned(), ..path() };
        assert!(seen.registered().is_empty(), "a tracepoint does not tell who called");
    }

    #[test]
    fn no_beginning_hides_a_longer_one_below_it() {
        for (index, (start, _)) in NAMES.iter().enumerate() {
            let hidden = NAMES[..index].iter().find(|(earlier, _)| start.starts_with(earlier));
            assert!(hidden.is_none(), "{start} is never reached, because of {hidden:?}");
        }
    }

    #[test]
    fn impossible_times_add_up_to_the_end_of_the_range() {
        let steps = vec![step(0, "vfs_read", 1), step(1, "io_schedule", u64::MAX), step(1, "io_schedule", u64::MAX)];
        let path = CallPath { tracer: "tracepoints".to_owned(), steps, ..CallPath::default() };
        assert_eq!(path.by_layer()[&Layer::Waiting], Nanos(u64::MAX));
        assert_eq!(path.stalls(), [("vfs_read".to_owned(), Nanos(u64::MAX))]);
    }
}
