use super::*;
use ramline_evidence::pages::{AlgorithmPages, ClusterRead, Lengths, ProfileHost, Sampling};
use ramline_evidence::{LatencyStats, Measurement};
use ramline_units::Nanos;

fn algorithm(name: &str, length: u64, ns: f64) -> AlgorithmPages {
    let mut lengths = Lengths::new(4096);
    (0..75).for_each(|_| lengths.add(length));
    (0..5).for_each(|_| lengths.add(4096));
    let batches = |value: f64| {
        Measurement::from_values(&[0.98, 0.99, 0.995, 1.0, 1.0, 1.005, 1.01, 1.02].map(|f| f * value), "", "", &[])
            .unwrap()
    };
    let whole = format!("{ns:.0}").parse().unwrap();
    let latency = LatencyStats::from_durations(&[Nanos(whole); 100]).unwrap();
    let reads = [1, 2, 4, 8].map(|pages: u32| ClusterRead {
        pages,
        readers: 1,
        latency,
        mean: batches(ns * f64::from(pages)),
        rate: batches(4096e9 / ns),
        per_second: batches(1e9 / ns / f64::from(pages)),
    });
    AlgorithmPages {
        algorithm: name.into(),
        by: By::Library,
        code: format!("{name} 1.0"),
        lengths,
        compress: Some(latency),
        compress_mean: Some(batches(3.0 * ns)),
        reads: reads.into(),
        swap_in: None,
        pool: None,
        notes: vec![],
    }
}

fn measured() -> MeasuredPages {
    let profile = PageProfile {
        host: ProfileHost { page: 4096, kernel: "6.18".into(), cpu: "a CPU".into(), cpus: 2, ..ProfileHost::default() },
        sampling: Sampling {
            scope: "all processes".into(),
            processes: 3,
            present: 9_900,
            swapped: 100,
            taken: 100,
            taken_swapped: 4,
            taken_cold: 60,
            cold_of: Some((50, 200)),
            same_filled: 20,
            ..Sampling::default()
        },
        algorithms: vec![algorithm("lz4", 1300, 1000.0), algorithm("zstd:3", 900, 6000.0)],
        ..PageProfile::default()
    };
    MeasuredPages::new(profile, None, vec![])
}

#[test]
fn the_screen_begins_with_the_winner_and_says_what_was_sampled() {
    let text = measured().screen(false, &Style::default());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "lz4 is best overall for these pages: 3.33:1 in RAM, 1.0 us to read one back.", "{text}");
    assert!(
        text.replace('\n', " ").contains(
            "Sample: 100 pages of all processes (3 processes), 1.0 % of their anonymous pages; 4 in swap, 60 inactive"
        ),
        "{text}"
    );
    assert!(text.contains("20.0 %"), "{text}");
    assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= 100), "{text}");
}

#[test]
fn what_cannot_be_told_apart_has_not_won() {
    let mut profile = measured().profile;
    profile.algorithms = vec![algorithm("zstd:1", 900, 6000.0), algorithm("zstd:3", 890, 6010.0)];
    let text = MeasuredPages::new(profile, None, vec![]).text(&Style::default());
    assert!(text.starts_with("No clear winner overall: zstd:1 and zstd:3 cannot be told apart."), "{text}");
}

#[test]
fn the_csv_has_a_line_for_each_algorithm_and_cluster_size_with_every_column() {
    let csv = csv(&measured());
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [24; 9], "{csv}");
    assert!(csv.lines().nth(4).unwrap().contains(",32768,1,"), "{csv}");
}
