//! What the kernel's object caches hold, for readers: `filp` is open files.
//!
//! Caches of objects of one size are merged (SLUB), so that a name may stand for others of its size too.

use ramline_snapshot::slab::{Cache, Slab};

use crate::prelude::*;

/// Name, or its beginning where it ends with `*`; what its objects are.
const HELD: &[(&str, &str)] = &[
    ("kmalloc-*", "buffers of any driver or subsystem: the name does not tell which"),
    ("dma-kmalloc-*", "buffers of a driver"),
    ("filp", "open files"),
    ("eventpoll_*", "files watched with epoll"),
    ("file_lock*", "file locks"),
    ("fasync_cache", "files with O_ASYNC"),
    ("fsnotify_mark*", "inotify and fanotify watches"),
    ("inotify_inode_mark", "inotify watches"),
    ("msg_msg*", "messages of POSIX or System V queues that no process takes"),
    ("sock_inode_cache", "sockets"),
    ("skbuff_*", "network packets in queues"),
    ("TCP*", "TCP connections"),
    ("tw_sock_TCP*", "closed TCP connections that still wait"),
    ("UDP*", "UDP sockets"),
    ("UNIX*", "unix sockets"),
    ("nf_conntrack*", "connections that netfilter tracks"),
    ("task_struct", "threads"),
    ("signal_cache", "processes"),
    ("sighand_cache", "processes"),
    ("cred_jar", "credentials of tasks and open files"),
    ("pid*", "processes and threads"),
    ("mm_struct", "address spaces of processes"),
    ("vm_area_struct", "mappings of processes"),
    ("maple_node", "mappings of processes"),
    ("anon_vma*", "process memory after many forks"),
    ("names_cache", "paths that are being looked up"),
    ("kernfs_*", "files of sysfs and of control groups"),
    ("mem_cgroup*", "memory control groups, removed ones too"),
    ("cgroup*", "control groups"),
    ("key_jar", "keys of the kernel's key rings"),
    ("bio*", "requests to disks"),
    ("blkdev_*", "requests to disks"),
    ("zio_*", "buffers of ZFS"),
    ("arc_*", "headers of the ZFS cache"),
    ("abd_*", "buffers of ZFS"),
    ("Acpi*", "ACPI objects"),
    ("i915_*", "the graphics driver's requests"),
    ("btrfs_*", "btrfs"),
    ("xfs_*", "XFS"),
    ("ext4_*", "ext4"),
    ("nfs*", "NFS"),
];

/// What the objects of a cache are; `None` where the name is not known.
pub(crate) fn held(name: &str) -> Option<&'static str> {
    let is = |pattern: &str| pattern.strip_suffix('*').map_or(pattern == name, |begin| name.starts_with(begin));
    HELD.iter().find(|(pattern, _)| is(pattern)).map(|(_, what)| *what)
}

/// The largest cache that does not shrink, where it holds most of what is unreclaimable.
pub(crate) fn largest(slab: &Slab, unreclaimable: Bytes) -> Option<&Cache> {
    let cache = slab.caches.iter().find(|cache| !cache.is_reclaimable())?;
    (cache.held.0 >= unreclaimable.0 / 2).then_some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cache_that_stays_is_named_where_it_is_most_of_it() {
        let cache =
            |name: &str, mib| Cache { name: name.into(), held: Bytes::from_mib(mib), in_use: Bytes::from_mib(mib) };
        let slab = Slab { caches: vec![cache("ext4_inode_cache", 900), cache("kmalloc-64", 500), cache("filp", 100)] };
        assert_eq!(largest(&slab, Bytes::from_mib(700)).map(|c| c.name.as_str()), Some("kmalloc-64"));
        assert_eq!(largest(&slab, Bytes::from_mib(1001)), None, "less than half of it");
        assert_eq!(held("kmalloc-64"), held("kmalloc-cg-64"));
        assert_eq!((held("filp"), held("unheard_of")), (Some("open files"), None));
    }
}
