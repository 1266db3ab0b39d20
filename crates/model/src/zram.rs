//! zram: how far it is set up (a ladder), what every field means, and what it gains.
//!
//! The rung reached and the next step; per device all fields of mm_stat, bd_stat and io_stat with
//! unit and scope; true and effective ratio, net gain, capacity. Not a choice of algorithm or size.
//!
//! Formulas (fields as in `zram_drv.c`; `same` and `huge` are pages, `bd_count` is 4 KiB units, here bytes):
//! `resident = orig − page·same − bd_count`, `true ratio = resident / compr`, `efficiency = compr / mem_used`,
//! `effective ratio = resident / mem_used`, `slot table = 16 B · disksize / page` (not in mem_used),
//! `net saved = orig − mem_used − slot table`, `incompressible = huge / (orig/page − same − bd_count/page)`,
//! `capacity = RAM − zram/ratio + zram`.
//!
//! Worked example: 60 GB RAM with a 30 GB device at 2:1 hold 60 − 15 + 30 = 75 GB.

mod fields;

use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::zram::{ZramDevice, ZramSupport};
use ramline_units::Ratio;

use crate::prelude::*;
use crate::swap;
pub use fields::{Field, FieldValue, Scope, Unit, fields};

/// Bytes of the slot table per page of disksize, allocated when the size is set.
pub const SLOT_BYTES: u64 = 16;

/// How far zram is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Whether this kernel has it was not seen, as in a container.
    NotKnown,
    /// No module for this kernel was found.
    NotBuilt,
    /// A module is installed and not loaded.
    ModulePresent,
    /// Loaded or built in; no device.
    Loaded,
    /// A device without size.
    DeviceExists,
    /// Sized; no swap header was found on it (or it could not be looked for).
    Sized,
    /// It holds a swap header and is not in use as swap.
    Formatted,
    /// In use as swap.
    Active,
    /// In use as swap, yet an area that is not zram comes first, or takes turns with it; see [`SwapArea`] priorities
    /// and [`swap::outranks`].
    Outranked,
}

impl Rung {
    /// Set up by hand or by a service so far that its next step is plainly wanted; below that zram is an offer, not a task.
    #[must_use]
    pub const fn is_begun(self) -> bool {
        matches!(self, Rung::Formatted | Rung::Outranked)
    }

    /// Position on the ladder, for comparing devices: outranked is short of active, and without a module there is no ladder.
    const fn height(self) -> u8 {
        match self {
            Rung::NotKnown => Rung::NotBuilt as u8,
            Rung::Active => Rung::Outranked as u8 + 1,
            other => other as u8,
        }
    }
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// In words.
    pub words: String,
    /// As a command, where one command does it.
    pub command: Option<String>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// `zram0`.
    pub name: String,
    /// How far it is set up.
    pub rung: Rung,
    /// The next step; `None` at the top.
    pub next: Option<Step>,
    /// Uncompressed capacity.
    pub disksize: Bytes,
    /// Chosen algorithm.
    pub algorithm: Option<String>,
    /// Algorithms to choose from.
    pub algorithms: Vec<String>,
    /// Its priority as swap.
    pub priority: Option<i32>,
    /// The area that outranks it.
    #[serde(default)]
    pub outranked_by: Option<OutrankedBy>,
    /// Every field of its statistics.
    pub fields: Vec<Field>,
    /// What it gains; `None` without mm_stat.
    pub gain: Option<Gain>,
    /// What its slots in use as swap are; `None` where it is no swap.
    #[serde(default)]
    pub slots: Option<swap::Slots>,
    /// Writes that failed: the limit was hit or no memory was found. Counter.
    pub failed_writes: Option<u64>,
    /// Larger than twice the RAM: at 2:1 it cannot fill.
    pub beyond_twice_ram: bool,
    /// Where pages can be written back to: a block device, or `none`; `None` where this kernel has no writeback.
    #[serde(default)]
    pub backing: Option<String>,
    /// Further algorithms pages can be compressed with again, as the kernel lists them: empty where none is set, `None` where
    /// this kernel cannot.
    #[serde(default)]
    pub recompression: Option<String>,
}

/// An area that is not zram and comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutrankedBy {
    /// Device or file.
    pub path: String,
    /// Its priority.
    pub priority: i32,
    /// The same priority: pages go to both in turn.
    pub equal: bool,
    /// It has no room left, so for now pages go to zram.
    pub full: bool,
}

impl OutrankedBy {
    /// `an area of higher priority, /dev/sda2 (200), takes the pages first`.
    #[must_use]
    pub fn words(&self) -> String {
        let OutrankedBy { path, priority, .. } = self;
        let (takes, until) = if self.full { ("took", " until now; it is full") } else { ("takes", "") };
        match self.equal {
            false => format!("an area of higher priority, {path} ({priority}), {takes} the pages first{until}"),
            true => format!("{path} has the same priority ({priority}) and {takes} every other page{until}"),
        }
    }
}

/// What a device gains, from its statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// Stored, uncompressed, same-filled and written-back pages included.
    pub stored: Bytes,
    /// Of it, compressed in RAM.
    pub resident: Bytes,
    /// RAM it uses, slot table excluded.
    pub mem_used: Bytes,
    /// RAM of the slot table, used from the moment the size is set.
    pub slot_table: Bytes,
    /// What `zramctl` calls COMP-RATIO: stored over RAM used, with pages counted that are not in RAM at all.
    #[serde(default)]
    pub zramctl_ratio: Option<Ratio>,
    /// Compression alone; `None` while nothing is compressed.
    pub true_ratio: Option<Ratio>,
    /// After the allocator's overhead.
    pub effective_ratio: Option<Ratio>,
    /// Payload over RAM used.
    pub efficiency: Option<f64>,
    /// RAM gained; negative when overhead exceeds the gain.
    pub net_saved: SignedBytes,
    /// Share of resident pages that did not compress and are kept whole.
    pub incompressible: Option<f64>,
    /// disksize not yet used.
    pub headroom: Bytes,
    /// RAM until the limit; `None` without one.
    pub limit_headroom: Option<Bytes>,
    /// Share of the limit in use; writes fail at 1.
    pub limit_use: Option<f64>,
    /// RAM a full device would use at the effective ratio, slot table included.
    pub full_cost: Option<Bytes>,
    /// What RAM and this device hold together at the effective ratio.
    pub capacity: Option<Bytes>,
}

/// With less than this compressed in RAM, ratios say more about the pool's first pages than about the load.
pub const ENOUGH_RESIDENT: Bytes = Bytes::from_mib(16);

impl Gain {
    /// Enough is stored for the ratios, and what is computed from them, to say something.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.resident >= ENOUGH_RESIDENT
    }
}

/// zram on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZramState {
    /// The highest rung any device reached.
    pub rung: Rung,
    /// The next step from there; `None` at the top.
    pub next: Option<Step>,
    /// In a container: zram belongs to the host, nothing can be set up here.
    pub container: Option<String>,
    /// Devices.
    pub devices: Vec<Device>,
    /// zswap is on as well: it stands in front and compresses first.
    pub zswap_in_front: bool,
    /// Every populated zone is at `min` or below: the pool itself may fail to get memory.
    pub pool_starved: bool,
}

/// `RAM − zram/ratio + zram`: what fits when a device of this size is full. `None` for a ratio that is not positive, and where RAM
/// cannot hold the pool of a full one.
#[must_use]
pub fn capacity(ram: Bytes, disksize: Bytes, ratio: Ratio) -> Option<Bytes> {
    Some(ram.checked_sub(compressed(disksize, ratio)?)? + disksize)
}

/// `size / ratio`, rounded.
fn compressed(size: Bytes, ratio: Ratio) -> Option<Bytes> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; `as` saturates")]
    (ratio.0.is_finite() && ratio.0 > 0.0).then(|| Bytes((size.as_f64() / ratio.0).round() as u64))
}

/// RAM of the slot table: 16 bytes a page of disksize.
#[must_use]
pub fn slot_table(disksize: Bytes, page: PageSize) -> Bytes {
    disksize.scale(SLOT_BYTES, page.0).unwrap_or_default()
}

/// What a device gains; `None` without mm_stat.
#[must_use]
pub fn gain(device: &ZramDevice, page: PageSize, ram: Option<Bytes>) -> Option<Gain> {
    let mm = device.mm.as_ref()?;
    let (stored, mem_used) = (mm.orig_data_size, mm.mem_used_total);
    // What is written out between the readings of the two files no longer lies here.
    let resident = stored.saturating_sub(mm.same_pages.bytes(page) + device.bd.map_or(Bytes::ZERO, |b| b.count));
    let effective_ratio = Ratio::from_sizes(resident, mem_used);
    let slot_table = slot_table(device.disksize, page);
    let limit = mm.mem_limit.and_then(Limit::bytes);
    Some(Gain {
        stored,
        resident,
        mem_used,
        slot_table,
        zramctl_ratio: Ratio::from_sizes(stored, mem_used),
        true_ratio: Ratio::from_sizes(resident, mm.compr_data_size),
        effective_ratio,
        efficiency: mm.compr_data_size.share_of(mem_used),
        net_saved: SignedBytes::difference(stored, mem_used + slot_table),
        incompressible: mm.huge_pages.and_then(|huge| huge.bytes(page).share_of(resident)),
        headroom: device.disksize.saturating_sub(stored),
        limit_headroom: limit.map(|l| l.saturating_sub(mem_used)),
        limit_use: limit.and_then(|l| mem_used.share_of(l)),
        full_cost: effective_ratio.and_then(|r| Some(compressed(device.disksize, r)? + slot_table)),
        capacity: ram.zip(effective_ratio).and_then(|(ram, ratio)| capacity(ram, device.disksize, ratio)),
    })
}

/// The rung one device reached.
#[must_use]
pub fn device_rung(device: &ZramDevice, swaps: &[SwapArea]) -> Rung {
    if let Some(own) = area(device, swaps) {
        return if outranked_by(own, swaps).is_some() { Rung::Outranked } else { Rung::Active };
    }
    match (device.initialised || device.disksize.0 > 0, device.formatted) {
        (false, _) => Rung::DeviceExists,
        (true, Some(true)) => Rung::Formatted,
        (true, _) => Rung::Sized,
    }
}

/// The rung without any device.
#[must_use]
pub fn support_rung(support: &ZramSupport) -> Rung {
    if support.control || support.builtin == Some(true) {
        Rung::Loaded
    } else if support.module_installed == Some(true) {
        Rung::ModulePresent
    } else if support.builtin.is_none() && support.module_installed.is_none() {
        Rung::NotKnown
    } else {
        Rung::NotBuilt
    }
}

/// The first area that outranks a zram area, those with room before full ones.
fn outranked_by(own: &SwapArea, swaps: &[SwapArea]) -> Option<OutrankedBy> {
    let mut over: Vec<&SwapArea> = swaps.iter().filter(|a| swap::outranks(a, own)).collect();
    ramline_units::sort_by_key(&mut over, |a| (swap::is_full(a), std::cmp::Reverse(a.priority)));
    over.first().map(|a| OutrankedBy {
        path: a.path.clone(),
        priority: a.priority,
        equal: a.priority == own.priority,
        full: swap::is_full(a),
    })
}

fn area<'a>(device: &ZramDevice, swaps: &'a [SwapArea]) -> Option<&'a SwapArea> {
    swaps.iter().find(|a| a.zram() == Some(device.name.as_str()))
}

/// The step after a rung. `size` is the size a new device would get, `name` the device meant.
fn next(rung: Rung, name: &str, size: Bytes, swaps: &[SwapArea]) -> Option<Step> {
    let mib = size.0 / (1024 * 1024);
    let top = swaps.iter().map(|a| a.priority).max().unwrap_or(0).max(99);
    let above = top.saturating_add(1).min(32767);
    let first = "give it a higher priority than the areas that come first";
    let (words, command) = match rung {
        Rung::NotKnown => ("look where modules can be seen, on the host", "modinfo zram".to_owned()),
        Rung::NotBuilt => ("this kernel comes without zram: another kernel or zswap would do", String::new()),
        Rung::ModulePresent => ("load the module", "modprobe zram".to_owned()),
        Rung::Loaded => ("make a device of half the RAM", format!("zramctl --find --size {mib}MiB")),
        Rung::DeviceExists => ("give it a size", format!("zramctl --size {mib}MiB /dev/{name}")),
        Rung::Sized => ("format it as swap, unless it carries a file system", format!("mkswap /dev/{name}")),
        Rung::Formatted => ("switch it on above the other areas", format!("swapon --priority {above} /dev/{name}")),
        Rung::Outranked => (first, format!("swapoff /dev/{name} && swapon --priority {above} /dev/{name}")),
        Rung::Active => return None,
    };
    Some(Step { words: words.to_owned(), command: Some(command).filter(|command| !command.is_empty()) })
}

/// zram on this machine; `None` where it was not looked for.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Option<ZramState> {
    let zram = snapshot.zram.data()?;
    let swaps = snapshot.swaps.data().map(Vec::as_slice).unwrap_or_default();
    let ram = snapshot.mem_total();
    let half = ram.and_then(|r| r.scale(1, 2)).unwrap_or_default();
    let devices: Vec<Device> = zram.devices.iter().map(|d| device(d, swaps, half, snapshot)).collect();
    let best = devices.iter().max_by_key(|d| d.rung.height());
    let rung = best.map_or_else(|| support_rung(&zram.support), |d| d.rung);
    let own = best.map_or("zram0", |d| d.name.as_str());
    Some(ZramState {
        rung,
        next: next(rung, own, half, swaps),
        container: snapshot.machine.container.clone(),
        zswap_in_front: snapshot.zswap.data().is_some_and(|z| z.enabled)
            && devices.iter().any(|d| d.priority.is_some()),
        pool_starved: snapshot.zoneinfo.data().is_some_and(|z| {
            let mut populated = z.zones.iter().filter(|z| z.managed.0 > 0).peekable();
            populated.peek().is_some() && populated.all(|z| z.free <= z.min)
        }),
        devices,
    })
}

fn device(device: &ZramDevice, swaps: &[SwapArea], half: Bytes, snapshot: &Snapshot) -> Device {
    let (page, ram) = (snapshot.machine.page_size, snapshot.mem_total());
    let rung = device_rung(device, swaps);
    Device {
        name: device.name.clone(),
        rung,
        next: next(rung, &device.name, half, swaps),
        disksize: device.disksize,
        algorithm: device.algorithm.clone(),
        algorithms: device.algorithms.clone(),
        priority: area(device, swaps).map(|a| a.priority),
        outranked_by: area(device, swaps).and_then(|own| outranked_by(own, swaps)),
        fields: fields(device),
        gain: gain(device, page, ram),
        slots: area(device, swaps).and_then(|own| swap::slots(own, snapshot)),
        failed_writes: device.io.map(|io| io.failed_writes),
        beyond_twice_ram: ram.is_some_and(|ram| device.disksize > ram + ram),
        backing: device.backing_dev.clone(),
        recompression: device.recompression.clone(),
    }
}

#[cfg(test)]
mod tests;
