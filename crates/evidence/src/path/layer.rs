//! Where in the kernel a function or tracepoint belongs, by the beginning of its name.
//!
//! What it is not: complete. A name that no row knows is [`Layer::Other`].
//!
//! Worked example: `jbd2_journal_start` is the journal's, `jbd2_log_wait_commit` a wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_beginning_hides_a_longer_one_below_it() {
        for (index, (start, _)) in NAMES.iter().enumerate() {
            let hidden = NAMES[..index].iter().find(|(earlier, _)| start.starts_with(earlier));
            assert!(hidden.is_none(), "{start} is never reached, because of {hidden:?}");
        }
    }
}
