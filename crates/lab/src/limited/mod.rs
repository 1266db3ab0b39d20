//! The sandbox of one run: a memory cgroup with its limit, and the swap of the arm, all fresh.
//!
//! What it is not: a container. Only memory is limited; swap areas and, in cgroup v2, swappiness are the whole machine's.

mod codec;
pub mod forecast;
mod lengths;
pub mod options;
pub mod plan;
pub mod pool;
pub mod report;
pub mod run;
pub mod watch;
pub mod work;

use std::io::Write;

use ramline_evidence::CodecTimes;
use ramline_model::settings::{Reach, reach};

use crate::prelude::*;
use pool::{Pool, PoolKeeper};

/// What is made for an arm, and how large.
#[derive(Debug, Clone)]
pub struct Sizes<'a> {
    /// Where the group is made.
    pub hierarchy: &'a Hierarchy,
    /// Limit of the group, pools included.
    pub limit: Bytes,
    /// Size of a zram device.
    pub zram: Bytes,
    /// Where a swap file goes, and its size; for an arm that has one.
    pub swap_file: Option<(PathBuf, Bytes)>,
    /// The file by which the workload is held until its pool is paid for, where it can be.
    pub hold: Option<&'a Path>,
}

/// Makes the file by which a workload is held, in a place that goes as a whole.
///
/// # Errors
/// It cannot be written.
pub fn hold_file(dir: &Path) -> Result<PathBuf> {
    let hold = dir.join("hold");
    let made = File::create_new(&hold).and_then(|mut file| file.write_all(&[0]));
    made.map_err(|error| LabError::file("write", &hold, error))?;
    Ok(hold)
}

/// What has been made for one run.
pub struct Sandbox {
    /// The group.
    pub group: Group,
    /// Its counters before anything was in it.
    pub base: GroupStat,
    /// Who follows the pool, with zram.
    pub keeper: Option<PoolKeeper>,
    /// What compression takes, with zram.
    pub codec: Option<CodecTimes>,
    /// Settings as read back, by name.
    pub verified: BTreeMap<String, String>,
    limit: Bytes,
}

impl Sandbox {
    /// Makes it; every step goes through the journal of `run`. `n` numbers the group.
    ///
    /// # Errors
    /// The first step that fails; `run` undoes what was made before.
    pub fn create(sizes: &Sizes<'_>, arm: &Arm, n: u32, run: &mut Run) -> Result<Sandbox> {
        let root = &run.root().clone();
        let limit = sizes.limit;
        // Swap first: the undo goes backwards and empties the group before the area is switched off.
        let (pool, codec) = swap_of(root, sizes, arm, run)?;
        let (group, mut verified) = (run.make_cgroup(sizes.hierarchy, n)?, BTreeMap::new());
        verified.extend(group::verified(group.set_memory_limit(Limit::At(limit))?));
        if arm.swap == SwapKind::None {
            let changes = group::forbid_swap(root, &group)?;
            if changes.is_empty() {
                verified.insert("swap areas".to_owned(), "none".to_owned());
            }
            verified.extend(group::verified(changes));
        }
        if let Some(value) = arm.swappiness {
            let after = knobs::set(Knob::Swappiness, &value.to_string(), &group, run)?.after;
            verified.insert("swappiness".to_owned(), after.unwrap_or_else(|| "not readable".to_owned()));
        }
        if let Some(Pool::Zram(device)) = &pool {
            verified.insert("zram algorithm".to_owned(), device.algorithms()?.first().cloned().unwrap_or_default());
        }
        if arm::needs_consent(arm) && arm.swap != SwapKind::Zswap {
            verified.extend(zswap::read(root, "enabled").map(|value| ("zswap enabled".to_owned(), value)));
        }
        if arm.swap == SwapKind::Zswap {
            let names = ["enabled", "compressor", "max_pool_percent"];
            verified.extend(names.map(|name| (format!("zswap {name}"), zswap::read(root, name).unwrap_or_default())));
        }
        let start = |pool| PoolKeeper::start(group.clone(), pool, limit, sizes.hold);
        let pool = match arm.swap {
            SwapKind::AsConfigured => Pool::for_host(root, group.version())?,
            // Where a group has a zswap of its own, it is charged for it.
            SwapKind::Zswap if reach(Knob::Zswap, knobs::place(group.version())) == Reach::PerGroup => None,
            _ => pool,
        };
        let keeper = pool.map(start).transpose()?;
        let base = group.stat()?;
        Ok(Sandbox { group, base, keeper, codec, verified, limit })
    }

    /// Adds to the limit what the worker has of its own and the kernel keeps for it, so that its load has what was asked for. It has locked its memory and
    /// waits, so that what it has now is there until it ends; how much that is.
    ///
    /// # Errors
    /// The limit cannot be written.
    pub fn make_up_for(&self, worker: &GroupStat) -> Result<Bytes> {
        let own = worker.anon.unwrap_or_default() + worker.kernel.unwrap_or_default();
        // Before the limit is written: the thread that follows a zram's pool may write one meanwhile.
        self.keeper.iter().for_each(|keeper| keeper.add(own));
        self.group.set_memory_limit(Limit::At(self.limit + own))?;
        Ok(own)
    }
}

fn swap_of(root: &Root, sizes: &Sizes<'_>, arm: &Arm, run: &mut Run) -> Result<(Option<Pool>, Option<CodecTimes>)> {
    // Some distributions have it on: the arm would be one of zswap under another name.
    if zswap::is_on(root) && matches!(arm.swap, SwapKind::File | SwapKind::Zram { .. } | SwapKind::ZramOverFile { .. })
    {
        run.set_knob(&zswap::parameter(root, "enabled"), "N")?;
    }
    if let Some((path, size)) = sizes.swap_file.as_ref().filter(|_| arm::on_disk(&arm.swap)) {
        let file = run.make_swap_file(path, *size)?;
        run.swap_on(&file, Some(PRIORITY - 1))?;
    }
    match &arm.swap {
        SwapKind::AsConfigured | SwapKind::None | SwapKind::File => Ok((None, None)),
        SwapKind::Zswap => {
            run.set_knob(&zswap::parameter(root, "enabled"), "Y")?;
            Ok((Some(Pool::Zswap(root.clone())), None))
        }
        SwapKind::Zram { algorithm } | SwapKind::ZramOverFile { algorithm } => {
            let device = run.hot_add_zram()?;
            let codec = codec::times(&device, algorithm.as_deref(), &arm.fill)?;
            if let Some(name) = algorithm {
                device.set_algorithm(name)?;
            }
            // No more than the group may have: were nobody to follow the pool, it would fail writes and not fill the machine.
            device.set_mem_limit(Limit::At(sizes.limit))?;
            device.set_disksize(sizes.zram)?;
            run.swap_on(device.node(), Some(PRIORITY))?;
            Ok((Some(Pool::Zram(device)), codec))
        }
    }
}

/// Whether what the arm swaps in comes from a disk; `None` where some of it does.
///
/// # Errors
/// /proc/swaps cannot be read.
pub fn swaps_to_disk(root: &Root, swap: &SwapKind) -> Result<Option<bool>> {
    Ok(match swap {
        SwapKind::None | SwapKind::File | SwapKind::Zswap => Some(true),
        SwapKind::Zram { .. } => Some(false),
        SwapKind::ZramOverFile { .. } => None,
        SwapKind::AsConfigured => {
            let areas = swap::areas(root)?;
            match areas.iter().filter(|area| area.zram_number().is_some()).count() {
                0 => Some(true),
                zram => (zram == areas.len()).then_some(false),
            }
        }
    })
}
