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
//! Worked example: Mapped is 920 MiB; A maps 900 MiB, B maps 100. A holds 820 to 900, B 20 to 100; after a walk of B that
//! gave 40, A holds 880.

use ramline_snapshot::processes::{Program, Walked};

use super::row::{Identity, Spread, bytes};
use crate::prelude::*;

/// A counter of the node lags by at most this many pages a CPU (the largest stat_threshold of mm/vmstat.c).
const LAG_PAGES: f64 = 125.0;
/// Widening of what walked forks say about the others, by the number of walks.
const WIDENING: [f64; 4] = [0.0, 0.25, 0.1, 0.02];
const KIB: f64 = 1024.0;
const PAGE: f64 = 4096.0;

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
    /// The machine's sums: anonymous, shared.
    sums: Option<(Part, Part)>,
    all: (Part, Part),
}

#[expect(clippy::cast_precision_loss, reason = "counts of processes and CPUs are far below 2^53")]
impl Estimate {
    /// The estimate for a list of processes on a machine with so many CPUs.
    #[must_use]
    pub fn of(all: &Processes, cpus: u64) -> Estimate {
        let missed = &all.missed;
        let some = |p: &&Process| p.has_memory();
        let count = all.list.iter().filter(some).count() as f64;
        let slack = LAG_PAGES * PAGE * cpus as f64 + count * KIB;
        let around = |a: Bytes, b: Bytes| {
            let (low, high) = (a.min(b).as_f64() - slack, a.max(b).as_f64() + slack);
            Part { low: low.max(0.0), mid: b.as_f64(), high }
        };
        let sums = all.around.map(|m| (around(m.anon_before, m.anon_after), around(m.mapped_before, m.mapped_after)));
        let seen_all = !missed.hidden && missed.nested == Some(false) && missed.denied == 0 && missed.malformed == 0;
        let anon_sum: Bytes = all.list.iter().filter_map(|p| p.rss_anon).sum();
        let shared_sum: Bytes = all.list.iter().filter(some).map(Process::rss_shared).sum();
        let mut out = Estimate {
            complete: seen_all && sums.is_some(),
            identity: Identity {
                anon_sum,
                anon_pages: all.around.map(|m| m.anon_after),
                shared_sum,
                mapped: all.around.map(|m| m.mapped_after),
                drift: sums.map(|(a, m)| bytes((a.width() + m.width()) / 2.0)).unwrap_or_default(),
            },
            sums,
            ..Estimate::default()
        };
        let bounded = Bounds::of(all, &out, count);
        let strict: Vec<Option<Member>> = all.list.iter().map(|p| bounded.member(p)).collect();
        (out.members, out.unlike) = alike(all, &strict);
        if out.contradicted() {
            out.members = strict;
            out.unlike = true;
        }
        out.settle();
        out.all = out.total(|_| true);
        out
    }

    /// True when what is alike cannot be: the intervals do not reach the machine's sum.
    fn contradicted(&self) -> bool {
        let Some(sums) = self.sums.filter(|_| self.complete) else { return false };
        let (anon, shared) = self.total(|_| true);
        let misses = |part: Part, sum: Part| part.low > sum.high || part.high < sum.low;
        self.alike() > 0 && (misses(anon, sums.0) || misses(shared, sums.1))
    }

    /// Places the likely values of what is only bounded so that they add up to the machine's sum.
    fn settle(&mut self) {
        let Some(sums) = self.sums.filter(|_| self.complete) else { return };
        let (anon, shared) = self.total(|m| m.how == How::Bounded);
        let (fixed_anon, fixed_shared) = self.total(|m| m.how != How::Bounded);
        let at = |part: Part, sum: f64| ((sum - part.low) / part.width().max(1.0)).clamp(0.0, 1.0);
        let (t, u) = (at(anon, sums.0.mid - fixed_anon.mid), at(shared, sums.1.mid - fixed_shared.mid));
        for member in self.members.iter_mut().flatten().filter(|m| m.how == How::Bounded) {
            member.anon.mid = member.anon.low + t * member.anon.width();
            member.shared.mid = member.shared.low + u * member.shared.width();
        }
    }

    fn total(&self, which: impl Fn(&Member) -> bool) -> (Part, Part) {
        let none = (Part::default(), Part::default());
        let members = self.members.iter().flatten().filter(|m| which(m));
        members.fold(none, |(a, s), m| (a.plus(m.anon), s.plus(m.shared)))
    }

    /// Closes the intervals of a group by the machine's sums.
    #[must_use]
    pub fn close(&self, anon: Part, shared: Part) -> (Part, Part) {
        let Some(sums) = self.sums else { return (anon, shared) };
        (self.closed(anon, self.all.0, sums.0), self.closed(shared, self.all.1, sums.1))
    }

    fn closed(&self, part: Part, all: Part, sum: Part) -> Part {
        // Whoever was not seen can hold what the sum has more, never less.
        let low = if self.complete { part.low.max(sum.low - (all.high - part.high)) } else { part.low };
        let high = part.high.min(sum.high - (all.low - part.low)).max(low);
        Part { low, mid: part.mid.clamp(low, high), high }
    }

    /// What all seen processes hold together.
    #[must_use]
    pub fn whole(&self) -> Spread {
        match self.sums.filter(|_| self.complete) {
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

/// What holds without any assumption.
struct Bounds<'a> {
    of_program: HashMap<Program<'a>, f64>,
    all: f64,
    unseen: bool,
    /// Anonymous residents that no walk has told whose they are, beyond what the machine has of them.
    excess: f64,
    mapped: f64,
}

impl<'a> Bounds<'a> {
    fn of(all: &'a Processes, sums: &Estimate, count: f64) -> Bounds<'a> {
        let mut of_program: HashMap<Program<'_>, f64> = HashMap::new();
        all.list.iter().filter(|p| p.has_memory()).for_each(|p| *of_program.entry(p.program()).or_default() += 1.0);
        let open = |p: &&Process| p.walked.is_none();
        let residents: Bytes = all.list.iter().filter(open).filter_map(|p| p.rss_anon).sum();
        let known: f64 = all.list.iter().filter_map(|p| Some(split(p, p.walked?).0.high)).sum();
        let excess = match sums.sums {
            Some((anon, _)) if sums.complete => (residents.as_f64() - (anon.low - known)).max(0.0),
            _ => f64::INFINITY,
        };
        Bounds {
            of_program,
            all: count.max(1.0),
            unseen: all.missed.hidden || all.missed.denied > 0,
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
            anon: part((anon / sharers).max(anon - self.excess), anon, anon),
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

/// Takes what was walked of a kind for the rest of it; true when somewhere that cannot be.
fn alike(all: &Processes, strict: &[Option<Member>]) -> (Vec<Option<Member>>, bool) {
    let kin = all.kin();
    let mut samples: HashMap<u32, [Sample; 2]> = HashMap::new();
    for ((number, p), member) in kin.iter().zip(&all.list).zip(strict) {
        let (Some(number), Some(member)) = (number, member) else { continue };
        if member.how == How::Walked {
            let [anon, shared] = samples.entry(*number).or_default();
            anon.add(member.anon.mid, p.rss_anon.unwrap_or_default().as_f64());
            shared.add(member.shared.mid, p.rss_shared().as_f64());
        }
    }
    let mut unlike = false;
    let mut like = |number: u32, p: &Process, member: Member| {
        let [anon, shared] = samples.get(&number)?;
        let anon = anon.taken_for(p.rss_anon.unwrap_or_default().as_f64(), member.anon);
        let shared = shared.taken_for(p.rss_shared().as_f64(), member.shared);
        unlike |= anon.is_none() || shared.is_none();
        Some(Member { anon: anon?, shared: shared?, how: How::Alike })
    };
    let each = strict.iter().zip(&kin).zip(&all.list);
    let members = each.map(|((member, number), p)| {
        let member = (*member)?;
        let found = number.filter(|_| member.how == How::Bounded).and_then(|n| like(n, p, member));
        Some(found.unwrap_or(member))
    });
    (members.collect(), unlike)
}

/// Shares of resident bytes that walks gave.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    count: usize,
    sum: f64,
    low: f64,
    high: f64,
}

impl Sample {
    fn add(&mut self, held: f64, resident: f64) {
        let ratio = (held / resident.max(1.0)).min(1.0);
        self.low = if self.count == 0 { ratio } else { self.low.min(ratio) };
        self.high = self.high.max(ratio);
        self.sum += ratio;
        self.count += 1;
    }

    /// The share for another process that maps so much; `None` when that contradicts what is certain of it.
    #[expect(clippy::cast_precision_loss, reason = "a count of walks")]
    fn taken_for(&self, resident: f64, certain: Part) -> Option<Part> {
        let mean = self.sum / self.count.max(1) as f64;
        let widening = WIDENING.get(self.count).copied().unwrap_or(0.02);
        let by = (self.high - self.low).max(widening * mean);
        let low = ((self.low - by) * resident - PAGE).max(certain.low);
        let high = ((self.high + by) * resident + PAGE).min(certain.high);
        (low <= high).then(|| Part { low, mid: (mean * resident).clamp(low, high), high })
    }
}
