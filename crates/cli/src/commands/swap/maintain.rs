//! `ramline swap maintain`: one pass of upkeep, or one after the other.

use ramline_act::upkeep;
use ramline_kernel::zram::Device;
use ramline_plan::{UpkeepAsk, UpkeepPass};

use crate::prelude::*;

/// Write back and compress again the idle pages of zram swap, where the kernel can, then compact it
#[derive(Debug, Args)]
pub struct Maintain {
    /// One pass, as the timer makes it; without this one after the other until it is stopped
    #[arg(long)]
    once: bool,
    /// Print what a pass would write, in order, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Time between passes
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = duration::parse_wait)]
    every: Duration,
    /// Pages not used for so long are idle (30s, 10min, 12h)
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration::parse_age)]
    idle: Duration,
    /// At most so much is written back in 24 hours, over all devices (1GiB/day; 0B: none)
    #[arg(long, value_name = "SIZE", default_value = "1GiB/day", value_parser = per_day)]
    budget: Bytes,
    /// Nothing is done while tasks wait for memory or io for more than this share of 10 s
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = percent)]
    most_waiting: f64,
    /// Only this device, also where another program manages it (zram0; repeatable)
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
    #[command(flatten)]
    format: Format,
}

/// `1GiB/day`.
fn per_day(text: &str) -> Result<Bytes, String> {
    let size = text.strip_suffix("/day").unwrap_or(text);
    size.parse().map_err(|_| format!("'{}' is no size; write for example 512MiB/day or 1GiB/day", text.escape_debug()))
}

/// `10%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let fits = number.filter(|number| (0.0..=100.0).contains(number));
    fits.ok_or_else(|| format!("'{}' is no share; write 0% to 100%, for example 10%", text.escape_debug()))
}

impl Maintain {
    /// Runs the command.
    ///
    /// # Errors
    /// A device that was named is not in use as swap; more privilege is needed; the budget cannot be read or written down.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("swap maintain")?;
        let root = Root::live();
        if self.dry_run {
            let state = state::path().map(|path| StateDir::open_existing(&path));
            // The budget is root's; an ordinary user sees what a pass would do with a whole one.
            let state = if process::uid() == 0 { state?? } else { state.ok().and_then(Result::ok).flatten() };
            let (devices, left_alone) = self.devices(&root)?;
            let pass = upkeep::dry_run(&root, state.as_ref(), &devices, &self.ask())?;
            return self.print(&UpkeepPass { left_alone, ..pass });
        }
        if process::uid() != 0 {
            let what = "zram devices are written by root alone\n  try: sudo ramline swap maintain --once";
            return Err(Failure::new(exit::PRIVILEGE, what).into());
        }
        signals::install();
        if self.once {
            return self.print(&self.pass(&root)?);
        }
        stdio::tell(&format!("A pass every {} s until it is stopped; --once makes one.", self.every.as_secs()));
        let mut code = exit::DONE;
        while signals::received().is_none() {
            code = self.print(&self.pass(&root)?)?;
            let next = Instant::now() + self.every;
            while signals::received().is_none() && Instant::now() < next && !output::reader_is_gone() {
                std::thread::sleep(Duration::from_millis(200).min(next.saturating_duration_since(Instant::now())));
            }
            if output::reader_is_gone() {
                break;
            }
        }
        Ok(code)
    }

    fn ask(&self) -> UpkeepAsk {
        UpkeepAsk { idle_s: self.idle.as_secs(), per_day: self.budget, most_waiting: self.most_waiting }
    }

    fn pass(&self, root: &Root) -> Result<UpkeepPass> {
        let (devices, left_alone) = self.devices(root)?;
        let lock = match state::lock(root) {
            Ok(lock) => lock,
            Err(error) => return busy(root, &error, self.ask()).ok_or(error),
        };
        // What a killed pass left switched on goes first.
        for line in ramline_act::clean_up(&lock, root)? {
            stdio::tell(&line);
        }
        let pass = upkeep::pass(&lock, root, &devices, &self.ask(), state::crash_after())?;
        Ok(UpkeepPass { left_alone, ..pass })
    }

    /// Those that were named, or all in use as swap; those of another manager are left to it.
    fn devices(&self, root: &Root) -> Result<(Vec<Device>, Vec<String>)> {
        if !self.device.is_empty() {
            let named = self.device.iter().map(|name| upkeep::named(root, name)).collect::<Result<Vec<_>, _>>()?;
            return Ok((named, Vec::new()));
        }
        let devices = upkeep::in_use(root)?;
        let set_up = ramline_gather::set_up(root);
        let mut at_boot = set_up.makes_swap().filter(|manager| !manager.enabled_by.is_empty());
        let Some(other) = at_boot.next().filter(|_| !devices.is_empty()) else {
            return Ok((devices, Vec::new()));
        };
        let words = |device: &Device| {
            let name = format!("zram{}", device.id());
            format!(
                "{name} is left alone: {} ({}) manages swap here; to maintain it all the same: --device {name}",
                other.name, other.unit
            )
        };
        Ok((Vec::new(), devices.iter().map(words).collect()))
    }

    fn print(&self, pass: &UpkeepPass) -> Result<u8> {
        self.format.versioned(pass)?;
        Ok(if pass.has_failed() { exit::PARTLY } else { exit::DONE })
    }
}

/// Another ramline is at work: its measurement is not disturbed, and the timer comes again.
fn busy(root: &Root, error: &anyhow::Error, ask: UpkeepAsk) -> Option<UpkeepPass> {
    let pid = error.chain().find_map(|cause| cause.downcast_ref::<ActError>()?.busy_pid())?;
    let skipped = Some(format!("another ramline is at work (process {pid})"));
    Some(UpkeepPass { skipped, gates: upkeep::gates(root), idle_s: ask.idle_s, ..UpkeepPass::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_size_with_its_unit_and_a_share_has_its_sign() {
        assert_eq!((per_day("1GiB/day"), per_day("64MiB")), (Ok(Bytes::from_gib(1)), Ok(Bytes::from_mib(64))));
        assert!(per_day("5/day").unwrap_err().contains("1GiB/day"));
        assert_eq!(percent("12.5%"), Ok(12.5));
        for bad in ["10", "101%", "-1%", "NaN%", "%"] {
            assert!(percent(bad).unwrap_err().contains("for example"), "{bad}");
        }
    }
}
