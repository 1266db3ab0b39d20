//! `ramline explain kill`: the answer, why, and what would have avoided it; the figures below.

use ramline_advice::kill::ExplainedKill;
use ramline_model::kill::{Grown, KillPart, Killer, OtherKill, PartKind, ProgramUse, ZoneState};
use ramline_units::escape;

use crate::prelude::*;

impl Screen for ExplainedKill {
    fn sheet(&self) -> Sheet {
        let kill = &self.kill;
        let mut sheet = Sheet::new();
        let paint = match kill.killer {
            _ if kill.nothing_found => Paint::Good,
            Killer::None => Paint::Bold,
            _ => Paint::Warn,
        };
        sheet.answer(paint, self.headline.clone());
        self.why.iter().for_each(|line| sheet.line(line));
        if !self.avoid.is_empty() {
            sheet.heading("What would have avoided it");
        }
        for remedy in &self.avoid {
            sheet.point("  ", format!("{}:", remedy.what));
            remedy.commands.iter().for_each(|command| sheet.command(4, &escape(command)));
        }
        if let Some(sum) = &kill.sum {
            sheet.headed_table("Where memory was", parts(&sum.parts));
        }
        let before_stall = self.stall.as_ref().and_then(|stall| stall.growth.as_ref());
        if let Some(recorded) = self.recorded.as_ref().or(before_stall) {
            sheet.headed_table("Processes that grew before, as recorded", grown(&recorded.processes));
            sheet.headed_table("Groups that grew before, as recorded", grown(&recorded.groups));
        }
        sheet.headed_table("Largest programs", programs(&kill.programs));
        sheet.headed_table("Zones for this request", zones(&kill.zones));
        let more =
            if kill.other_kills > 0 { format!("Other kills in this log: {}", kill.other_kills) } else { String::new() };
        sheet.headed_table(more, others(&kill.others));
        sheet
    }
}

const fn name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Anonymous => "memory of processes",
        PartKind::Shmem => "shared memory, tmpfs",
        PartKind::File => "page cache",
        PartKind::Unevictable => "locked",
        PartKind::SlabUnreclaimable => "slab, cannot be reclaimed",
        PartKind::SlabReclaimable => "slab, reclaimable",
        PartKind::PageTables => "page tables",
        PartKind::KernelStacks => "kernel stacks",
        PartKind::HugePages => "huge pages set aside",
        PartKind::Free => "free",
        PartKind::Unaccounted => "in no counter",
    }
}

fn parts(parts: &[KillPart]) -> Table<&KillPart> {
    Table::from_rows(parts).left("what", |part| name(part.kind)).right("size", |part| part.bytes)
}

fn grown(all: &[Grown]) -> Table<&Grown> {
    Table::from_rows(all)
        .left("name", |one| escape(&one.name).into_owned())
        .right("pid", |one| one.pid.map(|pid| pid.to_string()))
        .right("before", |one| one.before)
        .right("after", |one| one.after)
        .right("grew by", |one| one.more)
}

fn programs(programs: &[ProgramUse]) -> Table<&ProgramUse> {
    Table::from_rows(programs.iter().take(5))
        .left("program", |program| escape(&program.name).into_owned())
        .right("processes", |program| program.tasks)
        .right("in RAM", |program| program.rss)
        .right("in swap", |program| program.swap)
}

fn zones(zones: &[ZoneState]) -> Table<&ZoneState> {
    let verdict = |zone: &ZoneState| match (zone.allowed, zone.is_below(), zone.block) {
        (false, ..) => "not allowed",
        (_, true, _) => "below its mark",
        (_, _, Some(false)) => "no block",
        _ => "could serve",
    };
    Table::from_rows(zones)
        .right("node", |zone| u64::from(zone.node))
        .left("zone", |zone| escape(&zone.name).into_owned())
        .right("free", |zone| zone.free)
        .right("usable", |zone| zone.usable)
        .right("mark", |zone| zone.mark())
        .left("for this request", verdict)
}

fn others(others: &[OtherKill]) -> Table<&OtherKill> {
    let victim = |other: &OtherKill| {
        other.victim.as_ref().and_then(|victim| victim.name.as_deref().map(|name| escape(name).into_owned()))
    };
    Table::from_rows(others)
        .left("at", |other| other.at.as_ref().map(|at| escape(&at.text).into_owned()))
        .left("killed", victim)
        .right("pid", |other| other.victim.as_ref().and_then(|victim| victim.pid).map(|pid| pid.to_string()))
        .left("by", |other| by(other.killer))
}

const fn by(killer: Killer) -> &'static str {
    match killer {
        Killer::KernelGlobal => "kernel",
        Killer::KernelMemcg => "kernel, in a group",
        Killer::Kernel => "kernel",
        Killer::Bpf => "BPF",
        Killer::Hugetlb => "no huge page",
        Killer::SystemdOomd => "systemd-oomd",
        Killer::Earlyoom => "earlyoom",
        Killer::Nohang => "nohang",
        Killer::Kubelet => "kubelet",
        Killer::Lmkd => "lmkd",
        Killer::None => "nothing",
    }
}
