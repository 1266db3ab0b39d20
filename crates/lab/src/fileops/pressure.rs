//! Looking at a file and a program that together do not fit into their group: what of each is in memory, and where the rest is.

use ramline_kernel::residency::Method;

use super::task::{Cost, FileReport};
use crate::prelude::*;

/// What was seen at the moment memory was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PressureSeen {
    /// Size of the file.
    pub file: Bytes,
    /// Of it, in memory.
    pub in_memory: Bytes,
    /// Of it, waiting to be written.
    pub dirty: Option<Bytes>,
    /// Of it, in swap: only of a tmpfs, and only where the kernel counts it (cachestat, Linux 6.5).
    pub in_swap: Option<Bytes>,
    /// Swap the whole group has.
    pub group_swap: Option<Bytes>,
    /// Anonymous memory of the group: the program.
    pub anonymous: Option<Bytes>,
    /// The zram device's pool, which no group is charged for.
    pub pool: Option<Bytes>,
}

/// Looks at one run.
#[derive(Debug)]
pub struct Look<'a> {
    /// The group.
    pub group: &'a Group,
    /// Its limit.
    pub limit: Bytes,
    /// The file.
    pub file: PathBuf,
    /// The file is in a tmpfs: what is evicted of it is in swap.
    pub tmpfs: bool,
    /// The device below the file.
    pub zram: Option<&'a zram::Device>,
    /// What was seen.
    pub seen: Option<PressureSeen>,
    /// Every 100 ms.
    pub samples: Vec<Sample>,
}

impl Look<'_> {
    /// Memory is full and the child waits: the time to look.
    ///
    /// # Errors
    /// What is looked at cannot be read.
    pub fn full(&mut self) -> Result<()> {
        let page = process::page_size();
        let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
        let file = scratch::open(&self.file)?;
        let size = file.metadata().map_err(|error| LabError::file("open", &self.file, error))?.len();
        let there = residency::count(&file, &self.file)?;
        let stat = self.group.stat()?;
        let pool = self.zram.map(zram::Device::mm_stat).transpose()?.map(|stat| stat.mem_used_total);
        self.seen = Some(PressureSeen {
            file: Bytes(size),
            in_memory: bytes(there.cached),
            dirty: there.dirty.map(bytes),
            in_swap: there.evicted.filter(|_| self.tmpfs && there.method == Method::Cachestat).map(bytes),
            group_swap: stat.swap,
            anonymous: stat.anon,
            pool,
        });
        Ok(())
    }
}

/// The figures of a run under pressure. What the file has in swap is known for a tmpfs; the program has the rest.
#[must_use]
pub fn figures(seen: &PressureSeen, report: &FileReport, tmpfs: bool) -> Vec<Figure> {
    let in_swap = if tmpfs { seen.in_swap } else { Some(Bytes::ZERO) };
    let of_program = seen.group_swap.zip(in_swap).map(|(all, file)| all.saturating_sub(file));
    let elsewhere = (!tmpfs).then(|| seen.file.saturating_sub(seen.in_memory));
    let mut out = Figures::default();
    out.bytes("pressure: file in memory", seen.in_memory, Better::Neither);
    out.bytes("pressure: file in swap", in_swap, Better::Neither);
    out.bytes("pressure: on device only", elsewhere, Better::Neither);
    out.bytes("pressure: program in swap", of_program, Better::Neither);
    out.bytes("pressure: zram pool", seen.pool, Better::Lower);
    let mut rate = |name: &str, cost: Cost| out.rate(name, report.bytes as f64, cost.wall, "bytes/s");
    rate("under pressure: file written", report.cost);
    rate("under pressure: file read again", report.back.unwrap_or_default());
    out.time("under pressure: program read again", report.touched.map(|touched| touched.wall));
    out.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_that_is_not_the_file_s_is_the_program_s() {
        let mib = Bytes::from_mib;
        let seen = PressureSeen {
            file: mib(64),
            in_memory: mib(40),
            in_swap: Some(mib(24)),
            group_swap: Some(mib(33)),
            ..PressureSeen::default()
        };
        let value = |tmpfs: bool, name: &str| {
            let figures = figures(&seen, &FileReport::default(), tmpfs);
            figures.iter().find(|figure| figure.name == format!("pressure: {name}")).map(|figure| figure.value)
        };
        assert_eq!(value(true, "program in swap"), Some(mib(9).as_f64()));
        assert_eq!(value(true, "on device only"), None);
        assert_eq!(value(false, "program in swap"), Some(mib(33).as_f64()), "no file on a disk is ever in swap");
        assert_eq!(value(false, "on device only"), Some(mib(24).as_f64()));
    }
}
