//! What each process holds of the machine's mapped memory, between bounds.
//!
//! Two parts are kept apart, because for each the machine knows the sum: anonymous memory (AnonPages) and files with shared
//! memory (Mapped). For one process, each part lies in an interval:
//!
//! - **walked**: what the kernel counted, rounded down to KiB;
//! - **alike**: not walked, but one to three likely forks of the same kind were. Their share of each resident byte, from the
//!   smallest to the largest seen, is widened by its own spread (and by 2 % with three walks, 10 % with two, 25 % with one)
//!   and taken for this one too. This is an assumption. When the sums contradict it, it is dropped and said to be;
//! - **bounded**: neither. It holds at most what it maps. Of anonymous memory it holds at least what it maps divided by the
//!   processes of its program (only forks share), and at least what it maps less the machine's whole excess. Of files and
//!   shared memory nothing is certain by itself.
//!
//! The sums then close the intervals of a group: it holds at least the machine's sum less the most the others can hold, and
//! at most the sum less the least the others must hold. That is why one program that maps nearly everything needs no walk.
//!
//! Sums and list are not of one moment. What began or ended meanwhile is in a sum and in no row: the least sum is the lesser of that
//! before the pass, and that after it without what began during it. A sum above all that the listed map, or below all that they
//! hold at least, is of more or other processes than these: the sum then reaches as far as the list does, and raises no row. No row
//! is above what it maps, and what was walked stays what was walked.
//!
//! Worked example: Mapped is 920 MiB; A maps 900 MiB, B maps 100. A holds 820 to 900, B 20 to 100; after a walk of B that
//! gave 40, A holds 880.

use ramline_snapshot::processes::{Program, Walked};

use super::alike::alike;
use super::row::{Identity, Spread, bytes};
use crate::prelude::*;

/// A counter of the node lags by at most this many pages a CPU (the largest stat_threshold of mm/vmstat.c).
const LAG_PAGES: f64 = 125.0;
const KIB: f64 = 1024.0;
pub(super) const PAGE: f64 = 4096.0;

/// An interval with a most likely value, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Part {
    /// At least.
    pub low: f64,
    /// Most likely.
    pub mid: f64,
    /// At most.
    pub high: f64,
}

impl Part {
    /// Both added.
    #[must_use]
    pub fn plus(self, other: Part) -> Part {
        Part { low: self.low + other.low, mid: self.mid + other.mid, high: self.high + other.high }
    }

    /// Where of its width the part of a whole lies when the whole is to be `wanted`: a group moves as one, from where it is towards a bound.
    fn placed(self, whole: Part, wanted: f64) -> f64 {
        let (bound, room) =
            if wanted > whole.mid { (self.high, whole.high - whole.mid) } else { (self.low, whole.mid - whole.low) };
        self.mid + ((wanted - whole.mid).abs() / room.max(1.0)).min(1.0) * (bound - self.mid)
    }

    fn width(self) -> f64 {
        (self.high - self.low).max(0.0)
    }

    /// As bytes, the value within the bounds.
    #[must_use]
    pub fn spread(self) -> Spread {
        let (low, high) = (self.low.min(self.high), self.high.max(self.low));
        Spread { low: bytes(low), value: bytes(self.mid.clamp(low, high)), high: bytes(high) }
    }
}

/// How the parts of a process are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum How {
    /// Walked.
    Walked,
    /// A likely fork of the same kind was.
    Alike,
    /// Neither.
    #[default]
    Bounded,
}

/// One process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Member {
    /// Anonymous memory.
    pub anon: Part,
    /// Files and shared memory.
    pub shared: Part,
    /// How they are known.
    pub how: How,
}

/// All processes; those without memory are `None`.
#[derive(Debug, Clone, Default)]
pub struct Estimate {
    /// In the order of the list.
    pub members: Vec<Option<Member>>,
    /// All processes were seen: the sums hold with equality.
    pub complete: bool,
    /// The assumption about forks was contradicted and dropped.
    pub unlike: bool,
    /// The sums.
    pub identity: Identity,
    /// The sums are of the listed processes alone, so that what the others cannot hold is a row's.
    pub alone: bool,
    /// The machine's sums: anonymous, shared.
    sums: Option<(Part, Part)>,
    all: (Part, Part),
}

#[expect(clippy::cast_precision_loss, reason = "counts of processes and CPUs are far below 2^53")]
impl Estimate {
    /// The estimate for a list of processes on a machine with so many CPUs.
    #[must_use]
    pub fn from_processes(all: &Processes, cpus: u64) -> Estimate {
        let missed = &all.missed;
        let some = |p: &&Process| p.has_memory();
        let count = all.list.iter().filter(some).count() as f64;
        let slack = LAG_PAGES * PAGE * cpus as f64 + count * KIB;
        let around = |before: Bytes, after: Bytes, begun: Option<Bytes>| {
            let listed = after.saturating_sub(begun.unwrap_or_default());
            let (low, high) = (before.min(listed).as_f64() - slack, before.max(after).as_f64() + slack);
            Part { low: low.max(0.0), mid: listed.as_f64(), high }
        };
        let sums = all.around.map(|m| {
            (around(m.anon_before, m.anon_after, m.anon_begun), around(m.mapped_before, m.mapped_after, m.mapped_begun))
        });
        let seen_all = !missed.hidden
            && missed.nested == Some(false)
            && missed.denied == 0
            && missed.malformed == 0
            && missed.unreached == 0;
        // Where it is not known what began, one that ended before it was read may be in both sums, or its successor.
        let known = missed.vanished == 0 || all.around.is_some_and(|m| m.anon_begun.is_some());
        let anon_sum: Bytes = all.list.iter().filter_map(|p| p.rss_anon).sum();
        let shared_sum: Bytes = all.list.iter().filter(some).map(Process::rss_shared).sum();
        let mut out = Estimate {
            complete: seen_all && sums.is_some(),
            alone: seen_all && known && !all.list.iter().any(Process::is_ending),
            identity: Identity {
                anon_sum,
                anon_pages: all.around.map(|m| m.anon_after),
                shared_sum,
                mapped: all.around.map(|m| m.mapped_after),
                drift: Bytes::ZERO,
            },
            sums,
            ..Estimate::default()
        };
        // Without any assumption: what a sum has above all that they map is of processes that are not listed.
        let (anon, shared) = total(all.list.iter().filter_map(most).collect::<Vec<_>>().iter());
        out.alone &= sums.is_some_and(|sums| anon.high >= sums.0.low && shared.high >= sums.1.low);
        let bounded = Bounds::new(all, &out, count);
        let strict: Vec<Option<Member>> = all.list.iter().map(|p| bounded.member(p)).collect();
        (out.members, out.unlike) = alike(all, &strict);
        if out.contradicted() {
            out.members = strict;
            out.unlike = true;
        }
        out.settle();
        out.all = out.total(|_| true);
        out.reconcile();
        out.identity.drift = out.sums.map(|(a, m)| bytes((a.width() + m.width()) / 2.0)).unwrap_or_default();
        out
    }

    /// The sums reach as far as the list: no row is closed by what cannot be.
    fn reconcile(&mut self) {
        let Some((anon, shared)) = &mut self.sums else { return };
        for (sum, all) in [(anon, self.all.0), (shared, self.all.1)] {
            sum.high = sum.high.max(all.mid);
            if self.complete {
                sum.low = sum.low.min(all.high);
            }
            sum.mid = sum.mid.clamp(sum.low.min(sum.high), sum.high);
        }
    }

    /// True when what is alike cannot be: the intervals do not reach the machine's sum.
    fn contradicted(&self) -> bool {
        let Some(sums) = self.sums.filter(|_| self.complete) else { return false };
        let (anon, shared) = self.total(|_| true);
        let misses = |part: Part, sum: Part| part.low > sum.high || (self.alone && part.high < sum.low);
        self.alike() > 0 && (misses(anon, sums.0) || misses(shared, sums.1))
    }

    /// Places the likely values so that they add up to the machine's sum, those first that are only bounded; where others may be in
    /// it too, so that they add up to no more.
    fn settle(&mut self) {
        let Some(sums) = self.sums else { return };
        for how in [How::Bounded, How::Alike] {
            let (anon, shared) = self.total(|m| m.how == how);
            let (fixed_anon, fixed_shared) = self.total(|m| m.how != how);
            let wanted = |part: Part, fixed: Part, sum: Part| {
                let now = part.mid + fixed.mid;
                // What walks say of the others stands where the sum allows it.
                let to = if how == How::Alike { now.clamp(sum.low, sum.high) } else { sum.mid };
                if self.alone { to - fixed.mid } else { to.min(now) - fixed.mid }
            };
            let (anon_wanted, shared_wanted) = (wanted(anon, fixed_anon, sums.0), wanted(shared, fixed_shared, sums.1));
            for member in self.members.iter_mut().flatten().filter(|m| m.how == how) {
                member.anon.mid = member.anon.placed(anon, anon_wanted);
                member.shared.mid = member.shared.placed(shared, shared_wanted);
            }
        }
    }

    fn total(&self, which: impl Fn(&Member) -> bool) -> (Part, Part) {
        total(self.members.iter().flatten().filter(|m| which(m)))
    }

    /// Closes the intervals of a group by the machine's sums.
    #[must_use]
    pub fn close(&self, anon: Part, shared: Part) -> (Part, Part) {
        let Some(sums) = self.sums else { return (anon, shared) };
        (self.closed(anon, self.all.0, sums.0), self.closed(shared, self.all.1, sums.1))
    }

    fn closed(&self, part: Part, all: Part, sum: Part) -> Part {
        // What was not seen can hold what the sum has more, never less.
        let low = if self.alone { part.low.max(sum.low - (all.high - part.high)) } else { part.low };
        let high = part.high.min(sum.high - (all.low - part.low)).max(part.low);
        // Rounding apart, the two agree since the sums reach as far as the list.
        let low = low.min(high);
        Part { low, mid: part.mid.clamp(low, high), high }
    }

    /// What all seen processes hold together.
    #[must_use]
    pub fn whole(&self) -> Spread {
        match self.sums.filter(|_| self.alone) {
            Some((anon, shared)) => anon.plus(shared).spread(),
            None => {
                let (anon, shared) = self.close(self.all.0, self.all.1);
                anon.plus(shared).spread()
            }
        }
    }

    /// Processes that stand for themselves only by likeness.
    #[must_use]
    pub fn alike(&self) -> u64 {
        self.members.iter().flatten().filter(|m| m.how == How::Alike).count() as u64
    }
}

/// Both parts of some, added up.
fn total<'a>(members: impl Iterator<Item = &'a Member>) -> (Part, Part) {
    let none = (Part::default(), Part::default());
    members.fold(none, |(a, s), m| (a.plus(m.anon), s.plus(m.shared)))
}

/// What a process can hold at most.
fn most(p: &Process) -> Option<Member> {
    let anon = p.rss_anon?.as_f64();
    let part = |high: f64| Part { low: 0.0, mid: high, high };
    Some(match p.walked {
        Some(walked) => {
            let (anon, shared) = split(p, walked);
            Member { anon, shared, how: How::Walked }
        }
        None => Member { anon: part(anon), shared: part(p.rss_shared().as_f64()), how: How::Bounded },
    })
}

/// What holds without any assumption.
struct Bounds<'a> {
    of_program: HashMap<Program<'a>, f64>,
    all: f64,
    unseen: bool,
    /// Began or ended unlisted: each may have been a fork of any.
    unlisted: f64,
    /// Anonymous residents that no walk has told whose they are, beyond what the machine has of them.
    excess: f64,
    mapped: f64,
}

#[expect(clippy::cast_precision_loss, reason = "counts of processes are far below 2^53")]
impl<'a> Bounds<'a> {
    fn new(all: &'a Processes, sums: &Estimate, count: f64) -> Bounds<'a> {
        let mut of_program: HashMap<Program<'_>, f64> = HashMap::new();
        all.list.iter().filter(|p| p.has_memory()).for_each(|p| *of_program.entry(p.program()).or_default() += 1.0);
        let open = |p: &&Process| p.walked.is_none();
        let residents: Bytes = all.list.iter().filter(open).filter_map(|p| p.rss_anon).sum();
        let known: f64 = all.list.iter().filter_map(|p| Some(split(p, p.walked?).0.high)).sum();
        let excess = match sums.sums {
            Some((anon, _)) if sums.alone => (residents.as_f64() - (anon.low - known)).max(0.0),
            _ => f64::INFINITY,
        };
        Bounds {
            of_program,
            all: count.max(1.0),
            unseen: all.missed.hidden || all.missed.denied > 0 || all.missed.unreached > 0,
            unlisted: all.missed.vanished.saturating_add(all.missed.begun) as f64,
            excess,
            mapped: sums.sums.map_or(f64::INFINITY, |(_, mapped)| mapped.high),
        }
    }

    fn member(&self, p: &Process) -> Option<Member> {
        let anon = p.rss_anon?.as_f64();
        if let Some(walked) = p.walked {
            let (anon, shared) = split(p, walked);
            return Some(Member { anon, shared, how: How::Walked });
        }
        // Whose program is not known may be anybody's fork; so may be one of a program that others run unseen.
        let sharers = match p.exe {
            _ if self.unseen => f64::INFINITY,
            Some(_) => self.of_program.get(&p.program()).copied().unwrap_or(1.0),
            None => self.all,
        };
        let shared = p.rss_shared().as_f64();
        let high = shared.min(self.mapped);
        let part = |low: f64, high: f64, mid: f64| Part { low: low.min(high), mid, high };
        Some(Member {
            anon: part((anon / (sharers + self.unlisted)).max(anon - self.excess), anon, anon),
            shared: part(0.0, high, high / 2.0),
            how: How::Bounded,
        })
    }
}

/// Anonymous and shared part of a walk.
fn split(p: &Process, walked: Walked) -> (Part, Part) {
    let pss = walked.pss.as_f64();
    let rounded = |low: f64, step: f64| Part { low, mid: low + step / 2.0, high: low + step };
    match (walked.pss_anon, walked.pss_file, walked.pss_shmem) {
        (Some(anon), file, shmem) => {
            let shared = file.unwrap_or_default() + shmem.unwrap_or_default();
            (rounded(anon.as_f64(), KIB), rounded(shared.as_f64(), 2.0 * KIB))
        }
        // Before 5.3 the kernel gives the sum only.
        _ => {
            let (anon, shared) = (p.rss_anon.unwrap_or_default().as_f64(), p.rss_shared().as_f64());
            let part = |mine: f64, other: f64| {
                let (low, high) = ((pss - other).max(0.0), mine.min(pss + KIB));
                Part { low: low.min(high), mid: pss * mine / (mine + other).max(1.0), high }
            };
            (part(anon, shared), part(shared, anon))
        }
    }
}
