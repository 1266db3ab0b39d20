//! Runs with `--with`: the limit is on the service, and the command asks it.

use std::cell::RefCell;

use ramline_evidence::knee::STEP;
use ramline_sandbox::child::command::{self, CommandRun, Look, Ran};

use super::client::{self, Beside};
use super::service::{Guard, Service};
use super::{Search, without_time};
use crate::fileset::{FileSet, Warmth};
use crate::prelude::*;

impl Search {
    /// Without a limit: how long it takes, how much the service uses, and how much of that cannot be reclaimed.
    pub(super) fn prepare_service(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let Some(mut service) = self.service.take() else { return Ok(()) };
        bench.progress.step(&format!("asking {} without a limit, to see how much memory it uses", service.name));
        service.hold(bench)?;
        let mark = bench.run.mark();
        // A number no run of the series has.
        let (group, _) = group::limited(&self.hierarchy, None, u32::MAX, bench.run)?;
        let without_swap = swap::areas(bench.root)?.is_empty();
        let guard = RefCell::new(Guard::new(&service, without_swap, Some(Beside::new(&group, false))));
        let first = CommandRun { argv: &self.argv, group: Some(&group), timeout: self.timeout, look: Some(&guard) };
        command::run(bench.root, first, None, bench.run)?.must_succeed(&self.argv)?;
        evict(&guard.borrow().files);
        guard.borrow_mut().most = Bytes::ZERO;
        let ran = self.asked_until_warm(&service, &group, self.timeout, &guard, bench)?;
        ran.must_succeed(&self.argv)?;
        bench.run.undo_to(mark)?;
        let guard = guard.into_inner();
        self.cold = Duration::from_nanos(ran.wall.0);
        self.start = guard.most.max(STEP);
        // In use now, and a moment later perhaps a little more of it.
        self.floor = if without_swap { guard.least + STEP } else { Bytes::ZERO };
        if let Some(beside) = guard.beside() {
            let asked = client::CommandUse { client_only: true, ..self.asked(&ran) };
            self.outside = client::look_at(&beside.outside, &asked, bench.root)?;
        }
        let (start, floor) = (self.start, self.floor);
        if floor + STEP >= start {
            let why = format!(
                "{} uses {start}, of which {floor} cannot be reclaimed: no limit below can be tried without harm",
                service.name
            );
            return Err(LabError::ended("the first runs, without a limit", vec![why], "ramline show cgroups"));
        }
        self.service = Some(service);
        Ok(())
    }

    /// One run within a limit, or without; `None` where the service could not be brought below it.
    pub(super) fn ask(
        &self,
        service: &Service,
        limit: Option<Bytes>,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<Option<Ran>> {
        let name = &service.name;
        // What the client itself may have is no question here; the machine stays safe.
        let (group, _) = group::limited(&self.hierarchy, None, record.order, bench.run)?;
        record.notes.clone_from(&self.outside);
        let stuck = match limit {
            None => {
                service.lift()?;
                None
            }
            Some(limit) => {
                bench.progress.phase(&format!("bringing {name} below {limit}"));
                service.lower(limit, bench)?
            }
        };
        record
            .verified
            .insert("memory limit".to_owned(), limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string()));
        if let Some(usage) = stuck {
            service.lift()?;
            record.verdict = Verdict::Failed(format!("reclaim did not come below {usage}"));
            return Ok(None);
        }
        let timeout = if limit.is_some() { self.patience() } else { self.timeout };
        let guard = RefCell::new(Guard::new(service, false, None));
        bench.progress.phase(&format!("the command asks {name}"));
        let ran = self.asked_until_warm_for(service, &group, timeout, &guard, record, bench)?;
        record.verdict = ran.verdict();
        if record.verdict != Verdict::Completed {
            // Before anything else: it waits.
            service.lift()?;
        }
        if !service.is_running(bench.root) {
            let why = format!("{name} has ended while it was asked");
            return Err(LabError::ended("the first run", vec![why], "ramline lab report"));
        }
        record.after = observe::counters(bench.root, &service.stat()?);
        record.reclaim = observe::reclaim(record, ran.usage.majflt);
        ran.note(record);
        // The kernel's own peak is that since the group was made.
        let most = guard.into_inner().most;
        record.after.insert("group.peak_bytes".to_owned(), most.0);
        let peak = Figure::new("peak of the group", most.as_f64(), "bytes", Better::Neither);
        record.figures = ran.figures().into_iter().chain([peak]).collect();
        without_time(record);
        Ok(Some(ran))
    }

    fn asked_until_warm(
        &self,
        service: &Service,
        group: &Group,
        timeout: Duration,
        look: &RefCell<dyn Look>,
        bench: &mut Bench<'_>,
    ) -> Result<Ran> {
        self.asked_until_warm_for(service, group, timeout, look, &mut RunRecord::default(), bench)
    }

    /// Its counters before the run that counts go to the record.
    fn asked_until_warm_for(
        &self,
        service: &Service,
        group: &Group,
        timeout: Duration,
        look: &RefCell<dyn Look>,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<Ran> {
        service.warmed(|| {
            record.before = observe::counters(bench.root, &service.stat()?);
            let order = CommandRun { argv: &self.argv, group: Some(group), timeout, look: Some(look) };
            let ran = command::run(bench.root, order, None, bench.run)?;
            let completed = ran.verdict() == Verdict::Completed;
            Ok((ran, completed))
        })
    }
}

/// What the service reads again is charged to its group: pages of its files that another group brought in would be under no limit.
fn evict(files: &std::collections::BTreeSet<PathBuf>) {
    for path in files {
        // Devices, pipes, files in memory and what has gone meanwhile have nothing to evict.
        if let Ok(set) = FileSet::from_files(std::slice::from_ref(path)) {
            set.bring_about(Warmth::Cold).ok();
        }
    }
}
