use ramline_advice::planning::{Ask, plan};
use ramline_plan::{Decision, Goal, Plan, PlanLine, Topic};
use ramline_snapshot::setup::SetUp;

use super::{is_refused, planned, steps, systemd, why};
use crate::cases::{Case, with_zram, without_swap};

/// zram0 with these files of sysfs besides.
fn zram(backing: Option<&str>, second: Option<&str>) -> Case {
    let mut case = with_zram();
    for device in case.now.zram.data_mut().map(|zram| &mut zram.devices).into_iter().flatten() {
        device.backing_dev = backing.map(str::to_owned);
        device.recompression = second.map(str::to_owned);
    }
    case
}

fn asked(case: &Case, set_up: &SetUp, program: Option<Result<String, String>>, topics: &[Topic]) -> Plan {
    let ask = Ask { topics: topics.to_vec(), program, goal: Goal::Balanced, ..Ask::default() };
    case.inputs(|inputs| plan(inputs, set_up, &ask))
}

fn line(case: &Case, set_up: &SetUp, program: Option<Result<String, String>>) -> PlanLine {
    asked(case, set_up, program, &[Topic::Maintain]).lines[0].clone()
}

fn installed() -> Option<Result<String, String>> {
    Some(Ok("/usr/local/bin/ramline".to_owned()))
}

#[test]
fn a_timer_is_planned_where_a_backing_device_or_a_second_algorithm_waits_to_be_used() {
    for case in [zram(Some("/dev/vdb"), None), zram(Some("none"), Some("#1: lzo [zstd]"))] {
        let line = line(&case, &systemd(), installed());
        assert_eq!(line.decision, Decision::Change, "{line:?}");
        let done = steps(&line);
        assert!(done.contains(&"create /etc/systemd/system/ramline-maintain.timer".into()), "{done:?}");
        assert_eq!(done.last().unwrap(), "start ramline-maintain.timer");
    }
}

#[test]
fn where_there_is_nothing_to_maintain_it_is_said_when_asked_and_no_line_otherwise() {
    let of = |case: &Case| why(&line(case, &systemd(), installed()));
    assert_eq!(of(&without_swap()), "no zram device is used as swap");
    assert_eq!(of(&zram(None, None)), "this kernel's zram has neither writeback nor recompression");
    assert_eq!(of(&zram(Some("none"), Some(""))), "zram0 has no backing device and no second algorithm");
    let all = planned(&zram(None, None), &systemd(), &[], Goal::Balanced);
    assert!(all.lines.iter().all(|line| line.target != "zram maintenance"), "{all:?}");
}

#[test]
fn no_unit_is_made_that_would_not_run() {
    let case = zram(Some("/dev/vdb"), None);
    let build_tree = Some(Err("ramline runs from /tmp/ramline".to_owned()));
    assert!(is_refused(&line(&case, &systemd(), build_tree), "runs from /tmp"));
    assert!(is_refused(&line(&case, &SetUp { systemd: false, ..systemd() }, installed()), "let cron run"));
    assert!(is_refused(&line(&case, &systemd(), None), "not known from here"));
}
