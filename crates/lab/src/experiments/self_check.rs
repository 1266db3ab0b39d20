//! The experiment self-check: arms that are one and the same, and one that does known extra work.
//!
//! What it is: the engine, the interleaving and the claims of every other experiment, on work whose truth is known. What it is
//! not: a sandbox. The work is a chain of reads of this process's own memory, as many in every run of an arm. Each read waits
//! for the one before, so it takes as long as a core takes, whatever the other half of that core does meanwhile.

use crate::prelude::*;

/// Memory the reads go to: what the first cache of a core holds, because those behind it are shared with neighbours.
const SIZE: Bytes = Bytes::from_kib(16);
/// Reads between looks at the clock while the work is sized.
const CHUNK: u64 = 4096;
/// The arms: twice the same, and the same with more work.
const ARMS: [&str; 3] = ["first", "again", "slowed"];

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: "self-check",
    question: "Does this machine, measured as ramline measures, show differences that are none, and find one that is there?",
    how: "The same reads of memory are timed in two settings that are one and the same, and in a third that makes a given share more \
          of them. A difference claimed between the first two is false; one not claimed for the third is missed.",
    needs: "nothing",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/self-check.md")),
    parameters: &[
        row("work", Kind::Time, Some("100ms"), "How long one run of the first setting takes"),
        row("slowed", Kind::Count(1, 1000), Some("20"), "Extra work of the third setting, in per cent"),
    ],
    figures: &["time", "CPU time"],
    child: None,
    study: Study::Series,
    forecast: None,
    open,
};

fn open(_root: &Root, params: &Params) -> Result<PlannedSeries> {
    let work = params.time("work").unwrap_or_default();
    let fits = (Duration::from_millis(1)..=Duration::from_secs(10)).contains(&work);
    refuse_if(!fits, "self-check", "--work 30ms", format!("a run of {work:?} is not 1 ms to 10 s"))?;
    let (extra, seed) = (params.count("slowed").unwrap_or_default(), params.count("seed").unwrap_or_default());
    let [first, again, slowed] = ARMS;
    let more = format!("{extra} %");
    let arms = vec![Arm::named(first, &[]), Arm::named(again, &[]), Arm::named(slowed, &[("extra work", &more)])];
    let (runs, longest_run) = (params.runs(), work.saturating_mul(20));
    let sentences = vec![format!(
        "{} runs of about {work:?}: reads of {SIZE} of memory at random; {first} and {again} are the same, {slowed} makes {extra} % more",
        u64::from(runs) * 3
    )];
    let (global, doubts) = (Vec::new(), Vec::new());
    let work = Box::new(SelfCheck { seed, work, extra, ready: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
}

/// One series.
struct SelfCheck {
    seed: u64,
    work: Duration,
    extra: u64,
    ready: Option<Ready>,
}

/// What all runs share.
struct Ready {
    memory: Map,
    reads: u64,
}

impl Ready {
    /// Reads at random places, each of which depends on the byte read before; returns where the chain ends.
    fn read(&self, seed: u64, count: u64) -> Result<u64> {
        let mut state = seed;
        for _ in 0..count {
            let place = usize::try_from((state >> 32) % SIZE.0).unwrap_or_default();
            let byte = u64::from(self.memory.touch_read(place)?);
            // Knuth's multiplier for 64 bits (MMIX).
            state = state.wrapping_add(byte).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(byte);
        }
        Ok(state)
    }
}

impl Series for SelfCheck {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        bench.progress.step("sizing the work");
        let mut memory = Map::anonymous(SIZE, Sharing::Private)?;
        if let Some(bytes) = memory.as_mut_slice() {
            bytes.fill(1);
        }
        let mut ready = Ready { memory, reads: 0 };
        let begin = Instant::now();
        while begin.elapsed() < self.work {
            bench.run.check_interrupted()?;
            ready.read(self.seed, CHUNK)?;
            ready.reads += CHUNK;
        }
        self.ready = Some(ready);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        bench.run.check_interrupted()?;
        let ready = prepared(&self.ready)?;
        let share = if arm.settings.is_empty() { 100 } else { 100 + self.extra };
        let reads = ready.reads.saturating_mul(share) / 100;
        bench.progress.phase("reading memory");
        let (before, begin) = (process::own_usage()?, Instant::now());
        let end = ready.read(self.seed, reads)?;
        let took = begin.elapsed();
        let cpu = process::own_usage()?.since(&before)?.cpu();
        "none: this process itself".clone_into(&mut record.sandbox);
        record.verified.insert("reads".to_owned(), reads.to_string());
        record.verified.insert("end of the chain".to_owned(), end.to_string());
        record.figures = vec![
            Figure::new("time", took.as_secs_f64(), "s", Better::Lower),
            Figure::new("CPU time", cpu.as_secs_f64(), "s", Better::Lower),
        ];
        record.verdict = Verdict::Completed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_arms_are_the_same_and_the_third_has_more_work() {
        let mut params = EXPERIMENT.defaults();
        let series = open(&Root::live(), &params).unwrap();
        let settings: Vec<usize> = series.arms.iter().map(|arm| arm.settings.len()).collect();
        assert_eq!((settings, series.runs), (vec![0, 0, 1], 7));
        params.set(&EXPERIMENT.table(), "work", vec!["11s".to_owned()]).unwrap();
        assert!(open(&Root::live(), &params).err().unwrap().to_string().contains("1 ms to 10 s"));
    }
}
