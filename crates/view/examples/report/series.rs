//! A series of the lab that fills every part of its page: three arms, one of them hostile by name, looked at every 100 ms.

use ramline_evidence::{Better, Figure, Phase, RunRecord, Sample, SeriesTable};
use ramline_units::{Bytes, Nanos};
use ramline_view::html::{Reading, SeriesPage, series};

/// The picture of a run that fills its limit and then swaps, or reads files again.
fn samples(swaps: bool, pool: bool, seconds: u32) -> Vec<Sample> {
    let mib = Bytes::from_mib;
    let limit = mib(480);
    (0..seconds * 10)
        .map(|index| {
            let step = u64::from(index);
            let swap = if swaps { mib(step.min(25) * 4) } else { Bytes::ZERO };
            let usage = mib((step * 60).min(470));
            let anon = mib((step * 55).min(440)).saturating_sub(swap);
            let pooled = pool.then_some(Bytes(swap.0 / 3));
            Sample {
                at: Nanos(step * 100_000_000),
                phase: if step < 8 { Phase::Fill } else { Phase::Rounds },
                rounds: index / 10,
                fraction: f64::from(index % 10) / 10.0,
                usage,
                limit: limit.saturating_sub(pooled.unwrap_or_default()),
                anon,
                file: usage.saturating_sub(anon),
                shmem: mib(step.min(20)),
                swap,
                pool: pooled,
                refault_file: Some(if swaps { step * 40 } else { step * step * 90 }),
                refault_anon: Some(if swaps { step * 700 } else { 0 }),
                psi_full_us: Some(step * if swaps { 2_000 } else { 30_000 }),
                ..Sample::default()
            }
        })
        .collect()
}

fn records() -> Vec<RunRecord> {
    let mut all = super::lab::runs();
    for (order, run) in (0u32..).zip(&mut all) {
        let slow = run.arm.name == "no swap";
        let pool = run.arm.name.starts_with("zram");
        let factor = if slow { 70.0 } else { 1.0 };
        run.order = order;
        run.started_unix_ms = 1_795_315_464_140 + u64::from(order) * 31_000;
        run.sandbox = "cgroup-v2".into();
        run.samples = samples(!slow, pool, if slow { 20 } else { 5 });
        run.figures = vec![
            Figure::new("time per round", run.seconds_per_round().unwrap_or(0.0), "s", Better::Lower),
            Figure::new("rounds", run.rounds_done(), "rounds", Better::Higher),
            Figure::new("file refaults", factor * f64::from(9000 + order * 37), "pages", Better::Lower),
            Figure::new("anonymous refaults", 0.0, "pages", Better::Lower),
            Figure::new("read from disks", factor * f64::from(order + 40) * 1e6, "bytes", Better::Lower),
            Figure::new("free gained", f64::from(order) * 1000.0 - 5000.0, "pages", Better::Neither),
        ];
        let verified = [("swappiness", "60"), ("memory.max", "503316480")];
        run.verified = verified.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        run.verified.insert("code cached at the end".into(), format!("{}.5 MiB", 60 + order));
        run.parameters =
            [("unit".to_owned(), vec!["32MiB".to_owned()]), ("arms".to_owned(), vec!["no-swap".to_owned(); 2])].into();
        run.notes.push("the machine was not quiet before the run: the CPUs are 31 % busy".into());
    }
    all
}

/// The page.
pub fn page() -> Option<String> {
    let records = records();
    let table = SeriesTable::from_records(&records)?;
    let reading = [
        Reading {
            shown: "`no-swap`: file refaults in the millions".into(),
            sentence: "Every page thrown out was one that was **needed**.".into(),
        },
        Reading { shown: "<script>document.title = 'pwned'</script>".into(), sentence: "A name is text.".into() },
    ];
    let doubts = ["the runs were made on different kernels".to_owned()];
    Some(series(&SeriesPage {
        table: &table,
        records: &records,
        question: "What happens when programs and data together do not fit into memory, with swap and without?",
        how: "A file of 3 units stands for program code, anonymous memory of 14 units for data, in a memory cgroup limited to 15.",
        docs: "docs/experiments/code-plus-data.md",
        lead: &["time per round", "rounds", "file refaults"],
        reading: &reading,
        doubts: &doubts,
        two: false,
        sheet: &ramline_view::screen::series_sheet(&table, &["time per round", "rounds", "file refaults"]),
        ramline: "0.1.0",
    }))
}
