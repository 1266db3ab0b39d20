//! Removing names before a snapshot is shared: what may stay is listed, everything else goes.

mod configured;

use crate::prelude::*;
use crate::processes::Processes;
use crate::shmem::Shmem;
use crate::{Seen, Snapshot};

/// Mount points and directories whose names say nothing about their owner.
const PLACES: &str = "\
    / /boot /boot/efi /dev /dev/hugepages /dev/mqueue /dev/pts /dev/shm /home /opt /proc /root /run /run/lock /srv \
    /sys /sys/fs/cgroup /tmp /usr /var /var/lib /var/log /var/tmp";

/// Node names of block devices: kind and number, nothing else.
const DEVICES: &[&str] = &["sd", "vd", "xvd", "nvme", "mmcblk", "zram", "loop", "dm-", "md", "sr", "ram", "nbd", "hd"];

/// File-system types; one that is made up, as FUSE allows, may carry a name.
const TYPES: &str = "\
    autofs bcachefs bpf btrfs cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs erofs ext2 ext3 ext4 f2fs \
    fuse fusectl hugetlbfs mqueue nfs nfs4 overlay proc pstore ramfs rootfs securityfs squashfs sysfs tmpfs tracefs \
    vfat xfs zfs cifs";

/// Mount options that are numbers or switches.
const OPTIONS: &str = "\
    rw ro nosuid nodev noexec relatime noatime nodiratime discard size nr_inodes mode huge noswap usrquota grpquota \
    usrquota_block_hardlimit usrquota_inode_hardlimit grpquota_block_hardlimit grpquota_inode_hardlimit";

/// Parts of group paths that every machine of a kind has.
const GROUPS: &str = "docker init.scope kubepods kubepods.slice lxc machine.slice system.slice user.slice";

fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns the snapshot with every name replaced that is not on the allow-list.
#[must_use]
pub fn redact(mut snapshot: Snapshot) -> Snapshot {
    snapshot.machine.host = snapshot.machine.host.map(|_| "redacted".to_owned());
    snapshot.machine.boot_id = snapshot.machine.boot_id.map(|_| "redacted".to_owned());
    for (index, mount) in snapshot.mounts.data_mut().into_iter().flatten().enumerate() {
        mount.at = place(&mount.at, index);
        mount.root = place(&mount.root, index);
        mount.source = device(&mount.source, index);
        if !is_listed(TYPES, &mount.fs) {
            "redacted".clone_into(&mut mount.fs);
        }
        mount.options = options(&mount.options);
        mount.super_options = options(&mount.super_options);
    }
    for (index, area) in snapshot.swaps.data_mut().into_iter().flatten().enumerate() {
        area.path = device(&area.path, index);
    }
    for (index, block) in snapshot.blocks.data_mut().into_iter().flatten().enumerate() {
        block.backing_file = block.backing_file.take().map(|_| format!("redacted-{index}"));
        let partitions = block.partitions.iter_mut().map(|partition| &mut partition.name);
        for name in partitions.chain(&mut block.slaves).chain([&mut block.name]) {
            *name = device(name, index);
        }
    }
    if let Some(data) = snapshot.cgroups.data_mut() {
        data.root.path = place(&data.root.path, 0);
        if let Some(own) = &mut data.own {
            own.path = "redacted".to_owned();
        }
        unseen(&mut data.unseen);
    }
    for data in [&mut snapshot.groups, &mut snapshot.limited].into_iter().filter_map(Seen::data_mut) {
        let mut known = BTreeMap::new();
        for group in &mut data.list {
            let parts: Vec<String> = group.path.split('/').map(|part| self::group(part, &mut known)).collect();
            group.path = parts.join("/");
        }
        data.mount = place(&data.mount, 0);
        unseen(&mut data.unseen);
    }
    if let Some(data) = snapshot.zram.data_mut() {
        unseen(&mut data.unseen);
        for device in &mut data.devices {
            device.backing_dev = device.backing_dev.take().map(|name| self::device(&name, 0));
        }
    }
    unseen(snapshot.machine.unseen.as_mut_slice());
    snapshot.evictors.data_mut().into_iter().for_each(|data| unseen(&mut data.unseen));
    for (index, dir) in snapshot.dirs.data_mut().into_iter().flatten().enumerate() {
        dir.path = place(&dir.path, index);
    }
    snapshot.shmem.data_mut().into_iter().for_each(shmem);
    snapshot.slab.data_mut().into_iter().for_each(configured::slab);
    snapshot.configured.data_mut().into_iter().for_each(configured::configured);
    snapshot.killers.data_mut().into_iter().for_each(configured::killers);
    snapshot.processes.data_mut().into_iter().for_each(processes);
    // Their groups have lost the ids that they would be found by.
    if let Some(data) = snapshot.containers.data_mut() {
        data.list.clear();
        unseen(&mut data.unseen);
    }
    snapshot.each_unseen(|path, text| {
        // What could not be read is quoted as it is, names and all.
        "redacted".clone_into(path);
        if let Some(text) = text {
            "redacted".clone_into(text);
        }
    });
    snapshot
}

/// Files, objects and the processes that hold them lose their names; kinds, sizes and numbers stay.
fn shmem(data: &mut Shmem) {
    for (index, filesystem) in data.filesystems.iter_mut().enumerate() {
        filesystem.at = place(&filesystem.at, index);
        if !is_listed(TYPES, &filesystem.fs) {
            "redacted".clone_into(&mut filesystem.fs);
        }
    }
    for (index, file) in data.files.iter_mut().chain(&mut data.unowned_files).enumerate() {
        file.path = format!("redacted-{index}");
    }
    for (index, object) in data.objects.iter_mut().enumerate() {
        object.name = format!("redacted-{index}");
    }
    let holders = data.objects.iter_mut().flat_map(|o| &mut o.holders);
    let holders = holders.chain(data.segments.iter_mut().flat_map(|s| &mut s.holders));
    for holder in holders.chain(data.graphics.iter_mut().map(|g| &mut g.holder)) {
        "redacted".clone_into(&mut holder.name);
    }
    for segment in &mut data.segments {
        // A key may be derived from a path.
        segment.key = i64::from(segment.key != 0);
    }
    for (index, client) in data.graphics.iter_mut().enumerate() {
        if !client.driver.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-') {
            client.driver = format!("redacted-{index}");
        }
        client.device = format!("redacted-{index}");
        for region in &mut client.regions {
            region.name.retain(|c| c.is_ascii_alphanumeric());
        }
    }
}

/// Names of programs, users and control groups go; which processes share one stays, so the numbers can be read. Of the
/// users only root keeps its number.
fn processes(all: &mut Processes) {
    let numbered = |names: &mut [String], what: &str| {
        names.iter_mut().enumerate().for_each(|(index, name)| *name = format!("{what}-{index}"));
    };
    numbered(&mut all.groups, "/group");
    numbered(&mut all.programs, "program");
    all.users.clear();
    let mut uids: Vec<u32> = all.list.iter().map(|p| p.uid).filter(|uid| *uid != 0).collect();
    uids.sort_unstable();
    uids.dedup();
    for p in &mut all.list {
        "redacted".clone_into(&mut p.name);
        p.run_as = None;
        let place = uids.binary_search(&p.uid).ok().and_then(|at| u32::try_from(at).ok());
        p.uid = place.map_or(0, |at| 60_000_u32.saturating_add(at));
    }
}

fn unseen(list: &mut [Unseen]) {
    for entry in list {
        "redacted".clone_into(&mut entry.path);
        "redacted".clone_into(&mut entry.reason);
    }
}

fn group(part: &str, known: &mut BTreeMap<String, usize>) -> String {
    if part.is_empty() || is_listed(GROUPS, part) {
        return part.to_owned();
    }
    let next = known.len();
    format!("redacted-{}", known.entry(part.to_owned()).or_insert(next))
}

fn place(path: &str, index: usize) -> String {
    if is_listed(PLACES, path) { path.to_owned() } else { format!("redacted-{index}") }
}

fn device(name: &str, index: usize) -> String {
    let node = name.strip_prefix("/dev/").unwrap_or(name);
    let known = DEVICES.iter().any(|kind| {
        node.strip_prefix(kind).is_some_and(|rest| rest.len() <= 8 && rest.chars().all(|c| c.is_ascii_alphanumeric()))
    });
    let virtual_fs = ["tmpfs", "proc", "sysfs", "devtmpfs", "cgroup", "cgroup2", "none", "overlay"].contains(&node);
    if known || virtual_fs { name.to_owned() } else { format!("redacted-{index}") }
}

fn options(list: &str) -> String {
    let keep = |option: &&str| {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        is_listed(OPTIONS, key) && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '%' || c == '_')
    };
    list.split(',').filter(keep).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seen;
    use crate::cgroup::Group;
    use crate::groups::Groups;
    use crate::machine::Machine;
    use crate::processes::Process;
    use crate::shmem::{File, Filesystem, GraphicsClient, Holder, Object, Segment};
    use crate::{mounts, swaps};

    #[test]
    fn names_go_unless_they_are_on_the_list() {
        let mut snapshot =
            Snapshot::new(Machine { host: Some("alice-db".into()), boot_id: Some("b-1".into()), ..Machine::default() });
        let text = "1 0 8:1 / /home/alice/secret rw - ext4 /dev/mapper/alice rw,size=4k,context=alice\n2 0 8:1 / /tmp rw - tmpfs tmpfs rw\n";
        snapshot.mounts = Seen::new(mounts::parse("m", text).unwrap());
        let text = "head\n/dev/sda2 partition 4 0 -2\n/home/alice/swap file 4 0 -3\n";
        snapshot.swaps = Seen::new(swaps::parse("s", text).unwrap());
        let broken = mounts::parse("/home/alice/m", "1 0 0:2 / /home/alice rw\n").unwrap_err();
        snapshot.cgroups = Seen::Malformed(broken);
        snapshot.zram = Seen::Denied { path: "/home/alice/zram".into() };
        let group = |path: &str| Group { path: path.into(), ..Group::default() };
        let list = ["/", "/system.slice", "/system.slice/alice.service", "/alice.service"].map(group).to_vec();
        snapshot.groups = Seen::new(Groups { list, mount: "/home/alice".into(), ..Groups::default() });
        if let Seen::Seen { data, .. } = &mut snapshot.mounts {
            data[1].fs = "fuse.alice-sshfs".into();
        }
        let holder = || vec![Holder { name: "alice-sh".into(), ..Holder::default() }];
        snapshot.shmem = Seen::new(Shmem {
            filesystems: vec![Filesystem { at: "/home/alice".into(), fs: "tmpfs".into(), ..Filesystem::default() }],
            segments: vec![Segment { holders: holder(), ..Segment::default() }],
            objects: vec![Object { name: "/memfd:alice".into(), holders: holder(), ..Object::default() }],
            files: vec![File { path: "/tmp/alice".into(), ..File::default() }],
            unowned_files: vec![File { path: "/tmp/alice".into(), ..File::default() }],
            graphics: vec![GraphicsClient {
                device: "alice".into(),
                driver: "Alice alice".into(),
                ..GraphicsClient::default()
            }],
            ..Shmem::default()
        });
        let process = |uid| Process { name: "alice's".into(), uid, exe: Some(0), group: Some(0), ..Process::default() };
        let (exe, group) = ("/home/alice/bin/x".to_owned(), "/user.slice/alice".to_owned());
        snapshot.processes = Seen::new(Processes {
            list: vec![process(0), process(1017), process(1002)],
            programs: vec![exe],
            groups: vec![group],
            users: [(1017, "alice".to_owned())].into(),
            ..Processes::default()
        });
        let redacted = redact(snapshot);
        let uids: Vec<u32> = redacted.processes.data().unwrap().list.iter().map(|p| p.uid).collect();
        assert_eq!(uids, [0, 60_001, 60_000]);
        let redacted = serde_json::to_string(&redacted).unwrap();
        assert!(!redacted.contains("1017"), "{redacted}");
        assert!(!redacted.contains("alice") && !redacted.contains("b-1"), "{redacted}");
        assert!(redacted.contains("/system.slice/redacted-0") && redacted.contains("\"/redacted-0"), "{redacted}");
        assert!(redacted.contains("/tmp") && redacted.contains("/dev/sda2") && redacted.contains("size=4k"));
    }
}
