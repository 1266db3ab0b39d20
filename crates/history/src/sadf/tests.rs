use super::*;

/// Two moments of ten minutes each, with a restart between where it is asked for.
fn document(restart: &str) -> String {
    let moment = |time: &str, faults: u64| {
        format!(
            r#"{{"timestamp": {{"date": "2026-11-30", "time": "{time}", "utc": 1, "interval": 600}},
                "cpu-load": [{{"cpu": "all", "user": 10.0, "nice": 0.0, "system": 5.0, "iowait": 20.0, "steal": 0.0, "idle": 65.0}}],
                "paging": {{"pgpgin": 2.5, "fault": {faults}, "pgscank": 1.0, "pgsteal": 1.0}},
                "memory": {{"memfree": 500, "avail": 700, "memused": 300, "memused-percent": 30.0, "buffers": 50, "cached": 100, "slab": 50, "swpfree": 10, "swpused": 2}},
                "psi": {{"psi-mem": {{"some_avg10": 1.5, "some_avg60": 1.0, "some_avg300": 0.5, "some_avg": 2.0}}}}}}"#
        )
    };
    format!(
        r#"{{"sysstat": {{"hosts": [{{"nodename": "db", "release": "6.1.0", "machine": "x86_64", "number-of-cpus": 2,
            "statistics": [{}, {}], "restarts": [{restart}]}}]}}}}"#,
        moment("00:10:00", 3),
        moment("00:20:00", 4)
    )
}

fn one_of(json: &str) -> Result<SadfHost, NotTaken> {
    host([("f", json)].into_iter()).map(Option::unwrap_or_default)
}

#[test]
fn rates_become_counters_and_sizes_what_meminfo_says() {
    let host = one_of(&document("")).unwrap();
    assert_eq!((host.name.as_str(), host.interval_ms, host.moments.len()), ("db", 600_000, 3));
    let [base, first, second] = host.moments.as_slice() else { panic!("three") };
    assert_eq!(base.at.wall_ms + 1_200_000, second.at.wall_ms);
    assert!(base.snapshot.meminfo.data().is_none(), "sizes of that moment are not known");
    let meminfo = first.snapshot.meminfo.data().unwrap();
    assert_eq!(meminfo.mem_total.map(|b| b.0), Some(1000 << 10));
    assert_eq!(
        (meminfo.mem_available.map(|b| b.0), meminfo.swap_total.map(|b| b.0)),
        (Some(700 << 10), Some(12 << 10))
    );
    let faults = |moment: &SadfMoment| moment.snapshot.vmstat.data().unwrap().get("pgfault");
    assert_eq!([faults(base), faults(first), faults(second)], [Some(0), Some(1800), Some(4200)]);
    let stalled = second.snapshot.pressure_memory.data().unwrap().some.unwrap();
    assert_eq!((stalled.avg10, stalled.total_us), (1.5, 24_000_000));
    assert_eq!(second.processors, [24_000, 0, 12_000, 156_000, 48_000, 0, 0, 0]);
}

#[test]
fn a_restart_is_another_boot_with_counters_of_its_own() {
    let restart = r#"{"boot": {"date": "2026-11-30", "time": "00:15:00", "utc": 1}}"#;
    let host = one_of(&document(restart)).unwrap();
    let [_, first, second] = host.moments.as_slice() else { panic!("three") };
    assert_ne!(first.snapshot.machine.boot_id, second.snapshot.machine.boot_id);
    assert_eq!(second.snapshot.vmstat.data().unwrap().get("pgfault"), Some(2400));
}

#[test]
fn what_is_no_output_of_sadf_or_has_local_times_is_refused() {
    assert!(one_of("[]").unwrap_err().why.starts_with("not of sadf -j"));
    let local = document("").replace(r#""utc": 1"#, r#""utc": 0"#);
    assert!(one_of(&local).unwrap_err().why.contains("not UTC"));
    let other = document("").replace("\"db\"", "\"web\"");
    let two = host([("f", document("").as_str()), ("g", &other)].into_iter()).unwrap_err();
    assert_eq!((two.path.as_str(), two.why.as_str()), ("g", "of web, not of db"));
    // Neither sum gives the percentage: RAM is not known.
    let odd = document("").replace("30.0, \"buffers\"", "31.0, \"buffers\"");
    assert_eq!(one_of(&odd).unwrap().moments[1].snapshot.meminfo.data().and_then(|m| m.mem_total), None);
}
