//! What a directory of recorded history holds, as data: files, gaps, what a check has found.

use crate::prelude::*;

/// `history`: what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HistoryList {
    /// Version of this document.
    pub schema_version: u64,
    /// The directory.
    pub dir: String,
    /// Its files, the oldest first.
    pub files: Vec<RecordedFile>,
    /// Times of which nothing is known.
    pub gaps: Vec<RecordedGap>,
    /// All files together.
    pub bytes: Bytes,
}

/// A file of history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecordedFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: Bytes,
    /// Frames in it.
    pub frames: u64,
    /// Boots they are of.
    pub boots: u64,
    /// The first frame, in milliseconds since 1970.
    pub first_unix_ms: Option<u64>,
    /// The last one.
    pub last_unix_ms: Option<u64>,
    /// The same as local time, with what lies between.
    pub time: String,
    /// It holds the seconds before a kill or a long wait.
    pub seconds: bool,
    /// Why it cannot be read.
    pub unreadable: Option<String>,
}

/// A time of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecordedGap {
    /// The last frame before, in milliseconds since 1970.
    pub from_unix_ms: u64,
    /// The first behind.
    pub to_unix_ms: u64,
    /// Both as local time.
    pub time: String,
    /// Why, in words.
    pub why: String,
}

/// `history check`: what a check of all frames has found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HistoryCheck {
    /// Version of this document.
    pub schema_version: u64,
    /// The directory.
    pub dir: String,
    /// One a file.
    pub files: Vec<CheckedFile>,
}

/// What a check of a file has found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckedFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: Bytes,
    /// Readable frames.
    pub frames: u64,
    /// Frames that are whole and rest on one that is missing.
    pub lost_frames: u64,
    /// Bytes that are no frame.
    pub lost_bytes: Bytes,
    /// The last frame was not written whole: a recorder was killed, or is writing now.
    pub torn_end: bool,
    /// Why it cannot be read.
    pub unreadable: Option<String>,
}

impl HistoryCheck {
    /// Something is lost; the torn end of a file is no loss, since that frame never was.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.files.iter().any(|file| {
            file.unreadable.is_some() || file.lost_frames > 0 || (file.lost_bytes > Bytes::ZERO && !file.torn_end)
        })
    }
}

macro_rules! row {
    ($($(#[$doc:meta])* $field:ident),* $(,)?) => {
        /// `history export`: the figures of one moment. Sizes in bytes, counters since boot; `None` where a figure was not seen.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct HistoryRow {
            /// Milliseconds since 1970.
            pub unix_ms: u64,
            /// The host.
            pub host: Option<String>,
            /// The boot.
            pub boot_id: Option<String>,
            $($(#[$doc])* pub $field: Option<u64>,)*
        }

        impl HistoryRow {
            /// The names of its columns.
            pub const NAMES: &'static [&'static str] = &["unix_ms", "host", "boot_id", $(stringify!($field)),*];

            /// The figures as values with commas between them; what was not seen is empty.
            #[must_use]
            pub fn csv(&self) -> String {
                let quoted = |text: &Option<String>| {
                    text.as_ref().map(|text| format!("\"{}\"", text.replace('"', "\"\""))).unwrap_or_default()
                };
                let mut out = vec![self.unix_ms.to_string(), quoted(&self.host), quoted(&self.boot_id)];
                $(out.push(self.$field.map(|number| number.to_string()).unwrap_or_default());)*
                out.join(",")
            }
        }
    };
}

row! {
    /// Milliseconds since boot.
    boot_ms,
    /// MemTotal.
    mem_total,
    /// MemFree.
    mem_free,
    /// MemAvailable.
    mem_available,
    /// Buffers.
    buffers,
    /// Cached.
    cached,
    /// AnonPages.
    anon,
    /// Shmem.
    shmem,
    /// SReclaimable.
    slab_reclaimable,
    /// SUnreclaim.
    slab_unreclaimable,
    /// PageTables.
    page_tables,
    /// KernelStack.
    kernel_stack,
    /// Dirty.
    dirty,
    /// Writeback.
    writeback,
    /// Committed_AS.
    committed,
    /// SwapTotal.
    swap_total,
    /// SwapFree.
    swap_free,
    /// SwapCached.
    swap_cached,
    /// Pages stored in zram devices, uncompressed.
    zram_stored,
    /// RAM that these take.
    zram_used,
    /// KiB read from disks. Counter.
    pgpgin,
    /// KiB written to disks. Counter.
    pgpgout,
    /// Pages swapped in. Counter.
    pswpin,
    /// Pages swapped out. Counter.
    pswpout,
    /// Major faults. Counter.
    pgmajfault,
    /// Pages of files refaulted. Counter.
    refault_file,
    /// Anonymous pages refaulted. Counter.
    refault_anon,
    /// Times an allocation reclaimed by itself. Counter.
    allocstall,
    /// Processes killed for memory. Counter.
    oom_kill,
    /// Microseconds in which some task waited for memory. Counter.
    waited_some_us,
    /// Microseconds in which all tasks waited for memory. Counter.
    waited_full_us,
}
