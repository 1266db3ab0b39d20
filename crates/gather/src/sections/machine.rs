//! The machine itself: page size, boot id, clock, container, hypervisor.

use std::time::{SystemTime, UNIX_EPOCH};

use ramline_kernel::process::{boottime, page_size};
use ramline_snapshot::machine::Machine;
use ramline_units::{Bytes, PageSize};

use super::foreign::lxcfs;
use super::nodes::nodes;
use super::reader::Reader;

pub fn machine(reader: &Reader<'_>) -> Machine {
    if let Some(meta) = reader.meta() {
        return Machine { lxcfs: lxcfs(reader), captured: true, ..meta.machine.clone() };
    }
    let uname = rustix::system::uname();
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    Machine {
        kernel: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        page_size: PageSize(page_size()),
        ticks_per_s: rustix::param::clock_ticks_per_second(),
        unseen: None,
        cpus: wide(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        host: reader.word("/proc/sys/kernel/hostname"),
        boot_id: reader.word("/proc/sys/kernel/random/boot_id"),
        uptime: Some(boottime()),
        taken_unix_ns: unix_ns(),
        root: rustix::process::geteuid().is_root(),
        container: container(reader),
        hypervisor: hypervisor(reader),
        lxcfs: lxcfs(reader),
        free_page_reporting: free_page_reporting(reader),
        balloon_deflates_on_oom: balloon_has(reader, DEFLATES_ON_OOM),
        nodes: nodes(&|dir| reader.names(dir), &|path| reader.text(path).ok()),
        copied: false,
        captured: false,
    }
}

/// Now, in nanoseconds since 1970.
pub fn unix_ns() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| u64::try_from(d.as_nanos()).ok())
}

/// The marker files container managers leave, by manager.
fn container(reader: &Reader<'_>) -> Option<String> {
    // Images made from containers keep the marker; where the kernel's own threads are visible, this is no container.
    if reader.word("/proc/2/comm").as_deref() == Some("kthreadd") {
        return None;
    }
    let named = reader.word("/run/systemd/container").filter(|name| !name.is_empty());
    let marker = |path: &str, name: &str| reader.exists(path).then(|| name.to_owned());
    named.or_else(|| marker("/.dockerenv", "docker")).or_else(|| marker("/run/.containerenv", "podman"))
}

/// A hypervisor shows as a CPU flag; its name, if anywhere, in the firmware's tables.
fn hypervisor(reader: &Reader<'_>) -> Option<String> {
    let name = ["/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"].iter().find_map(|p| reader.word(p));
    // The first CPU's flags suffice: on a large machine the whole file takes milliseconds.
    let flagged = first_block("/proc/cpuinfo", reader)
        .is_some_and(|text| text.split_ascii_whitespace().any(|word| word == "hypervisor"));
    flagged.then(|| name.unwrap_or_else(|| "unknown".to_owned()))
}

/// Device type of a memory balloon, and the places of its features "deflate on OOM" and "free page reporting" (virtio 1.2, 5.5.3).
const BALLOON: &str = "0x0005";
const DEFLATES_ON_OOM: usize = 2;
const REPORTING: usize = 5;

/// Whether a virtio balloon and its driver agreed on a feature; `None` without one.
fn balloon_has(reader: &Reader<'_>, feature: usize) -> Option<bool> {
    let bus = "/sys/bus/virtio/devices";
    let names = reader.names(bus);
    let file = |name: &String, file: &str| reader.word(&format!("{bus}/{name}/{file}"));
    let device = names.iter().find(|name| file(name, "device").as_deref() == Some(BALLOON))?;
    Some(file(device, "features")?.as_bytes().get(feature) == Some(&b'1'))
}

/// Blocks of `page_reporting_order` pages, which is 2 MiB unless someone set it.
fn free_page_reporting(reader: &Reader<'_>) -> Option<Bytes> {
    balloon_has(reader, REPORTING).filter(|reports| *reports)?;
    let order = reader.word("/sys/module/page_reporting/parameters/page_reporting_order")?.parse::<u32>().ok()?;
    Some(Bytes(page_size().checked_shl(order).filter(|_| order < 20)?))
}

fn first_block(path: &str, reader: &Reader<'_>) -> Option<String> {
    use std::io::Read;
    let mut buffer = [0; 4096];
    let count = ramline_kernel::kernel_file::open(&reader.root.path(path)).ok()?.read(&mut buffer).ok()?;
    Some(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::Root;

    #[test]
    fn free_pages_are_reported_where_a_balloon_has_the_feature() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let seen = || free_page_reporting(&Reader::new(&Root::new(dir.path())));
        write("sys/module/page_reporting/parameters/page_reporting_order", "9\n");
        write("sys/bus/virtio/devices/virtio0/device", "0x0002\n");
        write("sys/bus/virtio/devices/virtio0/features", "0000010000\n");
        assert_eq!(seen(), None, "a disk");
        write("sys/bus/virtio/devices/virtio1/device", "0x0005\n");
        write("sys/bus/virtio/devices/virtio1/features", "0110000100\n");
        assert_eq!(seen(), None, "a balloon that does not report");
        let deflates = || balloon_has(&Reader::new(&Root::new(dir.path())), DEFLATES_ON_OOM);
        assert_eq!(deflates(), Some(true));
        write("sys/bus/virtio/devices/virtio1/features", "0100010100\n");
        assert_eq!(deflates(), Some(false));
        write("sys/bus/virtio/devices/virtio1/features", "0110010100\n");
        assert_eq!(seen(), Some(Bytes(512 * u64::try_from(rustix::param::page_size()).unwrap())));
        write("sys/module/page_reporting/parameters/page_reporting_order", "-1\n");
        assert_eq!(seen(), None, "nobody registered");
    }
}
