//! What one reading tells of waiting in a group, for the processor and for the disk.

use super::*;

/// With averages of the last 10 s: of memory some, of the processor some, of I/O full.
fn averaged(memory: f64, cpu: f64, io: f64) -> Snapshot {
    let mut s = seen(1, IDLE, Some((0, 0)), PLENTY);
    let psi = |some: f64, full: f64| {
        let text = format!("some avg10={some} avg60=0 avg300=0 total=0\nfull avg10={full} avg60=0 avg300=0 total=0\n");
        Seen::new(Pressure::parse("p", &text).unwrap())
    };
    (s.pressure_memory, s.pressure_cpu, s.pressure_io) = (psi(memory, 0.0), psi(cpu, 0.0), psi(io, io));
    s
}

#[test]
fn a_machine_that_waits_for_its_processor_or_disk_is_told_so_and_is_no_alarm() {
    let line = |cpu, io| {
        let verdict = from_snapshot(&averaged(0.0, cpu, io), None).unwrap();
        assert_eq!((verdict.status, verdict.state), (Status::Ok, VerdictState::Comfortable));
        verdict.text
    };
    let fine = "Memory is fine: 6.0 of 8.0 GiB available";
    assert_eq!(line(98.4, 3.0), format!("{fine}; tasks wait for the processor 98 % of the time."));
    assert_eq!(line(60.0, 91.0), format!("{fine}; all tasks wait for the disk 91 % of the time."));
    assert_eq!(line(49.0, 49.0), format!("{fine}, no task waits for memory."), "not more often than not");
    let short = from_snapshot(&averaged(24.9, 98.0, 0.0), None).unwrap();
    assert!(short.text.contains("tasks waited for memory 24.9 %"), "waiting for memory comes first: {}", short.text);
}

#[test]
fn waiting_without_anything_read_again_is_not_called_evicted_pages() {
    let verdict = over(IDLE, (9_330_000, 9_000_000), 6144);
    assert_eq!(
        verdict.text,
        "6.0 of 8.0 GiB available, but tasks wait 93.3 % of the time; nothing is evicted or read again."
    );
    assert_eq!(verdict.status, Status::Note);
}

#[test]
fn a_group_that_waits_most_of_what_the_machine_waits_is_named_from_one_reading() {
    let of_group = |waits: f64, stands: f64, cause, snapshot: &Snapshot| {
        let named = Trouble { cause, waits: Some(waits), stands: Some(stands), ..trouble("/system.slice/web.service") };
        let room = Room {
            available: Bytes::from_gib(6),
            arc: Bytes::ZERO,
            from: AvailableFrom::Kernel,
            swap: None,
            all_swap: None,
        };
        judge(
            &Ledger::from_snapshot(snapshot).unwrap(),
            &pressure::from_snapshot(snapshot, None),
            None,
            None,
            room,
            Some(named),
        )
    };
    let frozen = of_group(88.0, 87.0, groups::Cause::NothingToReclaim, &averaged(89.0, 0.0, 0.0));
    assert_eq!(
        frozen.text,
        "Machine ok. Group web.service is frozen at its limit: all its tasks wait 87.0 % of the time."
    );
    assert_eq!((frozen.status, frozen.deciding), (Status::Warning, Some(Deciding::Standing(87.0))));
    let calm = of_group(9.0, 0.0, groups::Cause::Dirty, &averaged(0.0, 0.0, 0.0));
    assert_eq!((calm.status, calm.state), (Status::Note, VerdictState::GroupAtLimit));
    assert!(calm.text.ends_with("tasks wait 9.0 % of the time for writes."), "{}", calm.text);
    // Most of the waiting is elsewhere: that has to be looked at again, and the group stands below.
    let other = of_group(2.0, 0.0, groups::Cause::Waits, &averaged(89.0, 0.0, 0.0));
    assert!(other.text.ends_with("89.0 % of the last 10 s."), "{}", other.text);
    assert!(other.details.iter().any(|detail| detail.contains("/system.slice/web.service")), "{:?}", other.details);
    let quiet = of_group(0.5, 0.0, groups::Cause::Waits, &averaged(0.0, 0.0, 0.0));
    assert_eq!((quiet.status, quiet.state), (Status::Ok, VerdictState::Comfortable));
}
