//! The machine itself: page size, boot id, clock, container, hypervisor.

use std::time::{SystemTime, UNIX_EPOCH};

use ramline_snapshot::machine::Machine;
use ramline_units::PageSize;

use super::reader::{Reader, boottime};

pub fn machine(reader: &Reader<'_>) -> Machine {
    if let Some(meta) = reader.meta() {
        return meta.machine.clone();
    }
    let uname = rustix::system::uname();
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    Machine {
        kernel: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        page_size: PageSize(wide(rustix::param::page_size())),
        ticks_per_s: rustix::param::clock_ticks_per_second(),
        cpus: wide(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)),
        boot_id: reader.word("/proc/sys/kernel/random/boot_id"),
        uptime: Some(boottime()),
        taken_unix_ns: SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|d| u64::try_from(d.as_nanos()).ok()),
        root: rustix::process::geteuid().is_root(),
        container: container(reader),
        hypervisor: hypervisor(reader),
    }
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

fn first_block(path: &str, reader: &Reader<'_>) -> Option<String> {
    use std::io::Read;
    let mut buffer = [0; 4096];
    let count = std::fs::File::open(reader.root().path(path)).ok()?.read(&mut buffer).ok()?;
    Some(String::from_utf8_lossy(&buffer[..count]).into_owned())
}
