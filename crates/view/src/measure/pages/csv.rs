//! `measure pages --csv`: one line for each algorithm and cluster size, plain numbers in base units.

use ramline_evidence::pages::By;

use super::MeasuredPages;

const HEAD: &str = "by,algorithm,code,pages_sampled,same_filled_share,ratio_by_compression,ratio_in_ram,ratio_low,ratio_high,incompressible_share,\
pool_predicted_bytes,pool_measured_bytes,compress_mean_ns,compress_p99_ns,block_bytes,readers,n,mean_ns,mean_low_ns,mean_high_ns,p50_ns,p99_ns,\
throughput_bytes_per_s,reads_per_s\n";

/// The table.
#[must_use]
pub fn csv(of: &MeasuredPages) -> String {
    let mut out = HEAD.to_owned();
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for (one, row) in of.profile.algorithms.iter().zip(&of.judged.rows) {
        let interval = row.in_ram.and_then(|ratio| ratio.interval);
        let first = [
            (if one.by == By::Kernel { "kernel" } else { "library" }).to_owned(),
            one.algorithm.clone(),
            one.code.clone(),
            of.profile.sampling.taken.to_string(),
            number(of.judged.same_filled),
            number(row.by_compression),
            number(row.in_ram.map(|ratio| ratio.value)),
            number(interval.map(|of| of.low)),
            number(interval.map(|of| of.high)),
            number(row.incompressible),
            row.pool.used.0.to_string(),
            row.measured.map(|bytes| bytes.0.to_string()).unwrap_or_default(),
            number(one.compress_mean.as_ref().map(|mean| mean.median)),
            one.compress.map(|of| of.p99_ns.0.to_string()).unwrap_or_default(),
        ];
        for read in &one.reads {
            let mean = read.mean.interval().0;
            let of = [
                read.block(of.profile.host.page).0.to_string(),
                read.readers.to_string(),
                read.latency.n.to_string(),
                read.mean.median.to_string(),
                mean.low.to_string(),
                mean.high.to_string(),
                read.latency.p50_ns.0.to_string(),
                read.latency.p99_ns.0.to_string(),
                read.rate.median.to_string(),
                read.per_second.median.to_string(),
            ];
            out.push_str(&[first.join(","), of.join(",")].join(","));
            out.push('\n');
        }
    }
    out
}
