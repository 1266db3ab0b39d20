//! Every field of a zram device with its unit, its scope and the column of `zramctl` that shows it.

use ramline_snapshot::zram::ZramDevice;
use ramline_units::{Bytes, Limit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// All fields the device shows, in the order of the files.
#[must_use]
pub fn fields(device: &ZramDevice) -> Vec<Field> {
    use FieldValue::{Bytes as B, Count, Limit as L};
    use Scope::{Counter, Gauge, Peak, Setting};
    let mut out = Vec::new();
    let mut add = |name: &str, column: Option<&str>, value: FieldValue, unit: Unit, scope: Scope, meaning: &str| {
        let (name, zramctl, meaning) = (name.to_owned(), column.map(str::to_owned), meaning.to_owned());
        out.push(Field { name, zramctl, value, unit, scope, meaning });
    };
    let (bytes, pages, events) = (Unit::Bytes, Unit::Pages, Unit::Events);
    add("disksize", Some("DISKSIZE"), B(device.disksize), bytes, Setting, "uncompressed capacity, not RAM");
    if let Some(m) = &device.mm {
        add(
            "mm_stat.orig_data_size",
            Some("DATA"),
            B(m.orig_data_size),
            bytes,
            Gauge,
            "stored, uncompressed; same-filled and written-back pages included",
        );
        add("mm_stat.compr_data_size", Some("COMPR"), B(m.compr_data_size), bytes, Gauge, "compressed payload");
        add(
            "mm_stat.mem_used_total",
            Some("TOTAL"),
            B(m.mem_used_total),
            bytes,
            Gauge,
            "RAM used by the allocator; slot table excluded",
        );
        if let Some(limit) = m.mem_limit {
            add(
                "mm_stat.mem_limit",
                Some("MEM-LIMIT"),
                L(limit),
                bytes,
                Setting,
                "limit on mem_used_total; writes fail at it",
            );
        }
        add("mm_stat.mem_used_max", Some("MEM-USED"), B(m.mem_used_max), bytes, Peak, "highest mem_used_total");
        add(
            "mm_stat.same_pages",
            Some("ZERO-PAGES"),
            Count(m.same_pages.0),
            pages,
            Gauge,
            "pages of one repeated word, zero or not; they cost no memory",
        );
        add(
            "mm_stat.pages_compacted",
            Some("MIGRATED"),
            Count(m.pages_compacted.0),
            pages,
            Counter,
            "freed by compaction of the pool",
        );
        if let Some(n) = m.huge_pages {
            add("mm_stat.huge_pages", None, Count(n.0), pages, Gauge, "incompressible, kept whole: they gain nothing");
        }
        if let Some(n) = m.huge_pages_since {
            add("mm_stat.huge_pages_since", None, Count(n.0), pages, Counter, "incompressible pages ever stored");
        }
        for (at, n) in m.unknown.iter().enumerate() {
            add(
                &format!("mm_stat[{}]", at + 9),
                None,
                Count(*n),
                events,
                Gauge,
                "a field this version does not know; unit unknown",
            );
        }
    }
    if let Some(b) = device.bd {
        add("bd_stat.bd_count", None, B(b.count), bytes, Gauge, "on the backing device");
        add("bd_stat.bd_reads", None, B(b.reads), bytes, Counter, "read from the backing device");
        add("bd_stat.bd_writes", None, B(b.writes), bytes, Counter, "written to the backing device");
    }
    if let Some(io) = device.io {
        add("io_stat.failed_reads", None, Count(io.failed_reads), events, Counter, "reads that failed");
        add(
            "io_stat.failed_writes",
            None,
            Count(io.failed_writes),
            events,
            Counter,
            "writes that failed: limit hit or no memory",
        );
        add(
            "io_stat.invalid_io",
            None,
            Count(io.invalid_io),
            events,
            Counter,
            "unaligned requests; always 0 on newer kernels",
        );
        add("io_stat.notify_free", None, Count(io.notify_free), events, Counter, "slots freed by the swap layer");
    }
    out
}
