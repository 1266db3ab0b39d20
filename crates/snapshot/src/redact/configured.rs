//! Names in the kernel's object caches and in configuration files.

use crate::configured::Configured;
use crate::killers::Killers;
use crate::slab::Slab;

use super::unseen;

/// Object caches of the kernel proper and of common file systems. A driver's cache may carry the name of a device or array.
const CACHES: &str = "\
    Acpi- anon_vma bdev_cache bio- biovec- blkdev_ btrfs_ buffer_head cgroup_ cred dentry dma-kmalloc- dmaengine- \
    dnotify_ dquot eventpoll_ ext4_ fanotify_ fat_ file_lock files_cache filp fs_cache fsnotify_ fuse_ hugetlbfs_ \
    inode_cache inotify_ io_kiocb iommu_ iova jbd2_ kernfs_ key_jar khugepaged_ kioctx kmalloc- kmem_cache ksm_ \
    maple_node mb_cache_entry mm_struct mnt_cache mqueue_ msg_msg names_cache net_namespace nfs_ nsproxy numa_ ovl_ \
    page->ptl pid pipe_inode pool_workqueue proc_ radix_tree_node request_ RAW rpc_ scsi_ seq_file sgpool- \
    shared_policy_ shmem_inode_cache sighand_cache sigqueue signal_cache skbuff_ sock_inode_cache squashfs_ \
    task_delay_info task_group task_struct taskstats TCP thread_stack trace_event_file tw_sock_TCP UDP UNIX \
    uts_namespace vm_area_struct vma_lock vmap_area xfs_ zspage zs_handle";

/// Units whose names every systemd machine has.
const UNITS: &[&str] = &["-.slice", "system.slice", "user.slice", "user-.slice", "user@.service", "machine.slice"];

/// Object caches: what is not known keeps its place in the order, not its name.
pub(super) fn slab(data: &mut Slab) {
    for (index, cache) in data.caches.iter_mut().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_->,".contains(c);
        let known = CACHES.split(' ').any(|start| cache.name.starts_with(start));
        if !known || cache.name.len() > 32 || !cache.name.chars().all(plain) {
            cache.name = format!("redacted-{index}");
        }
    }
}

/// The directory of a file says how strong it is and stays; its name goes, and so does a value that is no number.
pub(super) fn configured(data: &mut Configured) {
    const DIRS: [&str; 4] = ["/etc/sysctl.d/", "/run/sysctl.d/", "/usr/local/lib/sysctl.d/", "/usr/lib/sysctl.d/"];
    let mut files: Vec<String> = Vec::new();
    for setting in &mut data.settings {
        let number = files.iter().position(|file| *file == setting.file).unwrap_or_else(|| {
            files.push(setting.file.clone());
            files.len() - 1
        });
        let dir = DIRS.iter().find(|dir| setting.file.starts_with(*dir)).copied().unwrap_or_default();
        if setting.file != "/etc/sysctl.conf" {
            setting.file = format!("{dir}redacted-{number}.conf");
        }
        value(&mut setting.value);
        knob(&mut setting.key);
    }
    let in_force = std::mem::take(&mut data.in_force);
    data.in_force.extend(in_force.into_iter().map(|(mut key, mut text)| {
        value(&mut text);
        knob(&mut key);
        (key, text)
    }));
    unseen(&mut data.unseen);
}

/// A knob the kernel has is no secret; one that it does not have may be anything.
fn knob(key: &mut String) {
    let name = key.strip_prefix("vm.").unwrap_or_default();
    let others = ["max_map_count", "nr_hugepages", "oom_kill_allocating_task", "panic_on_oom", "overcommit_kbytes"];
    if !crate::sysctl::VmSettings::KEYS.contains(&name) && !others.contains(&name) {
        "vm.redacted".clone_into(key);
    }
}

fn value(text: &mut String) {
    if !text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '-') {
        "redacted".clone_into(text);
    }
}

/// Units of the distribution keep their names.
pub(super) fn killers(data: &mut Killers) {
    if let Some(oomd) = &mut data.oomd {
        for (index, unit) in oomd.watched.iter_mut().flatten().enumerate() {
            if !UNITS.contains(&unit.unit.as_str()) {
                unit.unit = format!("redacted-{index}");
            }
        }
        unseen(&mut oomd.unseen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::killers::{Oomd, Watched};
    use crate::slab::Cache;

    #[test]
    fn names_of_caches_files_and_units_go_unless_they_are_on_the_list() {
        let names =
            ["kmalloc-cg-4k", "raid5-alice", "dentry(7:alice)"].map(|n| Cache { name: n.into(), ..Cache::default() });
        let mut caches = Slab { caches: names.into() };
        slab(&mut caches);
        let names: Vec<&str> = caches.caches.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["kmalloc-cg-4k", "redacted-1", "redacted-2"]);
        let mut files = Configured::default();
        files.read("/etc/sysctl.d/alice.conf", "vm.swappiness = 10\nvm.alice=3\nvm.max_map_count = alice\n");
        files.in_force.insert("vm.alice".into(), "alice".into());
        configured(&mut files);
        assert!(!format!("{files:?}").contains("alice"), "{files:?}");
        assert_eq!(files.settings[0].file, "/etc/sysctl.d/redacted-0.conf");
        assert_eq!((files.settings[0].key.as_str(), files.settings[0].value.as_str()), ("vm.swappiness", "10"));
        let watched = Some(vec![Watched { unit: "alice.service".into(), ..Watched::default() }]);
        let mut both = Killers { oomd: Some(Oomd { watched, ..Oomd::default() }), ..Killers::default() };
        killers(&mut both);
        assert!(!format!("{both:?}").contains("alice"));
    }
}
