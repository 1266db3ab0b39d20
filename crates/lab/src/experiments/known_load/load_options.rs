//! Options of a series of known-load: the load, its limit, and what is varied.
//!
//! What it is not: checked against the machine; that is [`super::plan`].

use ramline_evidence::Workload;
use ramline_trace::generate::{Load, Memory, Skew};

use crate::limited::options;
use crate::limited::plan::SwapSizes;
use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "known-load";
/// Of the demand, in quarters: what the group may have unless a limit is given.
const LIMIT_QUARTERS: u64 = 3;
/// Below this a group is too small for the process itself.
const LEAST: Bytes = Bytes::from_mib(4);

/// Options of a known-load series.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOptions {
    /// The load.
    pub load: Load,
    /// Its seed.
    pub seed: u64,
    /// Limit of the group.
    pub limit: Bytes,
    /// Settings with contents and read-aheads, in order.
    pub arms: Vec<Arm>,
    /// Read-aheads of the scratch device.
    pub read_aheads: Vec<Bytes>,
    /// Runs of each setting.
    pub runs: u32,
    /// When the clock ends the rounds of a run.
    pub timeout: Duration,
    /// Scratch place; `None`: chosen.
    pub dir: Option<PathBuf>,
    /// Run although the machine is busy.
    pub allow_busy: bool,
    /// Bring the group's statistics up to date with every sample.
    pub fresh_statistics: bool,
}

impl LoadOptions {
    /// From the parameters of a series.
    ///
    /// # Errors
    /// What makes no sense on any machine, with what would.
    pub fn from_params(params: &Params) -> Result<LoadOptions> {
        let seed = params.count("seed").unwrap_or_default();
        let load = load(params, seed)?;
        let demand = Bytes(load.demand());
        let limit = limit(params, demand, &format!("ramline lab run {NAME}"))?;
        let read_aheads = options::read_aheads(params, NAME)?;
        read_aheads.iter().try_for_each(|size| check_read_ahead(*size, NAME))?;
        let timeout = params.time("timeout").unwrap_or_default();
        refuse_if(timeout < Duration::from_secs(1), NAME, "--timeout 20s", "the timeout is not 1 s to 1 h")?;
        let arms = params.list("arms").iter().map(|text| arm::parse(text)).collect::<Result<Vec<_>>>()?;
        let fills = params.list("fill").iter().map(|text| text.parse()).collect::<Result<Vec<Fill>>>()?;
        Ok(LoadOptions {
            load,
            seed,
            limit,
            arms: arm::cross(&arms, &fills, &read_aheads)?,
            read_aheads,
            runs: params.runs(),
            timeout,
            dir: params.path("dir"),
            allow_busy: params.switch("allow-busy"),
            fresh_statistics: !params.switch("stale-statistics"),
        })
    }

    /// What the load wants in all.
    #[must_use]
    pub fn demand(&self) -> Bytes {
        Bytes(self.load.demand())
    }

    /// Bytes of its regions that are files, or that are not.
    #[must_use]
    pub fn bytes(&self, files: bool) -> Bytes {
        let regions = self.load.regions().into_iter();
        Bytes(regions.filter(|region| (region.memory == Memory::File) == files).map(|region| region.bytes).sum())
    }

    /// Swap for all anonymous memory and a seventh to spare.
    #[must_use]
    pub fn swap_sizes(&self) -> SwapSizes {
        let area = swap_area(self.bytes(false).0);
        SwapSizes { area, above_file: whole_mib(area.0 / 8) }
    }

    /// As recorded.
    #[must_use]
    pub fn workload(&self, arm: &Arm) -> Workload {
        Workload {
            rounds: self.load.round_count(),
            shared: self.load.regions().iter().any(|region| region.memory == Memory::Shared),
            seed: self.seed,
            limit: self.limit,
            read_ahead: options::read_ahead(arm, &self.read_aheads),
            timeout: options::nanos(self.timeout),
            fresh_statistics: self.fresh_statistics,
            ..Workload::default()
        }
    }
}

/// Swap for so many bytes of anonymous memory.
#[must_use]
pub fn swap_area(anonymous: u64) -> Bytes {
    whole_mib(anonymous.saturating_add(anonymous / 7)).max(Bytes::from_mib(16))
}

fn whole_mib(size: u64) -> Bytes {
    Bytes(size.checked_next_multiple_of(1 << 20).unwrap_or(size))
}

/// The limit asked for, or three quarters of the demand.
///
/// # Errors
/// It is too small for the process itself.
pub fn limit(params: &Params, demand: Bytes, command: &str) -> Result<Bytes> {
    let limit = params.size("limit").unwrap_or(Bytes(demand.0 / 4 * LIMIT_QUARTERS / 4096 * 4096));
    if limit < LEAST {
        let text = format!("a limit of {limit} is below {LEAST}");
        return Err(LabError::usage(text, format!("{command} --limit 72MiB")));
    }
    Ok(limit)
}

/// The load of these parameters.
///
/// # Errors
/// There is none.
pub fn load(params: &Params, seed: u64) -> Result<Load> {
    let name = params.text("load").unwrap_or_default();
    let size = params.size("size").unwrap_or_default();
    let rounds = params.count("rounds").and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
    let refuse = |wrong: bool, option: &str, text: String| refuse_if(wrong, NAME, option, text);
    let fits = (LEAST..=Bytes::from_gib(1024)).contains(&size);
    refuse(!fits, "--size 96MiB", format!("a size of {size} is not from {LEAST} to 1 TiB"))?;
    let most = Load::MOST_ROUNDS_OF_CODE_PLUS_DATA;
    let text = format!("{rounds} rounds are more than the {most} of code-plus-data");
    refuse(name == "code-plus-data" && rounds > most, "--load code-plus-data --rounds 11", text)?;
    let none = || LabError::usage(format!("there is no load '{}'", name.escape_debug()), "ramline lab list");
    let mut load = Load::named(name, size.0, rounds, seed).ok_or_else(none)?;
    if let Some(text) = params.text("skew") {
        let hint = format!("ramline lab run {NAME} --load heap --skew 0.9");
        let skew: Skew = text.parse().map_err(|why: String| LabError::usage(why, &hint))?;
        let none =
            || LabError::usage(format!("{name} has no skew: its places are not drawn by Zipf's law"), hint.as_str());
        load = load.with_skew(skew).ok_or_else(none)?;
    }
    if let Some(size) = params.size("read-length") {
        let none = || {
            let text = format!(
                "{name} cannot read {size} at a time: only zipf-read and scan-read, in multiples of 4 KiB that divide their files"
            );
            LabError::usage(text, format!("ramline lab run {NAME} --load zipf-read --read-length 4KiB"))
        };
        load = u32::try_from(size.0).ok().and_then(|length| load.with_length(length)).ok_or_else(none)?;
    }
    Ok(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(values: &[(&str, &str)]) -> Result<LoadOptions> {
        let table = super::super::EXPERIMENT.table();
        let mut params = Params::defaults(&table);
        values.iter().for_each(|(name, value)| params.set(&table, name, vec![(*value).to_owned()]).unwrap());
        LoadOptions::from_params(&params)
    }

    #[test]
    fn a_load_is_limited_to_three_quarters_and_has_swap_for_its_anonymous_memory() {
        let server = options(&[("load", "server")]).unwrap();
        assert_eq!((server.demand(), server.limit), (Bytes::from_mib(96), Bytes::from_mib(72)));
        assert_eq!((server.bytes(true), server.bytes(false)), (Bytes::from_mib(42), Bytes::from_mib(54)));
        assert_eq!(server.swap_sizes().area, Bytes::from_mib(62));
        assert_eq!(options(&[]).unwrap().swap_sizes().area, Bytes::from_mib(16), "a reader of files has none");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_command_that_works() {
        let told = |values: &[(&str, &str)]| options(values).unwrap_err().to_string();
        assert!(told(&[("size", "1MiB")]).contains("not from 4.0 MiB to 1 TiB"));
        assert!(told(&[("limit", "1MiB")]).contains("below 4.0 MiB"));
        assert!(told(&[("skew", "much")]).contains("try: ramline lab run known-load"));
        assert!(told(&[("load", "chase"), ("skew", "0.9")]).contains("chase has no skew"));
        assert!(told(&[("load", "heap"), ("read-length", "4KiB")]).contains("heap cannot read"));
        assert!(told(&[("load", "code-plus-data"), ("rounds", "12")]).contains("more than the 11"));
    }
}
