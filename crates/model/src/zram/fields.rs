//! Every field of a zram device with its unit, its scope and the column of `zramctl` that shows it.

use ramline_snapshot::zram::ZramDevice;

use crate::prelude::*;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Pages of the machine's page size.
    Pages,
    /// Events.
    Events,
}

/// How a number behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Now.
    Gauge,
    /// Since the device was made.
    Counter,
    /// The highest so far.
    Peak,
    /// Set by somebody.
    Setting,
}

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    /// Bytes.
    Bytes(Bytes),
    /// Pages or events.
    Count(u64),
    /// A limit, which may be absent.
    Limit(Limit),
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// File and name as the kernel documents them: `mm_stat.orig_data_size`.
    pub name: String,
    /// The column of `zramctl` that shows it; `None` where it shows it nowhere.
    pub zramctl: Option<String>,
    /// Its value.
    pub value: FieldValue,
    /// Its unit.
    pub unit: Unit,
    /// Its scope.
    pub scope: Scope,
    /// What it means.
    pub meaning: String,
}

fn bytes(n: Bytes) -> Option<(FieldValue, Unit)> {
    Some((FieldValue::Bytes(n), Unit::Bytes))
}

fn pages(n: impl Into<Option<Pages>>) -> Option<(FieldValue, Unit)> {
    Some((FieldValue::Count(n.into()?.0), Unit::Pages))
}

fn events(n: u64) -> Option<(FieldValue, Unit)> {
    Some((FieldValue::Count(n), Unit::Events))
}

/// All fields the device shows, in the order of the files.
#[must_use]
pub fn fields(device: &ZramDevice) -> Vec<Field> {
    use Scope::{Counter, Gauge, Peak, Setting};
    let mut out = Vec::new();
    let mut add = |name: &str, column: &str, value: Option<(FieldValue, Unit)>, scope: Scope, meaning: &str| {
        let Some((value, unit)) = value else { return };
        let zramctl = (!column.is_empty()).then(|| column.to_owned());
        out.push(Field { name: name.to_owned(), zramctl, value, unit, scope, meaning: meaning.to_owned() });
    };
    add("disksize", "DISKSIZE", bytes(device.disksize), Setting, "uncompressed capacity, not RAM");
    if let Some(m) = &device.mm {
        let mut mm =
            |name: &str, column, value, scope, meaning| add(&format!("mm_stat.{name}"), column, value, scope, meaning);
        let stored = "stored, uncompressed; same-filled and written-back pages included";
        mm("orig_data_size", "DATA", bytes(m.orig_data_size), Gauge, stored);
        mm("compr_data_size", "COMPR", bytes(m.compr_data_size), Gauge, "compressed payload");
        mm("mem_used_total", "TOTAL", bytes(m.mem_used_total), Gauge, "RAM used by the allocator; slot table excluded");
        let limit = m.mem_limit.map(|limit| (FieldValue::Limit(limit), Unit::Bytes));
        mm("mem_limit", "MEM-LIMIT", limit, Setting, "limit on mem_used_total; writes fail at it");
        mm("mem_used_max", "MEM-USED", bytes(m.mem_used_max), Peak, "highest mem_used_total");
        let same = "pages of one repeated word, zero or not; they cost no memory";
        mm("same_pages", "ZERO-PAGES", pages(m.same_pages), Gauge, same);
        mm("pages_compacted", "MIGRATED", pages(m.pages_compacted), Counter, "freed by compaction of the pool");
        mm("huge_pages", "", pages(m.huge_pages), Gauge, "incompressible, kept whole: they gain nothing");
        mm("huge_pages_since", "", pages(m.huge_pages_since), Counter, "incompressible pages ever stored");
        for (at, n) in m.unknown.iter().enumerate() {
            let unknown = "a field this version does not know; unit unknown";
            add(&format!("mm_stat[{}]", at + 9), "", events(*n), Gauge, unknown);
        }
    }
    if let Some(b) = device.bd {
        add("bd_stat.bd_count", "", bytes(b.count), Gauge, "on the backing device");
        add("bd_stat.bd_reads", "", bytes(b.reads), Counter, "read from the backing device");
        add("bd_stat.bd_writes", "", bytes(b.writes), Counter, "written to the backing device");
    }
    if let Some(io) = device.io {
        let failed = "writes that failed: limit hit or no memory";
        let invalid = "unaligned requests; always 0 on newer kernels";
        add("io_stat.failed_reads", "", events(io.failed_reads), Counter, "reads that failed");
        add("io_stat.failed_writes", "", events(io.failed_writes), Counter, failed);
        add("io_stat.invalid_io", "", events(io.invalid_io), Counter, invalid);
        add("io_stat.notify_free", "", events(io.notify_free), Counter, "slots freed by the swap layer");
    }
    out
}
