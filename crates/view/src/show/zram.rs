//! `show zram`: how far it is set up, every field with unit and scope, what it gains, and the capacity formula.
//!
//! What it is not: a choice of algorithm or size. zram is RAM holding compressed pages; its size is no memory.

use ramline_model::swap::Slots;
use ramline_model::zram::{self, Device, Field, FieldValue, Gain, Rung, Scope, Step, Unit, ZramState};
use ramline_snapshot::{Snapshot, Wanted};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SCHEMA_VERSION, Screen, UnseenSection};
use ramline_sheet::{Column, Paint, Sheet, Table, number};

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
            zram: zram::of(snapshot),
            ram: snapshot.mem_total(),
            unseen: super::unseen_of(snapshot, &["zram", "swaps", "zswap"]),
        }
    }
}

impl Screen for ShowZram {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match &self.zram {
            Some(state) => state_text(&mut sheet, state, self.ram),
            None => sheet.answer(Paint::Bold, "Nothing is known about zram here."),
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
        sheet.line(&ladder(state.rung));
    }
    if let Some(container) = &state.container {
        sheet.line(&format!(
            "This is a container ({container}): zram belongs to the host and nothing can be set up here."
        ));
    }
    for device in &state.devices {
        sheet.warn(device.outranked_by.as_ref().map(|over| format!("{}: {}.", device.name, over.words())));
    }
    if state.zswap_in_front {
        sheet.warn("zswap is on as well and stands in front: pages are compressed there first, and again here.");
    }
    if state.pool_starved {
        sheet.painted(
            Paint::Bad,
            "Every zone is at its min watermark: zram itself may fail to get memory for new pages.",
        );
    }
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
    sheet.heading(&format!("{}: {}, {algorithm}{priority}", device.name, rung_words(device.rung)));
    if device.beyond_twice_ram {
        sheet.warn("It is larger than twice the RAM: at 2:1 it cannot fill, and its slot table costs RAM meanwhile.");
    }
    if let Some(n) = device.failed_writes.filter(|n| *n > 0) {
        sheet.painted(
            Paint::Bad,
            &format!(
                "{} writes failed since the device was made: its limit was hit, or no memory was found.",
                number::count(n)
            ),
        );
    }
    if let Some(gain) = device.gain.as_ref().filter(|_| device.disksize.0 > 0) {
        gain_text(sheet, device, gain, ram);
    }
    sheet.more(&format!("What {} can do", device.name), |more| {
        if device.algorithms.len() > 1 {
            more.dim(&format!("Algorithms this kernel offers here: {}.", device.algorithms.join(", ")));
        }
        more.dim(&format!("Writeback: {}. Recompression: {}.", writeback(device), recompression(device)));
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
        sheet.line(&format!(
            "Nothing is stored in it yet. Its slot table alone takes {} of RAM (16 bytes a page of its size).",
            gain.slot_table
        ));
        return;
    }
    sheet.line(&format!(
        "It stores {} of pages in {} of RAM, plus {} slot table (now): net gain {}.",
        gain.stored, gain.mem_used, gain.slot_table, gain.net_saved
    ));
    sheet.line(device.slots.filter(Slots::is_more_than_stored).map(|slots| format!("As swap: {}.", slots.words())));
    sheet.more(&format!("What {} gains, number by number", device.name), |more| gain_table(more, device, gain, ram));
}

fn gain_table(sheet: &mut Sheet, device: &Device, gain: &Gain, ram: Option<Bytes>) {
    let mut table = Table::new(vec![Column::left(""), Column::right(""), Column::wrapped("")]).indented(2);
    let mut add = |name: &str, value: Option<String>, how: &str| {
        if let Some(value) = value {
            table.row([name.into(), value.into(), how.into()]);
        }
    };
    let told = gain.tells();
    if !told {
        sheet.line(&format!(
            "Ratios, cost when full and capacity: too little stored to tell ({} in RAM, {} would do).",
            gain.resident,
            zram::ENOUGH_RESIDENT
        ));
    }
    add(
        "true ratio",
        gain.true_ratio.filter(|_| told).map(|r| r.to_string()),
        "compressed pages over their payload; same-filled and written-back pages left out",
    );
    add(
        "effective ratio",
        gain.effective_ratio.filter(|_| told).map(|r| r.to_string()),
        "the same over the RAM used, allocator overhead included",
    );
    add(
        "zramctl's COMP-RATIO",
        gain.zramctl_ratio.filter(|_| told).map(|r| r.to_string()),
        "DATA over TOTAL: counts same-filled and written-back pages too, so it overstates",
    );
    add("allocator efficiency", gain.efficiency.map(number::percent), "payload over RAM used");
    add(
        "incompressible",
        gain.incompressible.map(number::percent),
        "of compressed pages are kept whole and gain nothing",
    );
    add("room left", Some(gain.headroom.to_string()), "of its size, uncompressed");
    add("until its limit", gain.limit_headroom.map(|b| b.to_string()), "of RAM; writes fail there");
    add("limit in use", gain.limit_use.map(number::percent), "writes fail at 100 %");
    add(
        "RAM when full",
        gain.full_cost.filter(|_| told).map(|b| b.to_string()),
        "at the effective ratio, slot table included",
    );
    sheet.table(table);
    if let (true, Some(ram), Some(ratio), Some(capacity)) = (told, ram, gain.effective_ratio, gain.capacity) {
        let size = device.disksize;
        sheet.line(&format!("Capacity when full = RAM - zram/ratio + zram = {ram} - {size}/{:.2} + {size} = {capacity}, at the ratio so far.", ratio.0));
    }
}

fn fields(fields: &[Field]) -> Table {
    let mut table = Table::new(vec![
        Column::left("field"),
        Column::left("zramctl"),
        Column::right("value"),
        Column::left("scope"),
        Column::wrapped("meaning"),
    ]);
    for field in fields {
        let unit = match field.unit {
            Unit::Bytes => "",
            Unit::Pages => " pages",
            Unit::Events => " events",
        };
        let value = match field.value {
            FieldValue::Bytes(bytes) => bytes.to_string(),
            FieldValue::Limit(limit) => limit.to_string(),
            FieldValue::Count(n) => format!("{}{unit}", number::count(n)),
        };
        let scope = match field.scope {
            Scope::Gauge => "now",
            Scope::Counter => "counter since made",
            Scope::Peak => "peak",
            Scope::Setting => "setting",
        };
        table.row([
            field.name.as_str().into(),
            field.zramctl.as_deref().unwrap_or("").into(),
            value.into(),
            scope.into(),
            field.meaning.as_str().into(),
        ]);
    }
    table
}
