//! `show zram`: how far it is set up, every field with unit and scope, what it gains, and the capacity formula.
//!
//! zram is RAM holding compressed pages; its size is no memory.

use ramline_model::swap::Slots;
use ramline_model::swapped::SwapOwners;
use ramline_model::zram::{self, Device, Field, FieldValue, Gain, Rung, Scope, Step, Unit, ZramState};
use ramline_units::Ratio;

use crate::prelude::*;

/// zram on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowZram {
    /// Version of this document.
    pub schema_version: u64,
    /// The state; `None` where it was not seen.
    pub zram: Option<ZramState>,
    /// MemTotal, for the capacity formula.
    pub ram: Option<Bytes>,
    /// Who owns the pages, and how old they are; `None` in a capture, and where nothing is in swap.
    pub owners: Option<SwapOwners>,
    /// Rows of the tables of owners; `None` is all.
    #[serde(skip)]
    top: Option<usize>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

const LADDER: [(Rung, &str); 7] = [
    (Rung::NotBuilt, "not built"),
    (Rung::ModulePresent, "module present"),
    (Rung::Loaded, "loaded"),
    (Rung::DeviceExists, "device exists"),
    (Rung::Sized, "sized"),
    (Rung::Formatted, "formatted"),
    (Rung::Active, "active as swap"),
];

impl ShowZram {
    /// What it looks at.
    pub const WANTED: Wanted = Wanted { swaps: true, zswap: true, blocks: true, ..super::MEMORY };

    /// From a snapshot.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        ShowZram {
            schema_version: SCHEMA_VERSION,
            zram: zram::from_snapshot(snapshot),
            ram: snapshot.mem_total(),
            owners: None,
            top: None,
            unseen: super::unseen_of(snapshot, &["zram", "swaps", "zswap"]),
        }
    }

    /// With who owns the pages of its devices, so many of them in text.
    #[must_use]
    pub fn with_owners(self, owners: Option<SwapOwners>, top: Option<usize>) -> Self {
        ShowZram { owners: owners.and_then(SwapOwners::in_zram), top, ..self }
    }
}

impl Screen for ShowZram {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match &self.zram {
            Some(state) => state_text(&mut sheet, state, self.ram),
            None => sheet.answer(Paint::Bold, "Nothing is known about zram here."),
        }
        if let Some(owners) = &self.owners {
            owners.areas.iter().for_each(|area| super::owners::ages(&mut sheet, area));
            super::owners::owners(&mut sheet, owners, self.top);
        }
        super::unseen(&mut sheet, &self.unseen);
        sheet
    }
}

/// The rung in words.
fn rung_words(rung: Rung) -> &'static str {
    match rung {
        Rung::Outranked => "active as swap, but outranked by an area that is not zram",
        Rung::NotKnown => "whether this kernel has it is not known",
        rung => LADDER.iter().find(|(r, _)| *r == rung).map_or("not known", |(_, words)| words),
    }
}

/// What the rung means for swap: the first line.
const fn sentence(rung: Rung) -> &'static str {
    match rung {
        Rung::NotKnown => "Whether this kernel has zram is not known.",
        Rung::NotBuilt => "There is no zram here: no module for this kernel was found.",
        Rung::ModulePresent => "zram is not used as swap: its module is installed and not loaded.",
        Rung::Loaded => "zram is not used as swap: it has no device.",
        Rung::DeviceExists => "zram is not used as swap: its device has no size.",
        Rung::Sized => "zram is not used as swap: its device holds no swap area.",
        Rung::Formatted => "zram is not used as swap: its swap area is not switched on.",
        Rung::Active => "zram is used as swap.",
        Rung::Outranked => "zram is used as swap, and an area that is not zram is used before it or in turn with it.",
    }
}

fn ladder(rung: Rung) -> String {
    let none = matches!(rung, Rung::NotBuilt | Rung::NotKnown);
    // Up to the rung, or all of them where it is beyond the last.
    let reached = LADDER.iter().position(|(r, _)| *r == rung).unwrap_or(LADDER.len());
    let step = |(at, (_, words)): (usize, &(Rung, &str))| {
        let mark = if at <= reached && !none { "[x]" } else { "[ ]" };
        format!("{mark} {words}")
    };
    LADDER.iter().enumerate().skip(1).map(step).collect::<Vec<_>>().join("  ")
}

pub(crate) fn state_text(sheet: &mut Sheet, state: &ZramState, ram: Option<Bytes>) {
    sheet.answer(Paint::Bold, sentence(state.rung));
    if !matches!(state.rung, Rung::Active | Rung::Outranked) {
        sheet.line(ladder(state.rung));
    }
    let host = |name| format!("This is a container ({name}): zram belongs to the host and nothing can be set up here.");
    sheet.line(state.container.as_ref().map(host));
    for device in &state.devices {
        sheet.warn(device.outranked_by.as_ref().map(|over| format!("{}: {}.", device.name, over.words())));
    }
    let zswap = "zswap is on as well and stands in front: pages are compressed there first, and again here.";
    sheet.warn(state.zswap_in_front.then_some(zswap));
    let starved = "Every zone is at its min watermark: zram itself may fail to get memory for new pages.";
    sheet.painted(Paint::Bad, state.pool_starved.then_some(starved));
    if let Some(step) = state.next.as_ref().filter(|_| state.container.is_none()) {
        if state.rung.is_begun() {
            next(sheet, "Next step: ", step);
        } else {
            sheet.more("How to use zram", |more| next(more, "", step));
        }
    }
    let (sized, bare): (Vec<&Device>, Vec<&Device>) = state.devices.iter().partition(|device| device.disksize.0 > 0);
    sized.iter().for_each(|device| device_text(sheet, device, ram));
    sheet.more("Devices without a size", |more| bare.iter().for_each(|device| device_text(more, device, ram)));
}

fn next(sheet: &mut Sheet, label: &str, step: &Step) {
    sheet.point(label, &step.words);
    if let Some(command) = &step.command {
        sheet.command(2, command);
    }
}

fn device_text(sheet: &mut Sheet, device: &Device, ram: Option<Bytes>) {
    let algorithm = device.algorithm.as_deref().unwrap_or("algorithm not known");
    let priority = device.priority.map(|p| format!(", swap priority {p}")).unwrap_or_default();
    sheet.heading(format!("{}: {}, {algorithm}{priority}", device.name, rung_words(device.rung)));
    if device.beyond_twice_ram {
        sheet.warn("It is larger than twice the RAM: at 2:1 it cannot fill, and its slot table costs RAM meanwhile.");
    }
    let failed = device.failed_writes.filter(|n| *n > 0).map(number::count);
    let failed = failed
        .map(|n| format!("{n} writes failed since the device was made: its limit was hit, or no memory was found."));
    sheet.painted(Paint::Bad, failed);
    if let Some(gain) = device.gain.as_ref().filter(|_| device.disksize.0 > 0) {
        gain_text(sheet, device, gain, ram);
    }
    sheet.more(&format!("What {} can do", device.name), |more| {
        if device.algorithms.len() > 1 {
            more.dim(format!("Algorithms this kernel offers here: {}.", device.algorithms.join(", ")));
        }
        more.dim(format!("Writeback: {}. Recompression: {}.", writeback(device), recompression(device)));
    });
    if device.disksize.0 == 0 {
        sheet.line("It has no size yet, so all its statistics are 0.");
        return;
    }
    sheet.more(&format!("Every statistic of {}", device.name), |more| more.table(fields(&device.fields)));
}

/// Whether pages that gain nothing can leave the RAM.
fn writeback(device: &Device) -> String {
    match device.backing.as_deref() {
        None => "not in this kernel".to_owned(),
        Some("none") => "no device behind it, so what does not compress stays in RAM".to_owned(),
        Some(backing) => format!("to {backing}, when asked (writeback)"),
    }
}

/// Whether a page can be compressed again, harder.
fn recompression(device: &Device) -> String {
    match device.recompression.as_deref() {
        None => "not in this kernel".to_owned(),
        Some("") => "no second algorithm is set".to_owned(),
        Some(list) => list.lines().collect::<Vec<_>>().join("; "),
    }
}

fn gain_text(sheet: &mut Sheet, device: &Device, gain: &Gain, ram: Option<Bytes>) {
    if gain.stored.0 == 0 {
        sheet.line(format!(
            "Nothing is stored in it yet. Its slot table alone takes {} of RAM (16 bytes a page of its size).",
            gain.slot_table
        ));
        return;
    }
    let Gain { stored, mem_used, slot_table, net_saved, .. } = gain;
    sheet.line(format!(
        "It stores {stored} of pages in {mem_used} of RAM, plus {slot_table} slot table (now): net gain {net_saved}."
    ));
    let slots = device.slots.filter(Slots::is_more_than_stored);
    sheet.line(slots.map(|slots| format!("As swap: {}.", slots.words())));
    sheet.more(&format!("What {} gains, number by number", device.name), |more| gain_table(more, device, gain, ram));
}

fn gain_table(sheet: &mut Sheet, device: &Device, gain: &Gain, ram: Option<Bytes>) {
    let told = gain.tells();
    let too_little = || {
        let (resident, enough) = (gain.resident, zram::ENOUGH_RESIDENT);
        format!(
            "Ratios, cost when full and capacity: too little stored to tell ({resident} in RAM, {enough} would do)."
        )
    };
    sheet.line((!told).then(too_little));
    let ratio = |ratio: Option<Ratio>| ratio.filter(|_| told).map(|ratio| ratio.to_string());
    let percent = |share: Option<f64>| share.map(number::percent);
    let bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.to_string());
    let payload = "compressed pages over their payload; same-filled and written-back pages left out";
    let zramctl = "DATA over TOTAL: counts same-filled and written-back pages too, so it overstates";
    let rows = [
        ("true ratio", ratio(gain.true_ratio), payload),
        ("effective ratio", ratio(gain.effective_ratio), "the same over the RAM used, allocator overhead included"),
        ("zramctl's COMP-RATIO", ratio(gain.zramctl_ratio), zramctl),
        ("allocator efficiency", percent(gain.efficiency), "payload over RAM used"),
        ("incompressible", percent(gain.incompressible), "of compressed pages are kept whole and gain nothing"),
        ("room left", Some(gain.headroom.to_string()), "of its size, uncompressed"),
        ("until its limit", bytes(gain.limit_headroom), "of RAM; writes fail there"),
        ("limit in use", percent(gain.limit_use), "writes fail at 100 %"),
        ("RAM when full", bytes(gain.full_cost.filter(|_| told)), "at the effective ratio, slot table included"),
    ];
    let rows = Table::from_rows(rows.iter().filter(|row| row.1.is_some())).left("", |row| row.0);
    sheet.table(rows.right("", |row| row.1.as_ref()).wrapped("", |row| row.2).indented(2));
    if let (true, Some(ram), Some(ratio), Some(capacity)) = (told, ram, gain.effective_ratio, gain.capacity) {
        let size = device.disksize;
        sheet.line(format!("Capacity when full = RAM - zram/ratio + zram = {ram} - {size}/{:.2} + {size} = {capacity}, at the ratio so far.", ratio.0));
    }
}

fn fields(fields: &[Field]) -> Table<&Field> {
    let value = |field: &Field| match (field.value, field.unit) {
        (FieldValue::Bytes(bytes), _) => bytes.to_string(),
        (FieldValue::Limit(limit), _) => limit.to_string(),
        (FieldValue::Count(n), Unit::Bytes) => number::count(n),
        (FieldValue::Count(n), Unit::Pages) => format!("{} pages", number::count(n)),
        (FieldValue::Count(n), Unit::Events) => format!("{} events", number::count(n)),
    };
    let scope = |field: &Field| match field.scope {
        Scope::Gauge => "now",
        Scope::Counter => "counter since made",
        Scope::Peak => "peak",
        Scope::Setting => "setting",
    };
    Table::from_rows(fields)
        .left("field", |field| &field.name)
        .left("zramctl", |field| field.zramctl.as_ref())
        .right("value", value)
        .left("scope", scope)
        .wrapped("meaning", |field| &field.meaning)
}
