//! One pass of upkeep over zram devices used as swap: marked, written back within a budget, compressed again, compacted; each write's effect is read.
//!
//! | file | what a write leaves in the kernel |
//! |---|---|
//! | `idle` | a mark on pages, gone at their next use |
//! | `writeback` | pages on the backing device instead of in RAM, until their next use |
//! | `recompress` | pages in a smaller size class; marks gone |
//! | `compact` | nothing |
//! | `writeback_limit_enable` | a setting: in the journal, put back at the end or by the next recovery |
//! | `writeback_limit` | counted down by the kernel; without meaning while the switch is off |
//!
//! Pages are written part by part, so that a signal, a full budget or a machine that begins to wait ends it soon.

mod ledger;

use std::time::Duration;

use ramline_kernel::zram::{Device, WRITEBACK_UNIT, WriteBack, WroteBack};
use ramline_kernel::{KernelError, Root, power, process, signals, stalls, swap};
use ramline_plan::{Marked, UpkeepAsk, UpkeepBudget, UpkeepDevice, UpkeepGates, UpkeepPass, UpkeepWork, ZramLook};
use ramline_units::Bytes;

use crate::journal::now_ms;
use crate::{Result, Run, RunLock, StateDir};
use ledger::Ledger;

/// So much is written between two looks at signals and gates: a quarter of a second of an SSD, some seconds of an SD card.
const PART: Bytes = Bytes::from_mib(64);

/// What the machine is doing.
#[must_use]
pub fn gates(root: &Root) -> UpkeepGates {
    UpkeepGates {
        waiting_memory_percent: stalls::waiting_percent(root, "memory"),
        waiting_io_percent: stalls::waiting_percent(root, "io"),
        on_battery: power::on_battery(root),
    }
}

/// The zram devices that are swap areas now, in the kernel's order of use.
///
/// # Errors
/// When the areas cannot be read.
pub fn in_use(root: &Root) -> Result<Vec<Device>> {
    let mut areas = swap::areas(root)?;
    ramline_units::sort_by_key(&mut areas, |area| -i64::from(area.priority));
    let numbers = areas.iter().filter_map(|area| area.path.strip_prefix("/dev/zram")?.parse().ok());
    Ok(numbers.map(|id| Device::open(root, id)).collect())
}

/// What a pass would do; nothing is written.
///
/// # Errors
/// As [`pass`].
pub fn dry_run(root: &Root, state: Option<&StateDir>, devices: &[Device], ask: &UpkeepAsk) -> Result<UpkeepPass> {
    let ledger = state.map_or_else(|| Ok(Ledger::default()), Ledger::read)?;
    let mut pass = UpkeepPass { dry_run: true, ..begin(root, &ledger, ask) };
    for device in devices {
        let look = look(device);
        let (work, skipped) = UpkeepWork::plan(&look, &pass.gates, ask);
        let would_write = work.lines(&look.device, ask, pass.budget.left);
        pass.devices.push(UpkeepDevice { would_write, ..described(&look, skipped) });
    }
    Ok(pass)
}

/// One pass over these devices, each of which is looked at again before it is touched. `crash_after` is that of [`Run::begin`].
///
/// # Errors
/// When the budget cannot be read or written down: nothing is written back then. What fails on a device is in its report.
pub fn pass(
    lock: &RunLock,
    root: &Root,
    devices: &[Device],
    ask: &UpkeepAsk,
    crash_after: Option<u64>,
) -> Result<UpkeepPass> {
    signals::install();
    let mut ledger = Ledger::read(lock.state())?;
    let mut pass = begin(root, &ledger, ask);
    if pass.skipped.is_some() {
        return Ok(pass);
    }
    for device in devices {
        let look = look(device);
        let (work, skipped) = UpkeepWork::plan(&look, &pass.gates, ask);
        let mut out = described(&look, skipped);
        if signals::received().is_some() {
            out.skipped = vec!["stopped by a signal".to_owned()];
        } else {
            let mut one = One { lock, root, device, ask, crash_after, ledger: &mut ledger, out: &mut out };
            if let Err(error) = one.all(work) {
                out.failed.push(error.to_string());
            }
        }
        pass.devices.push(out);
    }
    pass.budget = budget(&ledger, ask);
    Ok(pass)
}

fn begin(root: &Root, ledger: &Ledger, ask: &UpkeepAsk) -> UpkeepPass {
    let gates = gates(root);
    UpkeepPass {
        time_ms: now_ms(),
        idle_s: ask.idle_s,
        gates,
        budget: budget(ledger, ask),
        skipped: gates.closed(ask.most_waiting),
        ..UpkeepPass::default()
    }
}

fn budget(ledger: &Ledger, ask: &UpkeepAsk) -> UpkeepBudget {
    let written = ledger.written(now_ms());
    UpkeepBudget { per_day: ask.per_day, written, left: ask.per_day.saturating_sub(written) }
}

fn look(device: &Device) -> ZramLook {
    ZramLook { device: format!("zram{}", device.id()), backing: device.backing(), second: device.second_algorithms() }
}

fn described(look: &ZramLook, skipped: Vec<String>) -> UpkeepDevice {
    UpkeepDevice {
        device: look.device.clone(),
        backing: look.backing.clone().filter(|backing| backing != "none"),
        bare: look.is_bare(),
        skipped,
        ..UpkeepDevice::default()
    }
}

/// One device in a pass.
struct One<'a> {
    lock: &'a RunLock,
    root: &'a Root,
    device: &'a Device,
    ask: &'a UpkeepAsk,
    crash_after: Option<u64>,
    ledger: &'a mut Ledger,
    out: &'a mut UpkeepDevice,
}

impl One<'_> {
    fn all(&mut self, work: UpkeepWork) -> Result<()> {
        if !swap::is_on(self.root, self.device.node())? {
            self.out.skipped = vec!["it is no longer used as swap".to_owned()];
            return Ok(());
        }
        let before = self.device.mm_stat()?;
        if work.writeback || work.recompression {
            let marked = self.mark()?;
            self.out.marked = Some(marked);
            if marked != Marked::ForNextPass {
                if work.writeback {
                    self.write_back()?;
                }
                if work.recompression && !self.must_stop() {
                    self.recompress()?;
                }
            }
            if marked != Marked::ByAge {
                self.mark_all()?;
            }
        }
        let at = self.device.mm_stat()?;
        self.device.compact()?;
        let after = self.device.mm_stat()?;
        self.out.compacted = Some(at.mem_used_total.saturating_sub(after.mem_used_total));
        self.out.freed = Some(before.mem_used_total.saturating_sub(after.mem_used_total));
        Ok(())
    }

    fn mark(&mut self) -> Result<Marked> {
        if self.device.mark_idle(Some(Duration::from_secs(self.ask.idle_s)))? {
            return Ok(Marked::ByAge);
        }
        let marked = self.ledger.marked(&self.key()?, now_ms());
        let long_enough = marked.is_some_and(|age| age >= Duration::from_secs(self.ask.idle_s));
        if long_enough {
            return Ok(Marked::SinceLastPass);
        }
        // Marking again would begin the time anew.
        let why = match marked {
            Some(age) => format!(
                "pages were marked {} s ago: what is not used before {} s is idle",
                age.as_secs(),
                self.ask.idle_s
            ),
            None => format!(
                "this kernel keeps no ages: pages are marked, and what is not used before {} s is idle",
                self.ask.idle_s
            ),
        };
        self.out.skipped.push(why);
        Ok(Marked::ForNextPass)
    }

    /// For a kernel without ages: unless they are marked already and their time is running.
    fn mark_all(&mut self) -> Result<()> {
        let key = self.key()?;
        let running = self.ledger.marked(&key, now_ms()).is_some_and(|age| age < Duration::from_secs(self.ask.idle_s));
        if !running && self.device.mark_idle(None)? {
            self.ledger.mark(key, now_ms());
            self.ledger.save(self.lock.state())?;
        }
        Ok(())
    }

    /// A device of one boot: numbers are given out again.
    fn key(&self) -> Result<String> {
        let identity = self.device.identity()?;
        let boot = process::boot_id(self.root)?;
        Ok(format!("zram{} {} {} {boot}", self.device.id(), identity.inode, identity.diskseq.unwrap_or_default()))
    }

    fn left(&self) -> Bytes {
        self.ask.per_day.saturating_sub(self.ledger.written(now_ms()))
    }

    /// A signal, or a machine that has begun to wait; which is noted.
    fn must_stop(&mut self) -> bool {
        let why = match signals::received() {
            Some(_) => Some("stopped by a signal".to_owned()),
            // Our own writing is waiting for io too: only memory ends it half-way.
            None => UpkeepGates { waiting_io_percent: None, ..gates(self.root) }.closed(self.ask.most_waiting),
        };
        let Some(why) = why else { return false };
        if !self.out.skipped.contains(&why) {
            self.out.skipped.push(why);
        }
        true
    }

    fn write_back(&mut self) -> Result<()> {
        let most = self.left();
        self.out.written_back = Some(Bytes(0));
        // The kernel counts it down, so a pass that is killed could not give it back.
        if self.device.writeback_limit()?.is_some() {
            self.out.skipped.push("no writeback: another program has set the device a writeback_limit".to_owned());
            return Ok(());
        }
        if most < WRITEBACK_UNIT {
            self.out.skipped.push("no writeback: its budget of 24 hours is used up".to_owned());
            return Ok(());
        }
        // The limit first: it is without meaning until it is switched on, and then it is ours.
        self.device.set_writeback_limit(most.min(PART))?;
        let mut run = Run::begin(self.lock, self.root, self.crash_after)?;
        run.set_knob(&self.device.limit_switch(), "1")?;
        let ended = self.parts(most);
        ended.and(run.finish())
    }

    /// Incompressible pages first: each of them takes a whole page of RAM, and one of the budget as any other.
    fn parts(&mut self, mut most: Bytes) -> Result<()> {
        for which in [WriteBack::IdleIncompressible, WriteBack::Idle] {
            loop {
                if most < WRITEBACK_UNIT {
                    self.out.skipped.push("the budget ended before the idle pages did".to_owned());
                    return Ok(());
                }
                if self.must_stop() {
                    return Ok(());
                }
                let part = most.min(PART).whole_pages(process::page_size());
                let (ended, wrote) = self.part(which, part)?;
                most = most.saturating_sub(wrote);
                match ended {
                    WroteBack::Full => {
                        self.out.skipped.push("the backing device is full".to_owned());
                        return Ok(());
                    }
                    WroteBack::Limit if wrote.0 > 0 => {}
                    WroteBack::Limit | WroteBack::All | WroteBack::Unknown => break,
                }
            }
        }
        Ok(())
    }

    /// Charged before it is written: after a crash the budget errs on the safe side.
    fn part(&mut self, which: WriteBack, part: Bytes) -> Result<(WroteBack, Bytes)> {
        self.device.set_writeback_limit(part)?;
        let before = self.device.bd_stat()?.writes;
        let charged = self.ledger.charge(now_ms(), part);
        self.ledger.save(self.lock.state())?;
        let ended = self.device.write_back(which);
        let wrote = self.device.bd_stat()?.writes.saturating_sub(before);
        self.ledger.correct(charged, wrote);
        self.ledger.save(self.lock.state())?;
        self.out.written_back = Some(Bytes(self.out.written_back.unwrap_or_default().0.saturating_add(wrote.0)));
        Ok((ended?, wrote))
    }

    fn recompress(&mut self) -> Result<()> {
        let before = self.device.mm_stat()?.compr_data_size;
        self.device.recompress_idle()?;
        self.out.recompressed = Some(before.saturating_sub(self.device.mm_stat()?.compr_data_size));
        Ok(())
    }
}

/// A device that was named, as it must be to be touched.
///
/// # Errors
/// `Refused` for one that is no zram device in use as swap.
pub fn named(root: &Root, name: &str) -> Result<Device> {
    let refuse = |rule: &str| Err(KernelError::refused("maintain", name, rule, "").hint("ramline show zram").into());
    let bare = name.strip_prefix("/dev/").unwrap_or(name);
    let Some(id) = bare.strip_prefix("zram").and_then(|number| number.parse::<u32>().ok()) else {
        return refuse("it must be a zram device, as zram0");
    };
    match in_use(root)?.into_iter().find(|device| device.id() == id) {
        Some(device) => Ok(device),
        None => refuse("it must be in use as a swap area"),
    }
}

#[cfg(test)]
mod tests;
