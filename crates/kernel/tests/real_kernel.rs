//! Against the kernel of this machine, as root: everything made here is removed again, also when an assertion fails.

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::zombie_processes, reason = "wait_with_usage waits; the lint knows only wait()")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use ramline_kernel::cgroup::{Group, Hierarchy, Version};
use ramline_kernel::direct::{Buffer, Direct};
use ramline_kernel::map::{Map, Sharing};
use ramline_kernel::{Root, loopdev, mount, place, process, residency, swap, zram};
use ramline_testkit::{not_root, skip_if};
use ramline_units::{Bytes, Limit};

fn root() -> Root {
    Root::live()
}

/// Runs a clean-up at the end of the test, whatever the end is.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Tests with a swap area of their own: where pages go depends on all that are on.
static SWAP: Mutex<()> = Mutex::new(());

/// A directory on a disk; the build directory, because /tmp may be a tmpfs.
fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("ramline-test-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn no_disk(test: &str, dir: &Path) -> bool {
    let place = place::describe(dir).unwrap();
    skip_if(!place.is_disk(), test, &format!("{} is {}", dir.display(), place.fs_type))
}

fn image(dir: &Path, name: &str, size: Bytes) -> PathBuf {
    let path = std::fs::canonicalize(dir).unwrap().join(name);
    std::fs::write(&path, vec![0u8; usize::try_from(size.0).unwrap()]).unwrap();
    path
}

#[test]
fn a_swap_file_is_made_switched_on_recognised_and_switched_off() {
    let test = "swap file";
    let dir = scratch();
    if not_root(test) || no_disk(test, dir.path()) {
        return;
    }
    let _alone = SWAP.lock().unwrap_or_else(PoisonError::into_inner);
    let path = std::fs::canonicalize(dir.path()).unwrap().join("swap");
    swap::create_file(&path, Bytes::from_mib(16)).unwrap();
    assert!(swap::create_file(&path, Bytes::from_mib(16)).is_err(), "an existing file is never taken");
    let uuid = swap::make(&path, process::page_size()).unwrap();
    let known = swap::label(&path, process::page_size()).unwrap().unwrap();
    assert_eq!((known.label.as_str(), &known.uuid), ("ramline", &uuid));
    assert!(!swap::is_on(&root(), &path).unwrap());

    let _off = Finally(|| drop(swap::swapoff(&path)));
    swap::swapon(&path, Some(3)).unwrap();
    let area = swap::areas(&root()).unwrap().into_iter().find(|area| Path::new(&area.path) == path).unwrap();
    assert_eq!((area.size, area.priority), (Bytes::from_mib(16).saturating_sub(Bytes(process::page_size())), 3));
    swap::swapoff(&path).unwrap();
    assert!(!swap::is_on(&root(), &path).unwrap());
}

#[test]
fn a_swap_file_too_large_for_its_place_is_refused_with_the_numbers() {
    let dir = scratch();
    if no_disk("swap file too large", dir.path()) {
        return;
    }
    let free = place::describe(dir.path()).unwrap().available;
    let error = swap::create_file(&dir.path().join("swap"), free).unwrap_err();
    assert!(error.is_refused() && error.to_string().contains("available"), "{error}");
    assert!(!dir.path().join("swap").exists());
}

#[test]
fn an_image_on_a_loop_device_has_its_own_read_ahead_and_is_mounted_and_taken_away() {
    let test = "loop device";
    let dir = scratch();
    let no_loop = !Path::new("/dev/loop-control").exists();
    if not_root(test) || no_disk(test, dir.path()) || skip_if(no_loop, test, "no loop driver") {
        return;
    }
    let file = image(dir.path(), "code.img", Bytes::from_mib(8));
    mount::mkfs_ext4(&file).unwrap();
    let device = loopdev::attach(&root(), &file).unwrap();
    let before = ramline_kernel::write::read_knob(&device.read_ahead_knob()).unwrap();
    let at = std::fs::canonicalize(dir.path()).unwrap().join("mnt");
    let _away = Finally(|| {
        drop(mount::unmount(&at));
        drop(ramline_kernel::write::write_knob(&device.read_ahead_knob(), &before));
        drop(device.detach());
    });

    assert_eq!(loopdev::attached_to(&root(), &file), std::slice::from_ref(&device));
    assert_eq!(device.block_size().unwrap(), 4096);
    assert_eq!(device.direct_io(), Some(true), "ext4 can do direct I/O");
    let change = ramline_kernel::write::write_knob(&device.read_ahead_knob(), "64").unwrap();
    assert_eq!(change.after.as_deref(), Some("64"));

    std::fs::create_dir(&at).unwrap();
    mount::ext4(device.node(), &at, false).unwrap();
    let mounted = mount::at(&root(), &at).unwrap();
    assert_eq!((mounted.fs.as_str(), Path::new(&mounted.source)), ("ext4", device.node()));
    std::fs::write(at.join("hello"), "there").unwrap();
    assert!(device.detach().unwrap_err().is_busy(), "a mounted device is not detached");
    mount::unmount(&at).unwrap();
    assert!(mount::at(&root(), &at).is_none());
    device.detach().unwrap();
    assert!(loopdev::attached_to(&root(), &file).is_empty());
    device.detach().unwrap();
}

#[test]
fn a_zram_device_counts_what_is_written_to_it_and_is_removed() {
    let test = "zram device";
    if not_root(test) || skip_if(!zram::has_control(&root()), test, "no zram-control") {
        return;
    }
    let device = zram::hot_add(&root()).unwrap();
    let _gone = Finally(|| {
        drop(device.reset());
        drop(device.hot_remove());
    });
    assert!(!device.is_initialised().unwrap());
    let offered = device.algorithms().unwrap();
    let algorithm = offered.last().unwrap();
    device.set_algorithm(algorithm).unwrap();
    assert_eq!(device.algorithms().unwrap().first(), Some(algorithm));
    assert!(device.set_algorithm("no-such-algorithm").is_err());
    device.set_mem_limit(Limit::At(Bytes::from_mib(4))).unwrap();
    device.set_disksize(Bytes::from_mib(8)).unwrap();
    assert!(device.is_initialised().unwrap());
    assert_eq!(device.disksize().unwrap(), Bytes::from_mib(8));

    let page = usize::try_from(process::page_size()).unwrap();
    let direct = Direct::open_writable(device.node()).unwrap();
    assert_eq!(direct.size(), Bytes::from_mib(8));
    let mut buffer = Buffer::new(page).unwrap();
    for index in 0..16u8 {
        // Compressible, but not one word over and over, which zram would not store at all.
        let text: Vec<u8> = (0..page).map(|at| u8::try_from(at % 251).unwrap() ^ index).collect();
        buffer.bytes_mut().copy_from_slice(&text);
        direct.write_at(&buffer, u64::from(index) * process::page_size()).unwrap();
    }
    drop(direct);
    let stat = device.mm_stat().unwrap();
    assert_eq!(stat.orig_data_size, Bytes(16 * process::page_size()));
    assert!(stat.compr_data_size < stat.orig_data_size && stat.compr_data_size > Bytes::ZERO, "{stat:?}");
    assert_eq!(stat.mem_limit, Some(Limit::At(Bytes::from_mib(4))));
    assert_eq!(device.io_stat().unwrap().failed_writes, 0);
    device.reset().unwrap();
    device.hot_remove().unwrap();
    assert!(!device.exists());
}

#[test]
fn a_group_limits_counts_kills_and_is_removed() {
    let test = "memory cgroup";
    let hierarchy = Hierarchy::detect(&root());
    let none = hierarchy.is_err();
    if not_root(test) || skip_if(none, test, "no memory controller is mounted") {
        return;
    }
    let hierarchy = hierarchy.unwrap();
    let group = Group::create(&hierarchy, &Hierarchy::group_name(7)).unwrap();
    let _gone = Finally(|| {
        drop(group.kill_all());
        drop(group.remove());
    });
    group.set_memory_limit(Limit::At(Bytes::from_mib(64))).unwrap();
    match group.set_swap_limit(Limit::At(Bytes::ZERO)) {
        Err(error) => assert!(error.is_unsupported(), "{error}"),
        Ok(_) => {
            // Both directions, with memsw in the way on version 1.
            group.set_memory_limit(Limit::At(Bytes::from_mib(96))).unwrap();
            group.set_memory_limit(Limit::At(Bytes::from_mib(48))).unwrap();
        }
    }
    let swappiness = ramline_kernel::write::write_knob(&group.dir().join("memory.swappiness"), "10");
    match hierarchy.version() {
        Version::V1 => assert_eq!(swappiness.unwrap().after.as_deref(), Some("10")),
        Version::V2 => assert!(swappiness.unwrap_err().is_absent(), "version 2 has no swappiness per group"),
    }

    // The child is inside from its first instruction: what the shell and dd touch is charged there.
    let mut fill = Command::new("sh");
    fill.args(["-c", "dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null; exec sleep 60"]);
    let mut child = process::spawn_tied(&mut fill, Some(&group.procs_file())).unwrap();
    assert_eq!(group.pids().unwrap().first(), Some(&child.id()));
    while group.stat().unwrap().peak.is_none_or(|peak| peak < Bytes::from_mib(16)) {
        assert!(child.try_wait().unwrap().is_none(), "the child ended early");
        if hierarchy.version() == Version::V2 && group.stat().unwrap().peak.is_none() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let stat = group.stat().unwrap();
    assert!(stat.current.unwrap() > Bytes::ZERO && stat.pgfault.unwrap() > 0, "{stat:?}");
    assert_eq!(stat.oom_kills, Some(0));
    assert_eq!(Group::open(group.dir()).unwrap(), group);
    group.kill_all().unwrap();
    assert!(group.pids().unwrap().is_empty());
    process::wait_with_usage(&child).unwrap();
    group.remove().unwrap();
    assert!(!group.dir().exists());
}

#[test]
fn in_version_two_everything_in_a_group_is_killed_at_once() {
    let test = "cgroup.kill";
    let unified = mount::list(&root()).unwrap().into_iter().find(|mounted| mounted.fs == "cgroup2");
    if not_root(test) || skip_if(unified.is_none(), test, "cgroup2 is not mounted") {
        return;
    }
    let dir = Path::new(&unified.unwrap().at).join(Hierarchy::group_name(8));
    std::fs::create_dir(&dir).unwrap();
    // Works without the memory controller too: only its own files are used.
    let group = Group::open(&dir).unwrap();
    let _gone = Finally(|| {
        drop(group.kill_all());
        drop(group.remove());
    });
    assert_eq!(group.version(), Version::V2);
    let mut shell = Command::new("sh");
    let child =
        process::spawn_tied(shell.args(["-c", "sleep 60 & sleep 60 & wait"]), Some(&group.procs_file())).unwrap();
    while group.pids().unwrap().len() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    group.kill_all().unwrap();
    process::wait_with_usage(&child).unwrap();
    group.remove().unwrap();
    assert!(!dir.exists());
    assert!(Group::open(&dir).unwrap_err().is_absent());
}

#[test]
fn a_group_that_is_not_ours_is_neither_opened_nor_made() {
    assert!(Group::open("/sys/fs/cgroup".as_ref()).unwrap_err().is_refused());
    let hierarchy = Hierarchy::detect(&root()).ok().filter(|hierarchy| hierarchy.parent().is_ok());
    if skip_if(hierarchy.is_none(), "a group that is not ours", "no memory controller is mounted") {
        return;
    }
    assert!(Group::create(&hierarchy.unwrap(), "system.slice").unwrap_err().is_refused());
}

#[test]
fn a_file_read_through_a_mapping_is_cached_and_eviction_is_proven() {
    let dir = scratch();
    if no_disk("eviction", dir.path()) {
        return;
    }
    let path = image(dir.path(), "file", Bytes::from_mib(2));
    let file = std::fs::File::open(&path).unwrap();
    let pages = Bytes::from_mib(2).0 / process::page_size();
    assert_eq!(residency::evict(&file, &path).unwrap().after.cached, 0);
    let map = Map::file(&file, &path).unwrap();
    for page in 0..pages {
        map.touch_read(usize::try_from(page * process::page_size()).unwrap()).unwrap();
    }
    assert_eq!(residency::count(&file, &path).unwrap().cached, pages);
    // Mapped pages are not evicted, and that is reported, not hidden.
    assert!(residency::evict(&file, &path).unwrap().after.cached > 0);
    drop(map);
    assert_eq!(residency::evict(&file, &path).unwrap().after.cached, 0);
}

#[test]
fn shared_anonymous_memory_is_shmem_of_the_process() {
    let me = std::process::id();
    let before = process::memory(&root(), me).unwrap().shared;
    let mut map = Map::anonymous(Bytes::from_mib(8), Sharing::Shared).unwrap();
    map.as_mut_slice().unwrap().fill(1);
    let grown = process::memory(&root(), me).unwrap().shared.saturating_sub(before);
    assert!(grown >= Bytes::from_mib(7) && grown <= Bytes::from_mib(9), "{grown}");
}
