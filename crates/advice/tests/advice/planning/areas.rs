use ramline_plan::{Decision, Goal, PlanLine, Topic};
use ramline_snapshot::Seen;
use ramline_snapshot::configured::Setting;

use super::{is_refused, line, planned, steps, systemd, why};
use crate::cases::{Case, without_swap};

const FILE: &str = "swap on disk";

fn capacity(case: &Case, fstab: Option<&str>) -> PlanLine {
    let mut set_up = systemd();
    set_up.fstab = fstab.map(str::to_owned);
    planned(case, &set_up, &[Topic::Swap], Goal::Capacity).lines[0].clone()
}

#[test]
fn a_swap_file_is_planned_where_it_is_asked_for_and_the_disk_has_room() {
    assert_eq!(line(&without_swap(), &systemd(), Topic::Swap, FILE).decision, Decision::Keep);
    let made = capacity(&without_swap(), Some("/dev/vda / ext4 defaults 0 1\n"));
    assert_eq!(made.decision, Decision::Change, "{made:?}");
    let done = steps(&made);
    assert!(done[1].starts_with("create swap file /swapfile of "), "{done:?}");
    assert_eq!((done[2].as_str(), done[4].as_str()), ("replace /etc/fstab", "swapon /swapfile at priority 10"));
    let ramline_plan::Step::EditFile { after: Some(after), .. } = &made.steps[2] else { panic!("{made:?}") };
    assert_eq!(after, "/dev/vda / ext4 defaults 0 1\n/swapfile none swap sw,pri=10 0 0\n");
}

#[test]
fn a_copy_on_write_disk_or_an_odd_fstab_blocks_it() {
    let mut case = without_swap();
    let Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    data.iter_mut().filter(|mount| mount.at == "/").for_each(|mount| mount.fs = "btrfs".into());
    assert!(is_refused(&capacity(&case, None), "btrfs"));
    assert!(is_refused(
        &capacity(&without_swap(), Some("what is this\nno entry\n")),
        "/etc/fstab is left alone: line 2"
    ));
}

#[test]
fn what_the_machine_hibernates_to_is_kept_and_said() {
    let case = without_swap().swaps("/dev/vda2 partition 8388604 1024 -2\n");
    let mut set_up = systemd();
    set_up.fstab = Some("/dev/vda2 none swap sw 0 0\n/gone none swap sw 0 0\n".into());
    set_up.resume =
        Some(Setting { key: "resume".into(), value: "/dev/vda2".into(), file: "/proc/cmdline".into(), line: 1 });
    let kept = line(&case, &set_up, Topic::Swap, "/dev/vda2");
    assert_eq!((&kept.decision, kept.set_by.as_slice()), (&Decision::Keep, ["/etc/fstab:1".to_owned()].as_slice()));
    assert!(why(&kept).contains("/dev/vda2 is what a hibernated system is resumed from"), "{}", why(&kept));
    let gone = line(&case, &set_up, Topic::Swap, "/gone");
    assert_eq!(gone.decision, Decision::NotKnown("sudo swapon /gone".into()));
}
