//! What the screens say where something is missing: swap, a section, a group's room, enough data for a ratio.

use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::{Seen, Snapshot, Window, dirs::DirUse};
use ramline_units::Bytes;
use ramline_view::text::Style;
use ramline_view::{Screen, ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram};

use super::machine;

/// The machine with no swap area, and `psi` of the CPU.
fn without_swap() -> Snapshot {
    let mut seen = machine(100);
    seen.swaps = Seen::new(Vec::new());
    let psi = "some avg10=1.00 avg60=1.00 avg300=1.00 total=5000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    seen.pressure_cpu = Seen::new(Pressure::parse("cpu", psi).unwrap());
    seen
}

#[test]
fn without_swap_swappiness_has_no_effect_and_nothing_reaches_a_swap_area() {
    let seen = without_swap();
    let words =
        "vm.swappiness is 60 (setting, 0 to 200) and has no effect: without swap only file pages are reclaimed.";
    for text in [ShowTiers::new(&seen, None).text(&WIDE), ShowSwap::new(&seen, None).text(&WIDE)] {
        assert!(
            text.contains(words) && !text.contains("at equal costs") && !text.contains("A swap-in reads"),
            "{text}"
        );
    }
    for text in [ShowTiers::new(&machine(1), None).text(&WIDE), ShowSwap::new(&machine(1), None).text(&WIDE)] {
        assert!(text.contains("at equal costs") && !text.contains("no effect"), "{text}");
    }
    let mut walked = seen;
    walked.dirs = Seen::new(vec![DirUse { path: "/tmp".into(), on_tmpfs: Bytes(4096), ..DirUse::default() }]);
    let text = ShowTmpfs::new(&walked).text(&WIDE);
    assert!(text.contains("does not survive a reboot.") && !text.contains("unencrypted"), "{text}");
}

const WIDE: Style = Style { colour: false, width: 300 };

#[test]
fn kills_since_boot_are_said_where_there_were_any() {
    let killed = |n| {
        let mut seen = machine(1);
        let vmstat = Vmstat { oom_kill: n, ..seen.vmstat.data().cloned().unwrap_or_default() };
        seen.vmstat = Seen::new(vmstat);
        let shown = ShowPressure::new(&seen, None);
        (shown.pressure.as_ref().unwrap().kills_since_boot, shown.text(&WIDE))
    };
    let (number, text) = killed(Some(3));
    assert_eq!(number, Some(3));
    assert!(
        text.contains(
            "The kernel killed 3 processes for want of memory since boot. Which, and why: ramline explain kill"
        )
    );
    assert!(killed(Some(1)).1.contains("killed 1 process for"));
    for none in [Some(0), None] {
        let (number, text) = killed(none);
        assert_eq!(number, none);
        assert!(!text.contains("since boot. Which"), "{text}");
    }
}

#[test]
fn all_tasks_waiting_for_the_cpu_is_not_defined_and_psi_that_was_not_seen_is_not_off() {
    let text = ShowPressure::new(&without_swap(), None).text(&WIDE);
    assert!(!text.lines().any(|l| l.starts_with("cpu") && l.contains("all tasks")), "{text}");
    assert!(text.lines().any(|l| l.starts_with("cpu") && l.contains("some task") && l.contains("1.00 %")), "{text}");
    let none = |gone: Seen<Pressure>| {
        let mut seen = machine(1);
        seen.pressure_memory = gone;
        ShowPressure::new(&seen, None).text(&WIDE)
    };
    let path = || "/proc/pressure/memory".to_owned();
    assert!(none(Seen::Absent { path: path() }).contains("PSI is off or not built here: add psi=1"));
    let denied = none(Seen::Denied { path: path() });
    assert!(denied.contains("were not seen (/proc/pressure/memory: permission denied)"), "{denied}");
    assert!(!denied.contains("PSI is off"), "{denied}");
}

#[test]
fn a_group_at_its_limit_is_not_a_machine_whose_working_set_does_not_fit() {
    let with = |seconds: u64, refaults: u64, scanned: u64| {
        let mut seen = machine(seconds);
        let vmstat = format!(
            "workingset_refault_file {refaults}\nworkingset_refault_anon 0\npgscan_kswapd {scanned}\npgscan_direct 0\n"
        );
        seen.vmstat = Seen::new(Vmstat::parse("vmstat", &vmstat).unwrap());
        seen
    };
    let (before, group, whole) = (with(100, 0, 7), with(102, 4000, 7), with(102, 4000, 8));
    let text = |after: &Snapshot| ShowPressure::new(after, Some(&Window::new(&before, after).unwrap())).text(&WIDE);
    // Nothing waits in either: pages that come back are no shortage by themselves.
    for after in [&group, &whole] {
        assert!(!text(after).contains("does not fit"), "{}", text(after));
    }
}

#[test]
fn a_zram_device_with_next_to_nothing_in_it_shows_no_ratio() {
    let with = |mib: u64| {
        let mut seen = machine(1);
        let Seen::Seen { data, .. } = &mut seen.zram else { panic!() };
        let mm = data.devices[0].mm.as_mut().unwrap();
        (mm.orig_data_size, mm.same_pages) = (Bytes::from_mib(mib), ramline_units::Pages(0));
        // A full device whose pool would not fit in RAM has no capacity to tell.
        mm.mem_used_total = Bytes::from_mib(8);
        ShowZram::new(&seen).text(&WIDE)
    };
    let little = with(15);
    assert!(little.contains("too little stored to tell (15.0 MiB in RAM, 16.0 MiB would do)"), "{little}");
    for told in ["true ratio", "effective ratio", "RAM when full", "Capacity when full"] {
        assert!(!little.contains(told) && with(16).contains(told), "{told}");
    }
}

#[test]
fn a_group_near_its_limit_is_told_its_own_room_first() {
    use ramline_snapshot::cgroup::{Cgroups, Group, Version};
    use ramline_units::Limit;
    let mut seen = machine(100);
    let mib = Bytes::from_mib;
    let stat = [("inactive_file".to_owned(), 1 << 20)].into();
    let own = Group { current: Some(mib(63)), max: Some(Limit::At(mib(64))), stat, ..Group::default() };
    let effective_max = Limit::At(mib(64));
    let root = Group::default();
    seen.cgroups = Seen::new(Cgroups { version: Version::V2, root, own: Some(own), effective_max, unseen: vec![] });
    let text = ShowMemory::new(&seen, None).text(&WIDE);
    assert!(
        text.starts_with(
            "Memory is fine: 2.0 of 64.0 MiB available to this group, no task waits noticeably (0.5 %).\n\
             This group: it uses 63.0 MiB of its limit of 64.0 MiB; the machine has "
        ),
        "{text}"
    );
    seen.dirs = Seen::new(vec![DirUse { path: "/tmp".into(), on_tmpfs: mib(3), ..DirUse::default() }]);
    let fit = &ShowTmpfs::new(&seen).would_fit[0];
    assert!(!fit.fits, "three do not fit into two");
}
