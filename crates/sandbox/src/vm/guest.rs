//! The first process of a guest: this very binary as /init. It sets the machine up as ordered, runs one child on the whole of
//! it, looks at it every 100 ms, says what it sees, and switches the machine off.
//!
//! What it is not: of any use on a host: it refuses unless it has pid 1.

use std::io::BufReader;
use std::process::ExitCode;

use ramline_evidence::Phase;
use ramline_kernel::cgroup::GroupStat;
use ramline_kernel::write::write_knob;
use ramline_kernel::{guest, meminfo, zram, zswap};

use super::message::{FIRST_LINE, GuestWork, Message, Orders, TROUBLE};
use crate::arm;
use crate::child::lines::{self, LONGEST};
use crate::child::{self, Event, Supervisor};
use crate::observe::{self, Observer};
use crate::prelude::*;

/// The hidden word by which the kernel's command line starts it.
pub const ARGUMENT: &str = "__guest";
/// The virtio serial port to the host.
pub const PORT: &str = "ramline";
/// Serial numbers of the disks.
pub const CODE_DISK: &str = "ramline-code";
/// The disk for swap.
pub const SWAP_DISK: &str = "ramline-swap";
/// Where the code disk is mounted.
pub const CODE_AT: &str = "/code";
/// The code file on it.
pub const CODE_FILE: &str = "/code/code";
/// The list of modules in the initramfs, in the order of loading.
pub const MODULE_LIST: &str = "/modules.list";

/// How long disks and ports may take to appear.
const PATIENCE: Duration = Duration::from_secs(20);
/// The areas: a zram device is used before a disk.
const FAST: i32 = 100;
const SLOW: i32 = 10;

/// Runs the guest to its end.
#[must_use]
pub fn main() -> ExitCode {
    if !guest::is_init() {
        eprintln!(
            "ramline: this is for the inside of a virtual machine\n  try: ramline lab run code-plus-data --sandbox vm"
        );
        return ExitCode::from(2);
    }
    println!("{FIRST_LINE}");
    let outcome = begin().and_then(|mut host| {
        let done = serve(&mut host);
        if let Err(error) = &done {
            drop(say(&mut host, &Message::Failed(lines::short(error))));
        }
        done
    });
    if let Err(error) = outcome {
        println!("{TROUBLE}{}", lines::short(&error));
    }
    // What was said must leave the port before the machine does.
    std::thread::sleep(Duration::from_millis(200));
    drop(guest::power_off());
    // The kernel panics when its first process ends, which the host understands too.
    ExitCode::FAILURE
}

/// File systems, modules, the port.
fn begin() -> Result<File> {
    guest::mount_basics()?;
    let list = Path::new(MODULE_LIST);
    let names = std::fs::read_to_string(list).map_err(|error| LabError::file("read", list, error))?;
    for name in names.lines() {
        let path = Path::new("/").join(name);
        match guest::load_module(&path) {
            // A driver for what this processor does not have.
            Err(error) if error.is_absent() && path.exists() => {}
            other => other?,
        }
        // An initramfs is memory: what is loaded need not be there twice.
        drop(std::fs::remove_file(&path));
    }
    let root = Root::live();
    wait_for("the port to the host", || guest::port(&root, PORT).ok())
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if start.elapsed() > PATIENCE {
            return Err(LabError::Workload(format!("{what} did not appear within {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn say(host: &mut File, message: &Message) -> Result<()> {
    lines::write(host, message)
}

fn serve(host: &mut File) -> Result<()> {
    let root = Root::live();
    say(host, &Message::Hello(observe::machine(&root)))?;
    let reader = host.try_clone().map_err(|error| LabError::Workload(error.to_string()))?;
    let line = lines::next(&mut BufReader::new(reader), LONGEST).unwrap_or_default();
    let orders: Orders = ramline_units::json::parse(&line).map_err(|error| LabError::Workload(error.to_string()))?;
    guest::stay_resident()?;
    let (mut verified, disks) = set_up(&root, &orders)?;
    if orders.work.is_some() {
        verified.insert("code cached at the start".to_owned(), cold_code()?.to_string());
    }
    let available = available(&root)?;
    say(host, &Message::Ready { verified, available })?;
    match &orders.work {
        Some(work) => run(&root, work, &disks, host),
        None => Ok(()),
    }
}

/// What the load can have: MemAvailable, and the free pages on lists of processors, which are in neither of the kernel's figures. Since 6.7 these lists
/// grow with what is freed, and the kernel's image and archive are freed just before: 5 MiB of a guest of 176.
fn available(root: &Root) -> Result<Bytes> {
    let snapshot = gather(root, Wanted { zoneinfo: true, ..Wanted::NOTHING });
    let listed = snapshot.zoneinfo.data().map(|zones| zones.cpu_lists().bytes(snapshot.machine.page_size));
    Ok(meminfo::available(root)? + listed.unwrap_or_default())
}

/// Names of the disks in use, for their counters.
type Disks = Vec<(&'static str, String)>;

fn set_up(root: &Root, orders: &Orders) -> Result<(BTreeMap<String, String>, Disks)> {
    let mut verified = BTreeMap::new();
    let mut disks = Vec::new();
    let mut note = |name: &str, value: Option<String>| {
        verified.insert(name.to_owned(), value.unwrap_or_else(|| "not readable".to_owned()));
    };
    if orders.work.is_some() {
        let code = wait_for("the code disk", || guest::disk(root, CODE_DISK))?;
        let knob = guest::read_ahead_knob(root, &code);
        // Before the mount: a file takes the read-ahead of its device when it is opened.
        let change = write_knob(&knob, &(orders.read_ahead.0 / 1024).to_string())?;
        note("code disk read-ahead KiB", change.after);
        guest::mount_disk(&node(root, &code), Path::new(CODE_AT))?;
        disks.push(("code", code));
    }
    if let SwapKind::Zram { algorithm } | SwapKind::ZramOverFile { algorithm } = &orders.swap {
        let device = zram::Device::open(root, *zram::list(root).first().unwrap_or(&0));
        if let Some(name) = algorithm {
            device.set_algorithm(name)?;
        }
        note("zram algorithm", device.algorithms()?.into_iter().next());
        note("zram disksize", device.set_disksize(orders.zram_size)?.after);
        area(device.node(), FAST)?;
    }
    if arm::on_disk(&orders.swap) {
        let disk = wait_for("the swap disk", || guest::disk(root, SWAP_DISK))?;
        area(&node(root, &disk), SLOW)?;
        disks.push(("swap", disk));
    }
    if orders.swap == SwapKind::Zswap {
        note("zswap enabled", write_knob(&zswap::parameter(root, "enabled"), "Y")?.after);
        for name in ["compressor", "zpool", "max_pool_percent"] {
            note(&format!("zswap {name}"), zswap::read(root, name));
        }
    }
    let swaps = arm::on_disk(&orders.swap) || arm::on_zram(&orders.swap);
    if swaps && orders.swap != SwapKind::Zswap && zswap::is_on(root) {
        note("zswap enabled", write_knob(&zswap::parameter(root, "enabled"), "N")?.after);
    }
    if let Some(value) = orders.swappiness {
        note("swappiness", guest::set_sysctl(root, "vm.swappiness", &value.to_string())?.after);
    }
    for (name, value) in &orders.sysctls {
        note(name, guest::set_sysctl(root, name, value)?.after);
    }
    match orders.mglru {
        Some(on) => note("MGLRU", guest::set_mglru(root, on)?.after),
        None => note("MGLRU", Some(guest::mglru(root).unwrap_or_else(|| "not in this kernel".to_owned()))),
    }
    let areas: Vec<String> = swap::areas(root)?
        .iter()
        .map(|area| format!("{} {} priority {}", area.path, area.size, area.priority))
        .collect();
    note("swap areas", Some(if areas.is_empty() { "none".to_owned() } else { areas.join(", ") }));
    Ok((verified, disks))
}

fn node(root: &Root, disk: &str) -> std::path::PathBuf {
    root.path("/dev").join(disk)
}

fn area(path: &Path, priority: i32) -> Result<()> {
    swap::make(path, process::page_size())?;
    Ok(swap::swapon(path, Some(priority))?)
}

/// Nothing has read the code since the boot; proven, not assumed.
fn cold_code() -> Result<Bytes> {
    let path = Path::new(CODE_FILE);
    let cached = Bytes(scratch::cached(path)?.saturating_mul(process::page_size()));
    if cached == Bytes::ZERO {
        return Ok(cached);
    }
    Err(LabError::Workload(format!("{cached} of the code were in memory before the start")))
}

/// Runs the workload and tells all about it.
fn run(root: &Root, work: &GuestWork, disks: &Disks, host: &mut File) -> Result<()> {
    say(host, &Message::Before(counters(root, disks)))?;
    let started = process::spawn_tied(&mut child::command(&work.kind, &work.task)?, None)?;
    let mut child: Supervisor<Value> = Supervisor::from_child(started);
    let observer = Observer::new(root, None, work.shared);
    let limit = gather(root, Wanted { meminfo: true, ..Wanted::NOTHING }).mem_total().unwrap_or_default();
    let (mut last, mut told) = (Sample::default(), false);
    loop {
        let (report, waits) = match child.next_event()? {
            Event::Report(report) => (report, false),
            Event::Waiting(report) => (report, true),
            Event::Tick => {
                let known = Sample { limit, pool: pool(root), ..last.clone() };
                say(host, &Message::Sample(Box::new(observer.sample(child.pid(), known))))?;
                continue;
            }
            Event::Ended(end) => {
                if !told {
                    say(host, &Message::After(counters(root, disks)))?;
                }
                let (user, system, major_faults) = (end.usage.user, end.usage.system, end.usage.majflt);
                let (status, failed) = (end.status.into_raw(), end.failed);
                return say(host, &Message::Ended { status, failed, user, system, major_faults });
            }
        };
        // What of it a sample shows.
        last = ramline_units::json::read(report.clone()).unwrap_or_default();
        if waits && last.phase == Phase::Done {
            // While its memory is still there.
            say(host, &Message::After(counters(root, disks)))?;
            told = true;
        }
        say(host, &Message::Report(report))?;
        if waits {
            child.resume();
        }
    }
}

fn pool(root: &Root) -> Option<Bytes> {
    let device = zram::Device::open(root, *zram::list(root).first()?);
    device.is_initialised().ok().filter(|yes| *yes)?;
    device.mm_stat().ok().map(|stat| stat.mem_used_total)
}

/// Those of the machine, and of each disk.
fn counters(root: &Root, disks: &Disks) -> BTreeMap<String, u64> {
    let mut out = observe::counters(root, &GroupStat::default());
    for (name, disk) in disks {
        if let Some((read, written)) = guest::sectors(root, disk) {
            out.insert(format!("disk.{name}.read_sectors"), read);
            out.insert(format!("disk.{name}.written_sectors"), written);
        }
    }
    if let Some(bytes) = pool(root) {
        out.insert("zram.pool_bytes".to_owned(), bytes.0);
    }
    out
}
