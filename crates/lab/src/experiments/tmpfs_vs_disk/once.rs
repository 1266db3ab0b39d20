//! One run of tmpfs-vs-disk: one place, made fresh, and all operations in it.

use super::Settings;
use crate::fileops::child::{self, Performed};
use crate::fileops::ground::{Ground, GroundPlace, Grounds, PlaceKind};
use crate::fileops::pressure::{self, Look, PressureSeen};
use crate::fileops::{FileTask, Op, figures};
use crate::prelude::*;

/// One run in one place.
pub struct Once<'a, 'b> {
    pub settings: &'a Settings,
    pub found: &'a Resources,
    pub place: &'a GroundPlace,
    pub grounds: &'a Grounds,
    pub record: &'a mut RunRecord,
    pub bench: &'a mut Bench<'b>,
}

impl Once<'_, '_> {
    /// Does all operations and fills the record.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came. An operation that fails or is killed is a result.
    pub fn run(&mut self) -> Result<()> {
        self.describe();
        self.record.notes.extend(child::settle(self.bench)?);
        // Swap first: the undo goes backwards and empties the group before the area is switched off.
        if self.settings.presses() {
            let file = self.grounds.base.join("swap");
            let file = self.bench.run.make_swap_file(&file, self.settings.swap_file())?;
            self.bench.run.swap_on(&file, Some(PRIORITY))?;
        }
        let ground = self.grounds.prepare(self.place, self.bench.root, self.bench.run)?;
        self.record.verified.extend(ground.verified.clone());
        let group = self.group(0, self.settings.generous())?;
        self.record.before = observe::counters(self.bench.root, &group.stat()?);
        self.record.verdict = Verdict::Completed;
        let mut raw = serde_json::Map::new();
        for op in &self.settings.ops {
            if op.needs_a_disk() && self.place.kind.is_page_cache_only() {
                self.note("no cold read: a file here has no copy but the one in memory (or in swap)");
                continue;
            }
            let (ended, seen) =
                if *op == Op::Pressure { self.press(&ground)? } else { (self.perform(*op, &ground, &group)?, None) };
            self.huge(*op);
            self.take(*op, &ended, seen.as_ref());
            raw.insert(op.name().to_owned(), raw_of(&ended, seen.as_ref()));
        }
        self.record.after = observe::counters(self.bench.root, &group.stat()?);
        self.record.detail = Some(json!({ "operations": raw }));
        Ok(())
    }

    fn describe(&mut self) {
        self.found.describe(self.record);
        if let Some(size) = self.found.place.read_ahead(self.bench.root) {
            self.record.verified.insert("read-ahead of the disk".to_owned(), size.to_string());
        }
        if self.place.kind.is_memory() {
            self.note("fsync protects nothing here: after a crash or a power cut everything is gone, synced or not");
        }
    }

    fn note(&mut self, text: &str) {
        if !self.record.notes.iter().any(|note| note == text) {
            self.record.notes.push(text.to_owned());
        }
    }

    fn group(&mut self, number: u32, limit: Bytes) -> Result<Group> {
        let group = self.found.make_group(self.record.order * 2 + number, self.bench.run)?;
        let mut changes = group.set_memory_limit(Limit::At(limit))?;
        if self.place.no_swap {
            changes.extend(group::forbid_swap(self.bench.root, &group)?);
        }
        let when = if number == 0 { "" } else { " under pressure" };
        self.record.verified.extend(group::verified(changes).map(|(name, value)| (format!("{name}{when}"), value)));
        Ok(group)
    }

    fn task(&self, op: Op, ground: &Ground) -> FileTask {
        let s = self.settings;
        let count = match op {
            Op::Files | Op::FilesSynced | Op::DeleteFiles => s.files,
            Op::WriteSyncEach => s.syncs,
            _ => s.passes,
        };
        let (size, anonymous) = if op == Op::Pressure { (s.pressure, s.pressure) } else { (s.size, Bytes::ZERO) };
        FileTask { op, dir: ground.dir.clone(), size, block: s.block, count, anonymous, fill: s.fill, seed: s.seed }
    }

    fn perform(&mut self, op: Op, ground: &Ground, group: &Group) -> Result<Performed> {
        let task = self.task(op, ground);
        child::perform(self.bench, Some(group), &task, self.settings.timeout, None)
    }

    fn press(&mut self, ground: &Ground) -> Result<(Performed, Option<PressureSeen>)> {
        let limit = self.settings.tight();
        let group = self.group(1, limit)?;
        let task = self.task(Op::Pressure, ground);
        let mut look = Look {
            group: &group,
            limit,
            file: ground.dir.join("large"),
            tmpfs: self.place.kind.is_page_cache_only(),
            zram: ground.zram.as_ref(),
            seen: None,
            samples: Vec::new(),
        };
        let ended = child::perform(self.bench, Some(&group), &task, self.settings.timeout, Some(&mut look))?;
        self.record.samples = look.samples;
        Ok((ended, look.seen))
    }

    /// What huge pages there are now: the option is a wish, and only a file whose size is known before it is written gets them.
    fn huge(&mut self, op: Op) {
        if !matches!(self.place.kind, PlaceKind::Tmpfs { huge: true, .. }) {
            return;
        }
        let seen = gather(self.bench.root, Wanted { meminfo: true, ..Wanted::NOTHING });
        if let Some(size) = seen.meminfo.data().and_then(|meminfo| meminfo.shmem_huge_pages) {
            self.record.verified.insert(format!("{}: in huge pages on the machine", op.name()), size.to_string());
        }
    }

    fn take(&mut self, op: Op, ended: &Performed, seen: Option<&PressureSeen>) {
        let report = match ended {
            Ok(report) => report,
            Err(verdict) => {
                let verdict = child::named(op, verdict);
                self.note(verdict.reason().unwrap_or_default());
                self.record.verdict = verdict;
                return;
            }
        };
        let memory_only = self.place.kind.is_page_cache_only();
        self.record.figures.extend(match seen {
            Some(seen) => pressure::figures(seen, report, memory_only),
            None => figures::from_report(op, report),
        });
        if let Some((pages, before, after)) = report.pages {
            let text = format!("{before} of {pages} pages before, {after} after");
            self.record.verified.insert(format!("{}: in memory", op.name()), text);
            if before == pages && after < pages {
                self.note(&format!("{}: pages of the file were taken away while it was read", op.name()));
            }
        }
    }
}

fn raw_of(ended: &Performed, seen: Option<&PressureSeen>) -> serde_json::Value {
    match ended {
        Ok(report) => json!({ "said": report, "seen": seen }),
        Err(verdict) => json!({ "error": verdict.reason(), "seen": seen }),
    }
}
