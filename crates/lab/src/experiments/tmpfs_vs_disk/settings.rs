//! What a series of tmpfs-vs-disk was asked for, and what it needs of disk and memory.
//!
//! What it is not: checked against the machine; that is [`ramline_sandbox::requirements`].

use std::time::Duration;

use ramline_units::Bytes;

use super::{PARAMETERS, PLAIN};
use crate::fileops::Op;
use crate::fileops::ground::{self, Kind, Place};
use crate::params::Params;
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::fill::Fill;

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Settings {
    pub places: Vec<Place>,
    pub ops: Vec<Op>,
    pub size: Bytes,
    pub block: Bytes,
    pub passes: u64,
    pub files: u64,
    pub syncs: u64,
    pub pressure: Bytes,
    pub fill: Fill,
    pub seed: u64,
    pub runs: u32,
    pub timeout: Duration,
}

impl Settings {
    pub fn of(params: &Params) -> Result<Settings> {
        let full = params.switch("full");
        let settings = Settings {
            places: ground::places(params.list("arms"), PLAIN)?,
            ops: operations(params.list("operations"))?,
            size: params.size("size").unwrap_or(if full { Bytes::from_gib(2) } else { Bytes::from_mib(128) }),
            block: params.size("block").unwrap_or(Bytes::from_kib(128)),
            passes: params.count("passes").unwrap_or(4),
            files: params.count("files").unwrap_or(if full { 10_000 } else { 1000 }),
            syncs: params.count("syncs").unwrap_or(200),
            pressure: params.size("pressure-size").unwrap_or(Bytes::from_mib(64)),
            fill: params.text("fill").unwrap_or("text").parse()?,
            seed: params.count("seed").unwrap_or_default(),
            runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
            timeout: params.time("timeout").unwrap_or(Duration::from_secs(120)),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: String, hint: &str| Err(LabError::usage(message, format!("{PLAIN} {hint}")));
        if !self.block.0.is_power_of_two() || self.block < Bytes::from_kib(4) {
            return wrong(format!("a block of {} is not a power of two from 4 KiB on", self.block), "--block 128KiB");
        }
        for (name, size) in [("size", self.size), ("pressure-size", self.pressure)] {
            if size < Bytes::from_mib(4) || !size.0.is_multiple_of(self.block.0) {
                let text = format!("--{name}: {size} is not a multiple of the block ({}) from 4 MiB on", self.block);
                return wrong(text, &format!("--{name} 64MiB --block 128KiB"));
            }
        }
        if self.syncs.saturating_mul(self.block.0) > self.size.0 {
            let text =
                format!("{} synced blocks of {} are more than the file of {}", self.syncs, self.block, self.size);
            return wrong(text, &format!("--syncs {}", self.size.0 / self.block.0));
        }
        if self.ops == [Op::ReadCold] && self.places.iter().all(|place| place.kind.is_page_cache_only()) {
            let text = "there is no cold read of a file that has no other copy than the one in memory";
            return wrong(text.to_owned(), "--operations read-warm,read-cold");
        }
        Ok(())
    }

    /// What a place must hold.
    pub fn content(&self) -> Bytes {
        let most = if self.presses() { self.size.max(self.pressure) } else { self.size };
        most + Bytes(self.files.saturating_mul(8192)) + Bytes::from_mib(32)
    }

    pub fn presses(&self) -> bool {
        self.ops.contains(&Op::Pressure)
    }

    pub fn has(&self, kind: Kind) -> bool {
        self.places.iter().any(|place| place.kind == kind)
    }

    /// The limit of the group in which nothing presses.
    pub fn generous(&self) -> Bytes {
        self.content() + self.size + Bytes::from_mib(128)
    }

    pub fn tight(&self) -> Bytes {
        Bytes(self.pressure.0 / 2 * 3)
    }

    pub fn swap_file(&self) -> Bytes {
        Bytes(self.pressure.0.saturating_mul(2)) + Bytes::from_mib(16)
    }

    /// On the disk at once: the images, the directory, the swap file.
    pub fn scratch(&self) -> Bytes {
        let images = self.places.iter().filter(|place| matches!(place.kind, Kind::Image(_)));
        let images: u64 = images.map(|place| ground::image_size(place.kind, self.content()).0).sum();
        let direct = if self.has(Kind::Disk) { self.content() } else { Bytes::ZERO };
        let swap = if self.presses() { self.swap_file() } else { Bytes::ZERO };
        Bytes(images) + direct + swap
    }

    pub fn memory(&self) -> Bytes {
        let pool = if self.has(Kind::Zram) { self.content() } else { Bytes::ZERO };
        self.generous() + pool
    }
}

fn operations(names: &[String]) -> Result<Vec<Op>> {
    let known: Vec<&str> = known_operations().collect();
    let one = |name: &String| {
        Op::named(name).filter(|_| known.contains(&name.as_str())).ok_or_else(|| {
            let text = format!("'{}' is not an operation; there are {}", name.escape_debug(), known.join(", "));
            LabError::usage(text, "ramline lab run tmpfs-vs-disk --operations write,read-warm")
        })
    };
    let mut ops: Vec<Op> = Vec::new();
    for op in names.iter().map(one) {
        let op = op?;
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    // Last: it empties the place.
    ramline_units::sort_by_key(&mut ops, |op| *op == Op::Pressure);
    Ok(ops)
}

fn known_operations() -> impl Iterator<Item = &'static str> {
    let default = PARAMETERS.iter().find(|row| row.name == "operations").and_then(|row| row.default);
    default.unwrap_or_default().split(',').chain(["pressure"])
}

#[cfg(test)]
mod tests {
    use super::super::EXPERIMENT;
    use super::*;

    fn with(name: &str, values: &[&str]) -> Result<Settings> {
        let table = EXPERIMENT.table();
        let mut params = Params::defaults(&table);
        params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        Settings::of(&params)
    }

    #[test]
    fn the_defaults_make_sense_and_touch_nothing_outside_the_sandbox() {
        let settings = Settings::of(&EXPERIMENT.defaults()).unwrap();
        assert!(!settings.presses() && !settings.has(Kind::Zram));
        assert!(settings.generous() > settings.size + settings.size);
        let full = with("full", &["true"]).unwrap();
        assert_eq!((full.size, full.files), (Bytes::from_gib(2), 10_000));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_command_that_does() {
        let refused = |name: &str, value: &str, told: &str| {
            let error = with(name, &[value]).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("try: ramline lab run tmpfs-vs-disk"), "{error}");
        };
        refused("block", "3000B", "power of two");
        refused("size", "1MiB", "from 4 MiB on");
        refused("syncs", "1000000", "more than the file");
        refused("operations", "read-hot", "read-warm");
        refused("operations", "in-place", "is not an operation");
        refused("arms", "floppy", "is not a setting");
    }

    #[test]
    fn pressure_comes_last_and_together_the_two_do_not_fit() {
        let settings = with("operations", &["pressure,write"]).unwrap();
        assert_eq!(settings.ops, [Op::Write, Op::Pressure]);
        assert_eq!(
            (settings.pressure + settings.pressure).saturating_sub(settings.tight()),
            Bytes(settings.pressure.0 / 2)
        );
        assert!(settings.scratch() > settings.swap_file());
    }
}
