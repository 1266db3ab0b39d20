//! What a change would do to a load: many runs of the simulator over what the kernel and the machine leave open, in a few figures with their intervals. Pure.
//!
//! | module | what it does |
//! |---|---|
//! | [`question`] | a load, its settings, and what the caller gives: workers, free memory, lengths of compressed pages |
//! | [`recorded`], [`ways`], [`need`] | a recording as a question: what is said first, what it leaves open, how much memory it needs |
//! | [`settings`] | a question answered, setting by setting |
//! | [`against`] | the same for a series that was measured, whose machine and program are taken from it |
//! | [`known`], `basis`, `measured` | what a series says about them, what times rest on, what a run measured |
//! | [`profile`] | which kernel it is for |
//! | [`lengths`] | what pages compress to |
//! | [`forecast`] | figures of a setting, and settings beside each other and beside what was measured |
//! | `enough`, `fastest`, `range` | how many runs it takes, which setting wins, intervals |
//! | [`margin`] | how far counts of a kernel may be off beyond what its runs differ by |
//! | [`pace`], `root` | how fast a machine was, by how long its runs took |
//! | [`workers`] | who does what can be done side by side; nothing here begins a thread |
//!
//! It knows no experiment and no file. Free memory is a number that the caller gives, progress a function it gives.

pub mod against;
pub mod apparatus;
mod basis;
mod enough;
pub mod error;
mod fastest;
pub mod forecast;
pub mod known;
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
    use ramline_sim::cost::Costs;
    use ramline_sim::kernel::PRESETS;
    use ramline_sim::memory::{Setting, Sums, SwapTo};

    /// A group with more than enough memory, and swap on a disk.
    pub fn setting() -> Setting {
        Setting {
            limit: 1 << 20,
            beside: None,
            swappiness: 60,
            swap: SwapTo::Disk,
            slots: 1000,
            read_ahead: 32,
            cluster: 8,
            fresh: 0.5,
            base: 0,
            sums: Sums::AtOnce,
            first_looks: Vec::new(),
            costs: Costs::default(),
            kernel: PRESETS[2],
        }
    }
}
