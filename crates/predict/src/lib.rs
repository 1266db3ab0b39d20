//! What a change would do to a load: many runs of the simulator over what the kernel and the machine leave open, in a few figures with their intervals. Pure.
//!
//! | module | what it does |
//! |---|---|
//! | [`question`] | a load, its settings, and what the caller gives: workers, free memory, lengths of compressed pages |
//! | [`recorded`], [`ways`], [`need`] | a recording as a question: what is said first, what it leaves open, how much memory it needs |
//! | [`settings`] | a question answered, setting by setting |
//! | [`against`] | the same for a series that was measured, whose machine and program are taken from it |
//! | [`calibration`], `basis`, `measured` | machine and program by a series, basis of times, figures of a run |
//! | [`profile`] | which kernel it is for |
//! | [`lengths`] | what pages compress to |
//! | [`forecast`], [`figures`] | one setting: many simulations, and their figures with ranges |
//! | `comparison`, `fastest` | settings side by side and beside what was measured: front, fastest, figures in range |
//! | `enough`, `range` | how many simulations it takes, intervals |
//! | [`margin`] | model error by kernel, added to ranges of counts |
//! | [`pace`], `root` | calibrated speed of processor and disks, by how long runs took |
//! | [`apparatus`] | what the lab has beside the kernel: its pool follower, its reader of statistics, its loop device |
//! | [`workers`] | runs what can be done side by side; nothing here starts a thread |
//!
//! It knows no experiment and no file. Free memory is a number that the caller gives, progress a function it gives.

pub mod against;
pub mod apparatus;
mod basis;
pub mod calibration;
mod comparison;
mod enough;
pub mod error;
mod fastest;
pub mod figures;
pub mod forecast;
pub mod lengths;
pub mod margin;
mod measured;
pub mod need;
pub mod pace;
pub mod profile;
pub mod question;
mod range;
pub mod recorded;
mod root;
pub mod settings;
pub mod ways;
pub mod workers;

#[cfg(test)]
mod tests {
    use ramline_sim::kernel::PRESETS;
    use ramline_sim::memory::{Setting, SwapTo};

    /// A group with more than enough memory, and swap on a disk.
    pub fn setting() -> Setting {
        Setting { swap: SwapTo::Disk, slots: 1000, fresh: 0.5, ..Setting::without_limit(1 << 20, PRESETS[2]) }
    }
}
