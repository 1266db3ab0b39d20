//! Random machines whose processes begin, end and grow between the reading of the sums and of the rows.
//!
//! Memory is blocks, each mapped by some processes: the sums, RSS and PSS of any moment follow. What is listed is read one process after
//! the other while others begin and end, as on a machine.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts and sizes of a small machine"
)]

use ramline_snapshot::processes::{Around, Missed, Processes, Walked};
use ramline_snapshot::{Seen, machine::Machine};

use super::*;

/// xorshift64*.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % n.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Pages that some map.
struct Block {
    anon: bool,
    pages: u64,
    mappers: Vec<u32>,
}

#[derive(Default)]
struct Life {
    program: u32,
    alive: bool,
    /// PSS in bytes, the least and the most it ever was.
    least: f64,
    most: f64,
}

/// What happens on it.
#[derive(Clone, Copy)]
struct Weather {
    churn: bool,
    growth: bool,
    walks: bool,
}

struct World {
    dice: Dice,
    blocks: Vec<Block>,
    lives: Vec<Life>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut world =
            World { dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), blocks: Vec::new(), lives: Vec::new() };
        // Blocks 0 to 4 are what forks of a program share, 5 to 9 files.
        for at in 0..10 {
            let pages = world.size();
            world.blocks.push(Block { anon: at < 5, pages, mappers: Vec::new() });
        }
        for _ in 0..world.dice.below(40) + 2 {
            world.begin();
        }
        world
    }

    fn size(&mut self) -> u64 {
        let most = 1 << self.dice.below(16);
        self.dice.below(most) + 1
    }

    fn begin(&mut self) {
        let (pid, program) = (self.lives.len() as u32, self.dice.below(5));
        self.lives.push(Life { program: program as u32, alive: true, least: f64::MAX, most: 0.0 });
        let mut mapped = vec![program as usize];
        mapped.extend((5..10).filter(|_| self.dice.one_in(3)));
        mapped.iter().for_each(|at| self.blocks[*at].mappers.push(pid));
        let pages = self.size();
        self.blocks.push(Block { anon: true, pages, mappers: vec![pid] });
        self.note();
    }

    fn alive(&self) -> Vec<u32> {
        (0..self.lives.len() as u32).filter(|pid| self.lives[*pid as usize].alive).collect()
    }

    fn end(&mut self) {
        let alive = self.alive();
        let Some(pid) = alive.get(self.dice.below(alive.len() as u64) as usize) else { return };
        self.lives[*pid as usize].alive = false;
        self.blocks.iter_mut().for_each(|block| block.mappers.retain(|mapper| mapper != pid));
        self.note();
    }

    fn happens(&mut self, weather: Weather) {
        for _ in 0..self.dice.below(3) {
            match self.dice.below(4) {
                0 if weather.churn => self.begin(),
                1 if weather.churn => self.end(),
                2 if weather.growth => {
                    let at = self.dice.below(self.blocks.len() as u64) as usize;
                    self.blocks[at].pages = self.size();
                    self.note();
                }
                _ => {}
            }
        }
    }

    fn note(&mut self) {
        for pid in self.alive() {
            let pss = self.pss(pid, |_| true);
            let life = &mut self.lives[pid as usize];
            (life.least, life.most) = (life.least.min(pss), life.most.max(pss));
        }
    }

    fn sum(&self, anon: bool) -> Bytes {
        let mapped = self.blocks.iter().filter(|b| b.anon == anon && !b.mappers.is_empty());
        Bytes(mapped.map(|b| b.pages).sum::<u64>() * 4096)
    }

    fn rss(&self, pid: u32, anon: bool) -> Bytes {
        let mapped = self.blocks.iter().filter(|b| b.anon == anon && b.mappers.contains(&pid));
        Bytes(mapped.map(|b| b.pages).sum::<u64>() * 4096)
    }

    fn pss(&self, pid: u32, which: impl Fn(&Block) -> bool) -> f64 {
        let mapped = self.blocks.iter().filter(|b| b.mappers.contains(&pid) && which(b));
        mapped.map(|b| b.pages as f64 * 4096.0 / b.mappers.len() as f64).sum()
    }

    fn read(&mut self, pid: u32, walked: bool) -> Process {
        let kib = |bytes: f64| Bytes(bytes as u64 / 1024 * 1024);
        let (rss_anon, rss_file) = (self.rss(pid, true), self.rss(pid, false));
        let walked = walked.then(|| Walked {
            rss: rss_anon + rss_file,
            pss: kib(self.pss(pid, |_| true)),
            pss_anon: Some(kib(self.pss(pid, |b| b.anon))),
            pss_file: Some(kib(self.pss(pid, |b| !b.anon))),
            ..Walked::default()
        });
        let exe = Some(self.lives[pid as usize].program);
        let (rss_anon, rss_file, name) = (Some(rss_anon), Some(rss_file), format!("p{pid}"));
        Process { pid, exe, rss_anon, rss_file, name, walked, ..Process::default() }
    }

    /// A pass over the processes, as `gather` makes it.
    fn pass(&mut self, weather: Weather) -> Processes {
        let (anon_before, mapped_before) = (self.sum(true), self.sum(false));
        self.happens(weather);
        let (listed, newest) = (self.alive(), self.lives.len() as u32);
        let mut all = Processes { missed: Missed { nested: Some(false), ..Missed::default() }, ..Processes::default() };
        for pid in listed {
            self.happens(weather);
            if self.lives[pid as usize].alive {
                let walked = weather.walks && self.dice.one_in(2);
                let process = self.read(pid, walked);
                all.list.push(process);
            } else {
                all.missed.vanished += 1;
            }
        }
        self.happens(weather);
        let begun: Vec<u32> = self.alive().into_iter().filter(|pid| *pid >= newest).collect();
        all.missed.begun = begun.len() as u64;
        let begun = |anon| begun.iter().map(|pid| self.rss(*pid, anon)).sum();
        let (anon_begun, mapped_begun) =
            Some((begun(true), begun(false))).filter(|_| !self.blocks.len().is_multiple_of(5)).unzip();
        let (anon_after, mapped_after) = (self.sum(true), self.sum(false));
        all.around = Some(Around { anon_before, anon_after, mapped_before, mapped_after, anon_begun, mapped_begun });
        all.programs = (0..5).map(|at| format!("/bin/program{at}")).collect();
        all
    }
}

fn seen(all: Processes) -> Snapshot {
    let mut snapshot = Snapshot::new(Machine { cpus: 1, ..Machine::default() });
    snapshot.processes = Seen::new(all);
    snapshot
}

/// No row above what it maps, none of the walked other than it was walked, and all together no more than the whole with its slack.
fn holds(all: &Processes, snapshot: &Snapshot, seed: u64) -> Who {
    for by in [By::Program, By::User, By::Process] {
        let who = Who::from_snapshot(snapshot, None, by).unwrap();
        for row in &who.rows {
            let ordered = row.holds.low <= row.holds.value && row.holds.value <= row.holds.high;
            assert!(
                ordered && row.holds.high <= row.rss && row.anon + row.shared == row.holds.value,
                "seed {seed}: {row:?}"
            );
        }
        let rows: Bytes = who.rows.iter().map(|row| row.holds.value).sum();
        assert!(rows.0 <= who.whole.high.0 + who.rows.len() as u64, "seed {seed}, {by:?}: {rows} of {:?}", who.whole);
    }
    let who = Who::from_snapshot(snapshot, None, By::Process).unwrap();
    let walked = all.list.iter().filter_map(|p| Some((p.pid, p.walked?)));
    for (pid, walked) in walked {
        let row = who.rows.iter().find(|row| row.pid == Some(pid)).unwrap();
        // Each of two parts is rounded down to KiB.
        let known = walked.pss.0..=walked.pss.0 + 3 * 1024;
        assert!(known.contains(&row.holds.value.0), "seed {seed}: {walked:?} {row:?}");
    }
    who
}

#[test]
fn no_row_is_above_what_it_maps_whatever_begins_ends_and_grows_meanwhile() {
    for seed in 0..2000 {
        let mut world = World::new(seed);
        let weather = Weather { churn: true, growth: seed % 2 == 0, walks: seed % 3 > 0 };
        let all = world.pass(weather);
        holds(&all, &seen(all.clone()), seed);
    }
}

#[test]
fn bounds_hold_what_each_held_while_others_began_and_ended() {
    let mut judged = 0;
    for seed in 0..2000 {
        let mut world = World::new(seed);
        // What was walked before a page lost a mapper is less than it holds after: without walks, or without a change.
        let calm = seed % 2 == 0;
        let all = world.pass(Weather { churn: !calm, growth: false, walks: calm });
        let who = holds(&all, &seen(all.clone()), seed);
        if who.alike > 0 {
            continue;
        }
        for row in &who.rows {
            let life = &world.lives[row.pid.unwrap() as usize];
            let (least, most) = (life.least as u64, life.most as u64 + 4096);
            assert!(
                row.holds.low.0 <= most && row.holds.high.0 + 4096 >= least,
                "seed {seed}: {row:?} {least} to {most}"
            );
            judged += 1;
        }
        assert!(who.closed || !calm, "seed {seed}: nothing happened, and the sums bound each row");
    }
    assert!(judged > 10_000, "{judged}");
}
