//! The single looks of the preflight: each says what is missing, with the numbers, and one command against it.
//!
//! What it is not: a decision; [`super::assess`] puts them together.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ramline_evidence::{Arm, SwapKind};
use ramline_gather::gather;
use ramline_gather::quiet;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::{self, Place};
use ramline_kernel::{KernelError, Root, process, swap, zram, zswap};
use ramline_snapshot::Wanted;
use ramline_units::{Bytes, Nanos, growth};

use super::{BUSY_LIMIT, PRIORITY, Reason, first_line, user};
use crate::arm;
use crate::code_plus_data::NAME;
use crate::error::Result;
use crate::settings::Settings;

/// Where scratch files may go, in this order, when nobody says.
pub const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];
/// How long the machine is looked at.
const LOOK: Duration = Duration::from_millis(300);
/// PSI memory some, in per cent, above which reclaim counts as active.
const PRESSURE: f64 = 1.0;
/// So many seconds are watched for one without reclaim.
const CALM: u32 = 5;
/// The arms that touch nothing outside their sandbox.
const PLAIN: &str = "ramline lab run code-plus-data --arms as-configured,no-swap";

fn of_kernel(error: &KernelError, otherwise: &str) -> Reason {
    let hint = error.try_hint.clone().unwrap_or_else(|| otherwise.to_owned());
    Reason { privilege: error.is_denied(), ..Reason::new(first_line(&error.to_string()), hint) }
}

pub fn mem_total(root: &Root) -> Bytes {
    gather(root, Wanted { meminfo: true, ..Wanted::NOTHING }).mem_total().unwrap_or_default()
}

/// The sandbox lives on the kernel killing inside a group that is out of memory. At 2 it would panic instead, and at 1 if
/// the machine ran short while we take memory.
pub fn panics(setting: Option<i64>) -> Option<Reason> {
    let value = setting.filter(|value| *value > 0)?;
    let when = if value > 1 { "a full sandbox" } else { "a machine that runs short of memory" };
    Some(Reason::new(
        format!("vm.panic_on_oom is {value}: the kernel would panic on {when} instead of killing a process"),
        "sudo sysctl vm.panic_on_oom=0",
    ))
}

pub fn hierarchy(root: &Root, reasons: &mut Vec<Reason>) -> Option<Hierarchy> {
    let other = "ramline show memory";
    let hierarchy = Hierarchy::detect(root).map_err(|error| reasons.push(of_kernel(&error, other))).ok()?;
    reasons.extend(hierarchy.parent().err().map(|error| of_kernel(&error, other)));
    Some(hierarchy)
}

/// `room` is what can be taken, `needed` the limit and the margin.
pub fn memory(room: Bytes, needed: Bytes, settings: &Settings) -> Option<Reason> {
    let smaller = if settings.unit > Bytes::from_mib(16) { "16MiB" } else { "4MiB" };
    (room < needed).then(|| {
        Reason::new(
            format!("memory: {needed} needed (limit {} and a margin), {room} can be taken", settings.limit()),
            format!("ramline lab run {NAME} --unit {smaller}"),
        )
    })
}

/// Programs and drivers; an ordinary user makes neither file systems nor devices.
pub fn programs(root: &Root, arms: &[Arm]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if user::is_one() {
        return reasons;
    }
    if !has_mke2fs() {
        reasons.push(Reason::new("the program mke2fs is not installed", "sudo apt install e2fsprogs"));
    }
    if !root.path("/dev/loop-control").exists() {
        reasons.push(Reason::new("there are no loop devices: /dev/loop-control is missing", "sudo modprobe loop"));
    }
    if arms.iter().any(|arm| arm::on_zram(&arm.swap)) && !zram::has_control(root) {
        reasons.push(Reason::new("zram: the driver is not loaded", "sudo modprobe zram"));
    }
    reasons.extend(arms.iter().find_map(|arm| unknown_algorithm(root, arm)));
    reasons
}

/// A device that is there tells what this kernel compresses with; without one the kernel tells when ours is made.
fn unknown_algorithm(root: &Root, arm: &Arm) -> Option<Reason> {
    let (SwapKind::Zram { algorithm: Some(name) } | SwapKind::ZramOverFile { algorithm: Some(name) }) = &arm.swap
    else {
        return None;
    };
    let offered = zram::Device::open(root, *zram::list(root).first()?).algorithms().ok()?;
    let (known, first) = (offered.contains(name), offered.first()?);
    (!known).then(|| {
        // The name of the arm, without what it was crossed with.
        let asked = arm.name.split(' ').next().unwrap_or_default();
        let text = format!("setting {asked}: zram of this kernel has no {name}, but {}", offered.join(", "));
        Reason::new(text, format!("ramline lab run {NAME} --arms {}", asked.replacen(name.as_str(), first, 1)))
    })
}

/// zswap is one for the whole machine: what is not ours must not go into it, and must not be in it.
pub fn zswap(root: &Root, arms: &[Arm]) -> Result<Vec<Reason>> {
    let Some(arm) = arms.iter().find(|arm| arm.swap == SwapKind::Zswap) else { return Ok(Vec::new()) };
    let elsewhere = format!("ramline lab run {NAME} --sandbox vm --kernel 6.12 --arms zswap:60");
    let reason = |text: String| vec![Reason::new(format!("setting {}: {text}", arm.name), elsewhere.clone())];
    if zswap::read(root, "enabled").is_none() {
        return Ok(reason("this kernel was built without zswap".to_owned()));
    }
    if let Some(area) = swap::areas(root)?.first() {
        let path = area.path.display();
        return Ok(reason(format!("zswap would be switched on for {path} too, and its pages share the pool")));
    }
    Ok(match zswap::pool(root) {
        Ok(Bytes::ZERO) => Vec::new(),
        Ok(pool) => reason(format!("zswap holds {pool} already")),
        Err(error) => reason(format!("its pool cannot be followed: {}", first_line(&error.to_string()))),
    })
}

/// Same places as where the file system is made.
pub fn has_mke2fs() -> bool {
    ["mke2fs", "/sbin/mke2fs", "/usr/sbin/mke2fs"].iter().any(|program| {
        let mut command = Command::new(program);
        command.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    })
}

pub fn place(settings: &Settings, arms: &[Arm], scratch: Bytes, reasons: &mut Vec<Reason>) -> Option<Place> {
    let swap_file = arms.iter().any(|arm| arm::on_disk(&arm.swap));
    let dirs = match &settings.dir {
        Some(dir) => vec![dir.clone()],
        // The others are root's.
        None if user::is_one() => vec![PathBuf::from(PLACES[0])],
        None => PLACES.map(PathBuf::from).to_vec(),
    };
    let mut why = Vec::new();
    for dir in dirs {
        match judge(&dir, scratch, swap_file) {
            Ok(place) => return Some(place),
            Err(mut more) => why.append(&mut more),
        }
    }
    reasons.append(&mut why);
    None
}

/// Whether `dir` can hold the scratch files.
pub fn judge(dir: &Path, scratch: Bytes, swap_file: bool) -> std::result::Result<Place, Vec<Reason>> {
    let elsewhere = format!("ramline lab run {NAME} --dir /var/tmp");
    let place = place::describe(dir).map_err(|error| vec![of_kernel(&error, &elsewhere)])?;
    let tried = "place scratch files in";
    let disk = place.refuse_unless_disk(tried).err();
    // Root writes file systems and swap areas there: nobody else may put other files in their place.
    let private = place::refuse_unless_private(tried, dir).err();
    let refused: Vec<_> = [disk, private, place.refuse_unless_writable(tried).err()].into_iter().flatten().collect();
    let mut reasons: Vec<Reason> = refused.iter().map(|error| of_kernel(error, &elsewhere)).collect();
    if swap_file && place.fs_type == "btrfs" {
        let text = format!("swap: {} is btrfs, where a swap file would be copied on write", dir.display());
        reasons.push(Reason::new(text, PLAIN));
    }
    // Twice, so that the disk is never left full by us.
    let needed = Bytes(scratch.0.saturating_mul(2));
    if place.available < needed {
        let text = format!("disk: {needed} free needed in {}, {} available", dir.display(), place.available);
        reasons.push(Reason::new(text, format!("ramline lab run {NAME} --unit 4MiB")));
    }
    if reasons.is_empty() { Ok(place) } else { Err(reasons) }
}

/// Areas that would be used before ours: then an arm would measure somebody else's swap.
pub fn outranked(root: &Root, arms: &[Arm]) -> Result<Vec<Reason>> {
    if !arms.iter().any(|arm| arm::on_disk(&arm.swap) || arm::on_zram(&arm.swap)) {
        return Ok(Vec::new());
    }
    Ok(outranking(root)?.into_iter().map(|text| Reason::new(text, PLAIN)).collect())
}

/// The same in sentences, for any experiment that makes an area.
pub fn outranking(root: &Root) -> Result<Vec<String>> {
    let before = swap::areas(root)?.into_iter().filter(|area| area.priority >= i64::from(PRIORITY - 1));
    let told = |area: swap::Area| {
        let (path, priority) = (area.path.display(), area.priority);
        format!("swap: {path} has priority {priority}, which is used beside or before the area of a setting")
    };
    Ok(before.map(told).collect())
}

/// Refuses a busy machine, and for arms that touch more than the sandbox one that reclaims; returns what is doubtful.
pub fn quiet(root: &Root, settings: &Settings, arms: &[Arm], reasons: &mut Vec<Reason>) -> Result<Vec<String>> {
    let before = reclaim(root);
    let seen = quiet::look(root, LOOK)?;
    if arms.iter().any(arm::needs_consent) && reclaiming(before.recent, before, reclaim(root)).is_some() {
        reasons.extend(lasting(root));
    }
    if seen.cpu_busy > BUSY_LIMIT && !settings.allow_busy {
        reasons.push(Reason::new(
            format!(
                "the machine is busy: {:.0} % of the CPU time, at most {:.0} % allowed",
                seen.cpu_busy * 100.0,
                BUSY_LIMIT * 100.0
            ),
            format!("ramline lab run {NAME} --allow-busy"),
        ));
    }
    Ok(seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect())
}

/// What the kernel has counted: microseconds in which somebody waited for memory, pages swapped out, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reclaim {
    stalled_us: Option<u64>,
    /// Per cent of the last 10 s.
    recent: Option<f64>,
    /// `None` where the kernel does not swap.
    swapped: Option<u64>,
    at: Nanos,
}

fn reclaim(root: &Root) -> Reclaim {
    let seen = gather(root, Wanted { vmstat: true, pressure_memory: true, ..Wanted::NOTHING });
    let some = seen.pressure_memory.data().and_then(|psi| psi.some.as_ref());
    Reclaim {
        stalled_us: some.map(|some| some.total_us),
        recent: some.map(|some| some.avg10),
        swapped: seen.vmstat.data().and_then(|vmstat| vmstat.pswpout),
        at: process::monotonic(),
    }
}

/// An average of 10 s still tells of what is over, a sandbox of ours included. So where there is a sign, the counters are
/// watched for a calm second; a machine without one is short of memory for good.
fn lasting(root: &Root) -> Option<Reason> {
    let mut found = None;
    for _ in 0..CALM {
        let before = reclaim(root);
        std::thread::sleep(Duration::from_secs(1));
        let after = reclaim(root);
        found = reclaiming(stalled(before, after), before, after);
        found.as_ref()?;
    }
    found
}

/// The share of the time between two looks in which somebody waited for memory, in per cent; `None` without PSI.
fn stalled(before: Reclaim, after: Reclaim) -> Option<f64> {
    let waited = Nanos(growth(before.stalled_us?, after.stalled_us?)?.saturating_mul(1000));
    let time = Nanos(after.at.0.saturating_sub(before.at.0).max(1));
    Some(waited.as_secs_f64() / time.as_secs_f64() * 100.0)
}

/// A swap area more, or a pool, would take part in what the machine is doing for real.
fn reclaiming(psi: Option<f64>, before: Reclaim, after: Reclaim) -> Option<Reason> {
    let swapped = before.swapped.zip(after.swapped).map(|(before, after)| growth(before, after));
    let what = match (psi.filter(|percent| *percent > PRESSURE), swapped) {
        (Some(percent), _) => format!("tasks wait for memory {percent:.1} % of the time"),
        (None, None | Some(Some(0))) => return None,
        (None, Some(Some(pages))) => format!("{pages} pages are swapped out per second"),
        (None, Some(None)) => "how much is swapped out is not known, its counter went back".to_owned(),
    };
    let text = format!("the machine is short of memory itself, no time for a swap area of ours: {what}");
    Some(Reason::new(text, PLAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_file_system_is_refused_with_its_name() {
        let reasons = judge(Path::new("/proc"), Bytes::from_mib(1), false).unwrap_err();
        assert!(reasons[0].text.contains("/proc is proc"), "{reasons:?}");
    }

    #[test]
    fn too_little_disk_is_refused_with_the_numbers() {
        let reasons = judge(Path::new("."), Bytes(u64::MAX / 4), false).unwrap_err();
        let told = |why: &Reason| why.text.starts_with("disk: ") && why.text.contains("available");
        assert!(reasons.iter().any(told), "{reasons:?}");
    }

    #[test]
    fn a_kernel_that_panics_when_memory_is_out_is_left_in_peace() {
        assert_eq!((panics(None), panics(Some(0))), (None, None));
        assert!(panics(Some(1)).unwrap().text.contains("machine that runs short"));
        assert!(
            panics(Some(2)).unwrap().text.contains("vm.panic_on_oom is 2: the kernel would panic on a full sandbox")
        );
    }

    #[test]
    fn the_room_below_every_limit_counts_and_the_hint_is_a_smaller_unit() {
        let settings = Settings::default();
        assert_eq!(memory(Bytes::from_mib(800), Bytes::from_mib(800), &settings), None);
        let reason = memory(Bytes::from_mib(300), Bytes::from_mib(800), &settings).unwrap();
        assert!(
            reason.text.contains("800.0 MiB needed") && reason.text.contains("300.0 MiB can be taken"),
            "{reason:?}"
        );
        assert_eq!(reason.hint, "ramline lab run code-plus-data --unit 16MiB");
    }

    fn counted(stalled_us: Option<u64>, swapped: u64, at_s: u64) -> Reclaim {
        Reclaim { stalled_us, recent: None, swapped: Some(swapped), at: Nanos(at_s * 1_000_000_000) }
    }

    #[test]
    fn a_machine_that_reclaims_or_swaps_gets_no_swap_area_from_us() {
        let (calm, swapping) = (counted(None, 5, 1), counted(None, 17, 2));
        assert_eq!((reclaiming(None, calm, calm), reclaiming(Some(1.0), calm, calm)), (None, None));
        assert!(reclaiming(Some(1.5), calm, calm).unwrap().text.contains("1.5 % of the time"));
        let reason = reclaiming(Some(0.0), calm, swapping).unwrap();
        assert!(reason.text.contains("12 pages are swapped out") && reason.hint == PLAIN, "{reason:?}");
    }

    #[test]
    fn pressure_is_what_was_waited_between_the_looks_and_not_before() {
        let before = counted(Some(9_000_000), 0, 10);
        assert_eq!(stalled(before, counted(Some(9_000_000), 0, 11)), Some(0.0));
        assert_eq!(stalled(before, counted(Some(9_500_000), 0, 12)), Some(25.0));
        assert_eq!(stalled(before, counted(None, 0, 12)), None);
    }
}
