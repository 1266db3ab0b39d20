//! The tables of `measure pages`.

use ramline_evidence::pages::{AlgorithmPages, By, PageProfile};
use ramline_evidence::{Interval, LatencyStats, RAM, TierReport, is_disk, is_swap_area};
use ramline_model::pages::{Contest, Owner, PageVerdict, Ranged, Winner};
use ramline_sheet::text::{Column, Table, number};

/// Owners shown.
const MOST: usize = 12;

/// A ratio with the digits that matter.
pub fn ratio(value: f64) -> String {
    number::figure(value)
}

fn between(interval: Option<Interval>) -> String {
    interval.map(|of| format!("{} to {}", ratio(of.low), ratio(of.high))).unwrap_or_default()
}

fn ranged(of: Option<Ranged>) -> [String; 2] {
    [of.map(|of| ratio(of.value)).unwrap_or_else(|| "none".to_owned()), between(of.and_then(|of| of.interval))]
}

fn name(one: &AlgorithmPages) -> String {
    match one.by {
        By::Library => one.algorithm.clone(),
        By::Kernel => format!("{}, by the kernel", one.algorithm),
    }
}

fn p99(latency: Option<&LatencyStats>) -> String {
    latency.map(|latency| latency.p99_ns.to_string()).unwrap_or_default()
}

/// What each algorithm makes of the sample, and what a page costs.
pub fn algorithms(profile: &PageProfile, judged: &PageVerdict) -> Table {
    let columns = vec![
        Column::wrapped("algorithm"),
        Column::right("ratio"),
        Column::right("in RAM"),
        Column::left("(95 %)").spare(),
        Column::right("huge"),
        Column::right("compress"),
        Column::right("99 %").spare(),
        Column::right("read back"),
        Column::right("99 %"),
    ];
    let mut table = Table::new(columns);
    for (one, row) in profile.algorithms.iter().zip(&judged.rows) {
        let [in_ram, interval] = ranged(row.in_ram);
        let single = one.single();
        table.row([
            name(one).into(),
            row.by_compression.map(ratio).unwrap_or_default().into(),
            in_ram.into(),
            interval.into(),
            row.incompressible.map(number::percent).unwrap_or_default().into(),
            one.compress_mean.as_ref().map(|mean| number::nanos(mean.median).to_string()).unwrap_or_default().into(),
            p99(one.compress.as_ref()).into(),
            single.map(|read| number::nanos(read.mean.median).to_string()).unwrap_or_default().into(),
            p99(single.map(|read| &read.latency)).into(),
        ]);
    }
    table
}

/// The pool of the sample: predicted, and of a scratch device; and real swap-ins from it. `None` where there was none.
pub fn pools(profile: &PageProfile, judged: &PageVerdict) -> Option<Table> {
    let mut table = Table::new(vec![
        Column::wrapped("algorithm"),
        Column::right("pool predicted"),
        Column::right("measured"),
        Column::right("off"),
        Column::right("huge pages").spare(),
        Column::right("measured").spare(),
        Column::right("swap-in"),
        Column::right("99 %"),
    ]);
    let all = profile.algorithms.iter().zip(&judged.rows);
    for (one, row, measured) in all.filter_map(|(one, row)| Some((one, row, one.pool?))) {
        table.row([
            name(one).into(),
            row.pool.used.to_string().into(),
            measured.mem_used.to_string().into(),
            row.off.map(number::percent).unwrap_or_default().into(),
            number::count(row.pool.huge).into(),
            measured.huge_pages.map(number::count).unwrap_or_default().into(),
            one.swap_in
                .map(|of| number::nanos(of.mean_ns).to_string())
                .unwrap_or_else(|| "not measured".to_owned())
                .into(),
            p99(one.swap_in.as_ref()).into(),
        ]);
    }
    (!table.is_empty()).then_some(table)
}

/// Every algorithm at every cluster size.
pub fn clusters(profile: &PageProfile) -> Table {
    let mut table = Table::new(vec![
        Column::wrapped("algorithm"),
        Column::right("block"),
        Column::right("mean"),
        Column::left("(95 %)").spare(),
        Column::right("99 %"),
        Column::right("throughput"),
        Column::right("reads/s"),
        Column::right("n").spare(),
    ]);
    for one in &profile.algorithms {
        for read in &one.reads {
            let of = read.mean.interval().0;
            table.row([
                name(one).into(),
                read.block(profile.host.page).to_string().into(),
                number::nanos(read.mean.median).to_string().into(),
                format!("{} to {}", number::nanos(of.low), number::nanos(of.high)).into(),
                p99(Some(&read.latency)).into(),
                number::per_second(number::bytes(read.rate.median)).into(),
                number::figure(read.per_second.median).into(),
                number::count(read.latency.n).into(),
            ]);
        }
    }
    table
}

/// Who leads in what.
pub fn winners(winners: &[Winner]) -> Table {
    let mut table = Table::new(vec![
        Column::left("in"),
        Column::wrapped("leads"),
        Column::right("with"),
        Column::left("(95 %)").spare(),
        Column::wrapped("not apart from"),
    ]);
    for of in winners {
        let (value, interval) = worded(of);
        let by = if of.by == By::Kernel { ", by the kernel" } else { "" };
        let block =
            of.pages.map(|pages| format!(" ({})", number::things(u64::from(pages), "page"))).unwrap_or_default();
        table.row([
            super::contest(of).into(),
            format!("{}{block}{by}", of.algorithm).into(),
            value.into(),
            interval.into(),
            of.level_with.join(", ").into(),
        ]);
    }
    table
}

fn worded(of: &Winner) -> (String, String) {
    let two = |word: &dyn Fn(f64) -> String| format!("{} to {}", word(of.interval.low), word(of.interval.high));
    match of.contest {
        Contest::Throughput => {
            let word = |value: f64| number::per_second(number::bytes(value));
            (word(of.value), two(&word))
        }
        Contest::Latency => {
            let word = |value: f64| number::nanos(value).to_string();
            (word(of.value), two(&word))
        }
        Contest::Iops => (format!("{} /s", number::figure(of.value)), two(&number::figure)),
        Contest::Ratio => (format!("{}:1", ratio(of.value)), two(&ratio)),
        Contest::Overall => (number::figure(of.value), two(&number::figure)),
    }
}

/// What dictionaries gain.
pub fn dictionaries(judged: &PageVerdict) -> Table {
    let mut table = Table::new(vec![
        Column::wrapped("algorithm"),
        Column::right("dictionary"),
        Column::right("pages"),
        Column::right("bytes a page"),
        Column::right("with it"),
        Column::right("RAM saved"),
    ]);
    for of in &judged.dictionaries {
        table.row([
            of.algorithm.as_str().into(),
            of.dictionary.to_string().into(),
            number::count(of.pages).into(),
            number::figure(of.without).into(),
            number::figure(of.with).into(),
            of.gain.map(number::percent).unwrap_or_default().into(),
        ]);
    }
    table
}

/// Processes or groups, those with most pages.
pub fn owners(owners: &[Owner]) -> Table {
    let algorithms: Vec<&String> =
        owners.first().into_iter().flat_map(|owner| owner.ratios.iter().map(|(name, _)| name)).collect();
    let group = owners.first().is_some_and(|owner| owner.pid.is_none());
    let first = if group { Column::path("control group") } else { Column::wrapped("process") };
    let name = |owner: &Owner| owner.pid.map_or_else(|| owner.name.clone(), |pid| format!("{} ({pid})", owner.name));
    let mut table = Table::from_rows(owners.iter().take(MOST))
        .column(first, |owner| crate::escape(&name(owner)).into_owned())
        .right("anonymous", |owner| owner.pages)
        .right("sampled", |owner| number::count(owner.sampled))
        .right("one word", |owner| owner.same_filled.map(number::percent));
    for algorithm in &algorithms {
        let of = |owner: &Owner| owner.ratios.iter().find(|(name, _)| name == *algorithm).and_then(|(_, of)| *of);
        table = table.right(algorithm, |owner| of(owner).map(|of| ratio(of.value)));
    }
    table.drawn()
}

/// RAM and the disks, as they were last measured.
pub fn beside(report: &TierReport) -> Table {
    let mut table = Table::new(vec![
        Column::wrapped("tier"),
        Column::right("mean of 4 KiB"),
        Column::right("99 %"),
        Column::right("in sequence"),
    ]);
    let is_asked = |id: &str| id == RAM || is_disk(id) || is_swap_area(id);
    for tier in report.tiers.iter().filter(|tier| is_asked(&tier.tier)) {
        table.row([
            tier.label.as_str().into(),
            tier.latency.map(|of| number::nanos(of.mean_ns).to_string()).unwrap_or_default().into(),
            p99(tier.latency.as_ref()).into(),
            tier.throughput.as_ref().map(|of| number::per_second(number::bytes(of.median))).unwrap_or_default().into(),
        ]);
    }
    table
}
