//! Where in the kernel a function or tracepoint belongs, by the beginning of its name.
//!
//! A name that no row knows is [`Layer::Other`].
//!
//! Worked example: `jbd2_journal_start` is the journal's, `jbd2_log_wait_commit` a wait.

use crate::prelude::*;

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
    /// Asleep, until something comes.
    Waiting,
    /// Ready to run, while another had the processor.
    Preempted,
    /// None of these.
    #[default]
    Other,
}

/// Beginnings of names, divided by spaces; the first that fits counts. From the sources of Linux 6.1 to 6.18; functions and tracepoints alike.
const NAMES: &[(Layer, &str)] = &[
    (Layer::Call, "sys_ __x64_sys_ __arm64_sys_ do_syscall syscall_"),
    (
        Layer::Waiting,
        "sched_switch schedule __schedule io_schedule folio_wait_ wait_on_ __wait_on_ bit_wait wait_for_ \
         __wait_for_ out_of_line_wait_ jbd2_log_wait_ prepare_to_wait",
    ),
    (Layer::Preempted, "preempt_schedule __cond_resched"),
    (Layer::Journal, "jbd2_ __jbd2_ journal_ ext4_journal __ext4_journal"),
    (Layer::FileSystem, "ext4_ __ext4_ shmem_ __shmem_ xfs_ btrfs_ f2fs_ iomap_ simple_ mpage_"),
    (
        Layer::Writeback,
        "balance_dirty writeback_ __writeback_ wb_ do_writepages write_cache_pages bdi_ folio_account_dirtied \
         sb_mark_inode_writeback sb_clear_inode_writeback __mark_inode_dirty",
    ),
    (Layer::Driver, "virtblk_ virtqueue_ virtio_ vring_ vp_notify vm_notify nvme_ scsi_ ata_ sd_ loop_ lo_ dma_ sg_"),
    (
        Layer::Block,
        "submit_bio __submit_bio submit_bh bio_ blk_ __blk_ block_ __block_ dd_ wbt_ rq_ __rq_ sbitmap_ elv_ \
         io_start_",
    ),
    (
        Layer::PageCache,
        "__page_cache_ page_cache_ mm_filemap_ filemap_ __filemap_ generic_perform_write generic_file_ \
         generic_write_ read_pages readahead force_page_cache ondemand_readahead do_page_cache_ra copy_page_ \
         copy_folio_ _copy_to_iter _copy_from_iter fault_in_ xas_ xa_ __xa_ folio_mark_ __folio_mark_ folio_unlock \
         pagecache_",
    ),
    (
        Layer::Memory,
        "mm_lru_ mm_page_ mm_vmscan_ folio_ __folio_ alloc_pages __alloc_ alloc_ get_page_from_ rmqueue \
         prep_new_page mem_cgroup_ __mem_cgroup_ try_charge charge_ lru_ __lru_ lruvec_ __mod_ mod_ kmem_cache_ \
         kmalloc __kmalloc kfree shrink_ policy_",
    ),
    (
        Layer::Vfs,
        "ksys_ vfs_ rw_verify_ security_ fsnotify __fsnotify file_ touch_atime atime_ inode_ current_time fdget \
         __fdget do_fsync new_sync_ kiocb_ do_iter_",
    ),
];

impl Layer {
    /// All of them, as they lie one on another.
    pub const ALL: [Layer; 12] = {
        use Layer::*;
        [Call, Vfs, FileSystem, Journal, PageCache, Memory, Writeback, Block, Driver, Waiting, Preempted, Other]
    };

    /// The layer of a function or tracepoint, by its name.
    #[must_use]
    pub fn from_name(name: &str) -> Layer {
        let begins = |(_, starts): &&(Layer, &str)| starts.split(' ').any(|start| name.starts_with(start));
        NAMES.iter().find(begins).map_or(Layer::Other, |(layer, _)| *layer)
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
            Layer::Preempted => "preempted",
            Layer::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_beginning_hides_a_longer_one_below_it() {
        let all: Vec<&str> = NAMES.iter().flat_map(|(_, starts)| starts.split(' ')).collect();
        for (index, start) in all.iter().enumerate() {
            let hidden = all[..index].iter().find(|earlier| start.starts_with(**earlier));
            assert!(hidden.is_none(), "{start} is never reached, because of {hidden:?}");
        }
    }
}
