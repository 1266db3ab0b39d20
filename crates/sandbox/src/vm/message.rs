//! What host and guest say to each other, as JSON lines over one virtio serial port.
//!
//! The guest says hello, the host sends one [`Orders`], then only the guest speaks, until it switches itself off. What it is
//! not: trusted. A line that is too long or not one of these is passed over; what the guest does not say in time is a result.
//!
//! ```
//! use ramline_sandbox::child::lines;
//! use ramline_sandbox::vm::message::Message;
//! let mut line = Vec::new();
//! lines::write(&mut line, &Message::Failed("no disk".to_owned()))?;
//! let read = lines::parse(&String::from_utf8(line)?);
//! assert!(matches!(read, Some(Message::Failed(why)) if why == "no disk"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::prelude::*;

/// What the guest prints on its console as soon as it runs.
pub const FIRST_LINE: &str = "ramline guest: here";
/// What begins a line on the console about what keeps the guest from working.
pub const TROUBLE: &str = "ramline guest: cannot go on: ";

/// How the guest is to be set up, and what it is to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The swap of the arm.
    pub swap: SwapKind,
    /// Size of a zram device.
    pub zram_size: Bytes,
    /// `vm.swappiness`; `None` leaves it.
    pub swappiness: Option<u32>,
    /// The multi-generational LRU on or off; `None` leaves it.
    pub mglru: Option<bool>,
    /// Other settings by name as sysctl has them, and their values.
    pub sysctls: Vec<(String, String)>,
    /// Read-ahead of the code disk.
    pub read_ahead: Bytes,
    /// What to run; `None` only measures what memory is available.
    pub work: Option<GuestWork>,
}

/// A child to be run in the guest: it reports as a workload whose phases are those of a sample, and waits before it begins and
/// with all its memory still there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestWork {
    /// Its kind.
    pub kind: String,
    /// Its task.
    pub task: Value,
    /// Its data is shmem.
    pub shared: bool,
}

/// What a guest says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It runs.
    Hello(RunMachine),
    /// It is set up; settings as read back, by name, and MemAvailable then.
    Ready {
        /// By name.
        verified: BTreeMap<String, String>,
        /// MemAvailable when everything is set up and nothing runs.
        available: Bytes,
    },
    /// Counters before the workload.
    Before(BTreeMap<String, u64>),
    /// The picture of now.
    Sample(Box<Sample>),
    /// A report of the workload.
    Report(Value),
    /// Counters after it, while its memory is still there where that was possible.
    After(BTreeMap<String, u64>),
    /// The workload is gone.
    Ended {
        /// Its status, as wait(2) has it.
        status: i32,
        /// It could not go on; why.
        failed: Option<String>,
        /// User time.
        user: Nanos,
        /// System time.
        system: Nanos,
        /// Major faults.
        major_faults: u64,
    },
    /// It could not do as it was ordered.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::lines::{LONGEST, parse};

    #[test]
    fn what_no_guest_of_ours_says_is_passed_over() {
        for text in ["", "{}", "[1]", "{\"hello\":3}", "\u{1b}[2J", &"{".repeat(LONGEST), &" ".repeat(LONGEST + 1)] {
            assert_eq!(parse::<Message>(text), None);
        }
    }
}
