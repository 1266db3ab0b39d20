use ramline_advice::planning::{Ask, plan};
use ramline_advice::{NotPlanned, RULES, Tune, findings_on, planned_finding};
use ramline_plan::{Decision, Goal, Plan, Topic};
use ramline_snapshot::Seen;
use ramline_snapshot::killers::{Killers, Oomd};
use ramline_snapshot::setup::{Etc, SetUp};

use super::{is_refused, systemd, why};
use crate::cases::{Case, fires, with_zram, without_swap};

fn planned(case: &Case, set_up: &SetUp, id: &str) -> Plan {
    let ask = Ask { findings: vec![id.to_owned()], ..Ask::default() };
    case.inputs(|inputs| plan(inputs, set_up, &ask))
}

#[test]
fn each_finding_is_planned_by_its_name_or_says_why_not() {
    for rule in RULES {
        let case = fires(rule.id);
        let found = case.finding(rule.id).unwrap();
        match rule.tune {
            Tune::No(why) => {
                assert!(!why.is_empty() && found.tune.is_none(), "{}", rule.id);
                let told = planned_finding(rule.id).unwrap_err().to_string();
                assert!(told.contains(why) && told.contains("(ramline explain "), "{told}");
            }
            Tune::Settings(_) | Tune::Lines(_) => {
                let command = format!("sudo ramline tune apply {}", rule.id);
                let plan = planned(&case, &systemd(), rule.id);
                let tried = |decision: &Decision| matches!(decision, Decision::Change | Decision::Refused(_));
                // What is found of earlyoom is refused with the line to write: its file is no file of systemd's kind.
                if rule.id != "killer-cannot-trigger" {
                    assert_eq!(found.tune.as_deref(), Some(command.as_str()));
                    assert_eq!(found.change.as_ref().unwrap().commands, [command]);
                }
                assert!(plan.lines.iter().any(|line| tried(&line.decision)), "{}: {plan:#?}", rule.id);
            }
        }
    }
}

#[test]
fn the_line_of_a_finding_is_why_the_finding_is_and_goes_to_its_value() {
    let id = "swappiness-against-costs";
    let (case, found) = (fires(id), fires(id).finding(id).unwrap());
    let plan = planned(&case, &systemd(), id);
    let [line] = plan.lines.as_slice() else { panic!("{plan:#?}") };
    assert_eq!((line.old.as_deref(), line.new.as_deref()), (Some("60"), Some("180")));
    assert_eq!((&line.why[0].text, &line.effect, &line.risk), (&found.title, &found.effect, &found.cost_if_wrong));
    assert!(plan.topics.is_empty() && plan.steps().len() == 2, "{plan:#?}");
}

#[test]
fn of_a_topic_only_the_lines_of_the_finding_are_planned() {
    let id = "zram-and-zswap";
    let plan = planned(&fires(id), &systemd(), id);
    let [line] = plan.lines.as_slice() else { panic!("{plan:#?}") };
    assert_eq!((line.target.as_str(), line.new.as_deref()), ("zswap", Some("off")));
    assert_eq!(
        super::steps(line),
        ["create /etc/tmpfiles.d/ramline-zswap.conf", "write /sys/module/zswap/parameters/enabled: Y -> N"]
    );
    assert!(is_refused(&planned(&fires(id), &SetUp::default(), id).lines[0], "zswap.enabled=0"));
}

#[test]
fn what_is_not_found_now_is_kept_and_what_cannot_be_looked_at_names_the_command() {
    let still = planned(&with_zram().window(&[]), &systemd(), "page-cluster-against-hits");
    assert_eq!(still.lines[0].decision, Decision::Keep);
    assert!(why(&still.lines[0]).contains("is not found here now"));
    let blind = planned(&with_zram(), &systemd(), "swappiness-against-costs");
    assert_eq!(blind.lines[0].decision, Decision::NotKnown("ramline measure tiers".into()));
}

#[test]
fn what_stands_in_the_way_is_said_by_the_finding_with_the_command_that_is_left() {
    let id = "swappiness-against-costs";
    let with = |set_up: &SetUp| {
        let found = fires(id).inputs(|inputs| findings_on(inputs, set_up));
        found.into_iter().find(|finding| finding.id == id).unwrap()
    };
    assert_eq!(with(&systemd()).change.unwrap().what, "vm.swappiness: 60 -> 180");
    let read_only = with(&SetUp { etc: Etc::ReadOnly, ..systemd() });
    assert_eq!(read_only.tune.as_deref(), Some("sudo ramline tune apply swappiness-against-costs --runtime-only"));
    assert!(read_only.change.unwrap().what.contains("until the next boot (/etc is read-only"));
    let outranked = fires("swap-outranked").inputs(|inputs| findings_on(inputs, &systemd()));
    let blocked = outranked.into_iter().find(|finding| finding.id == "swap-outranked").unwrap();
    assert!(blocked.change.unwrap().what.contains("until the next boot"), "who makes the device was not found");
}

#[test]
fn a_wrong_name_gets_those_that_are_near() {
    let near = |id: &str| match planned_finding(id) {
        Err(NotPlanned::Unknown(near)) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("swappiness"), ["swappiness-against-costs"]);
    assert_eq!(near("zram-and-zswop"), ["zram-and-zswap"]);
    assert!(near("qqqqqqqq").is_empty());
}

#[test]
fn a_line_that_is_not_planned_leaves_nothing_in_the_files_of_those_that_are() {
    let mut case = super::tmp::in_ram();
    let oomd = Oomd { watched: Some(vec![]), source: "/etc/systemd/oomd.conf".into(), ..Oomd::default() };
    case.now.killers = Seen::new(Killers { earlyoom: None, oomd: Some(oomd) });
    let mut set_up = systemd();
    set_up.fstab = Some("a / ext4\ntmpfs /tmp tmpfs defaults 0 0\n".into());
    let of = |topics: &[Topic]| {
        let findings = vec!["killer-cannot-trigger".to_owned()];
        let ask = Ask { findings, topics: topics.to_vec(), goal: Goal::Capacity, ..Ask::default() };
        let steps = case.inputs(|inputs| plan(inputs, &set_up, &ask)).steps();
        let fstab = |step: &ramline_plan::Step| match step {
            ramline_plan::Step::EditFile { path, after, .. } if path == "/etc/fstab" => after.clone(),
            _ => None,
        };
        steps.iter().find_map(fstab)
    };
    assert_eq!(of(&[Topic::Tmp]).as_deref(), Some("a / ext4\n"), "the swap file belongs to no line of this plan");
    assert!(of(&[Topic::Tmp, Topic::Swap]).unwrap().contains("/swapfile"));
}

#[test]
fn a_killer_that_cannot_trigger_is_given_a_file_of_systemd_and_earlyoom_keeps_its_own() {
    let id = "killer-cannot-trigger";
    let early = planned(&fires(id), &systemd(), id);
    assert!(is_refused(&early.lines[0], "EARLYOOM_ARGS=\"-m 10 -s 100\""), "{early:#?}");
    let mut case = without_swap();
    let oomd = Oomd { watched: Some(vec![]), source: "/etc/systemd/oomd.conf".into(), ..Oomd::default() };
    case.now.killers = Seen::new(Killers { earlyoom: None, oomd: Some(oomd) });
    let plan = planned(&case, &systemd(), id);
    let [line] = plan.lines.as_slice() else { panic!("{plan:#?}") };
    assert_eq!(
        super::steps(line),
        [
            "reload units of systemd",
            "create /etc/systemd/system/user@.service.d/",
            "create /etc/systemd/system/user@.service.d/90-ramline-oomd.conf",
            "reload units of systemd"
        ]
    );
    assert!(line.effect.contains("60 % of 30"), "{}", line.effect);
    assert!(case.finding(id).unwrap().tune.is_some());
}
