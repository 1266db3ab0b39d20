//! The table of rules: each fires where it should, is silent where it should be, and says what a finding must say.

use crate::cases::{Case, THRASHING, fires, silent, with_idle_anonymous, with_zram, without_swap};
use ramline_advice::{Confidence, RULES, TOPICS, Weight};

#[test]
fn every_rule_fires_on_its_fixture_and_is_silent_on_the_nearest_misses() {
    for rule in RULES {
        let found = fires(rule.id).finding(rule.id);
        assert!(found.is_some_and(|f| f.id == rule.id), "{} does not fire", rule.id);
        for (index, case) in silent(rule.id).iter().enumerate() {
            let found = case.finding(rule.id);
            assert!(found.is_none(), "{} fires on miss {index}: {:?}", rule.id, found.map(|f| f.title));
        }
    }
}

#[test]
fn every_rule_has_a_docs_page_and_a_topic_and_a_name_of_its_own() {
    let root = ramline_testkit::project();
    for (index, rule) in RULES.iter().enumerate() {
        let page = std::fs::read_to_string(root.join(format!("docs/findings/{}.md", rule.id)));
        let page = page.unwrap_or_else(|e| panic!("docs/findings/{}.md: {e}", rule.id));
        assert!(page.starts_with(&format!("# {}\n", rule.id)), "{}: the page names another rule", rule.id);
        for part in
            ["## What it means", "## Evidence", "## How sure", "## What to do", "## Undo", "## When it is wrong"]
        {
            assert!(page.contains(part), "{}: no section '{part}'", rule.id);
        }
        assert!(TOPICS.iter().any(|topic| topic.id == rule.explain), "{}: no topic {}", rule.id, rule.explain);
        assert!(RULES.iter().skip(index + 1).all(|other| other.id != rule.id), "{} twice", rule.id);
    }
}

#[test]
fn every_finding_has_numbers_with_sources_and_a_way_back() {
    for rule in RULES {
        let found = fires(rule.id).finding(rule.id).unwrap();
        assert!(
            !found.evidence.is_empty() && found.evidence.iter().all(|e| !e.source.is_empty() && !e.value.is_empty())
        );
        assert!(!found.title.is_empty() && !found.effect.is_empty() && !found.cost_if_wrong.is_empty());
        assert_eq!(found.docs, format!("docs/findings/{}.md", rule.id));
        if let Some(change) = found.change {
            assert!(!change.commands.is_empty() && !change.undo.is_empty(), "{}: no undo", rule.id);
            assert_ne!(change.commands, change.undo, "{}: the undo does the same again", rule.id);
        }
        if rule.id != "nothing-to-change" {
            assert!(
                found.title.chars().any(|c| c.is_ascii_digit())
                    || rule.id == "zram-and-zswap"
                    || rule.id == "other-evictor"
            );
        }
    }
}

#[test]
fn every_healthy_machine_yields_only_nothing_to_change() {
    let mut seen = 0;
    for name in ramline_testkit::names("healthy") {
        let case = Case::tree(&name);
        for case in [case.clone(), still(case)] {
            let ids: Vec<String> = case.findings().into_iter().map(|f| format!("{}: {}", f.id, f.title)).collect();
            assert!(ids.len() == 1 && ids.iter().all(|id| id.starts_with("nothing-to-change")), "{name}: {ids:#?}");
        }
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} healthy machines");
}

/// The same machine over two seconds in which nothing moved.
fn still(mut case: Case) -> Case {
    let mut before = case.now.clone();
    let Some(uptime) = before.machine.uptime else { return case };
    before.machine.uptime = Some(ramline_units::Nanos(uptime.0 - 2_000_000_000));
    case.before = before.machine.boot_id.is_some().then_some(before);
    case
}

#[test]
fn a_machine_of_which_nothing_was_seen_yields_nothing_to_change_and_says_what_was_not_seen() {
    let mut case = with_zram();
    *case.now = ramline_snapshot::Snapshot::from_json("s", r#"{"schema_version":1,"machine":{}}"#).unwrap();
    let found = case.findings();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.as_str(), found[0].confidence), ("nothing-to-change", Confidence::Low));
    assert!(found[0].evidence.iter().any(|e| e.what == "not seen" && e.value.contains("meminfo")));
    let missing = case.now.unseen().len();
    assert_eq!(
        (found[0].title.clone(), found[0].weight),
        (format!("Could not judge: {missing} sections were not seen"), Weight::Warning)
    );
    assert!(missing >= 3 && found[0].cost_if_wrong.contains("no all-clear"));
}

#[test]
fn in_a_limited_group_the_all_clear_names_the_limit_and_not_what_the_machine_has_available() {
    let found = Case::tree("healthy/container").findings().remove(0);
    assert_eq!(found.id, "nothing-to-change");
    assert!(
        found.title.contains("it uses 46.4 MiB of its limit of 256.0 MiB") && !found.title.contains("are available")
    );
}

#[test]
fn a_group_that_thrashes_at_its_limit_is_told_from_a_machine_that_does() {
    let mut counters = THRASHING.to_vec();
    counters.extend([
        ("pgscan_kswapd", 5, 5),
        ("pgscan_direct", 5, 5),
        ("pgscan_anon", 0, 0),
        ("pgscan_file", 5, 4005),
    ]);
    let case = with_zram().window(&counters).waiting(25);
    let found = case.findings().remove(0);
    assert!(found.title.contains("yet tasks of a group wait at its limit"), "{}", found.title);
    let told = case.inputs(|i| ramline_advice::explain("pressure", i)).unwrap();
    assert!(told.answer_short.starts_with("No, the machine is not: "), "{}", told.answer_short);
}

#[test]
fn findings_are_ranked_by_weight_and_then_by_confidence() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING).waiting(20);
    let ids: Vec<(Weight, Confidence)> = case.findings().iter().map(|f| (f.weight, f.confidence)).collect();
    assert!(ids.len() >= 2, "no swap and read-ahead both");
    assert!(ids.windows(2).all(|pair| pair[0] >= pair[1]), "{ids:?}");
}

#[test]
fn a_switch_this_kernel_does_not_have_is_no_gap_and_a_refused_file_is() {
    let mut case = with_zram().window(&[]);
    case.now.lru_gen = ramline_snapshot::Seen::Absent { path: "/sys/kernel/mm/lru_gen".into() };
    let gaps = |case: &Case| {
        let found = case.finding("nothing-to-change").unwrap();
        found.evidence.into_iter().find(|e| e.what == "not seen").map(|e| e.value).unwrap_or_default()
    };
    assert!(!gaps(&case).contains("lru_gen"), "{}", gaps(&case));
    case.now.lru_gen = ramline_snapshot::Seen::Denied { path: "/sys/kernel/mm/lru_gen".into() };
    assert!(gaps(&case).contains("lru_gen (permission denied)"), "{}", gaps(&case));
}

#[test]
fn no_rule_firing_is_no_all_clear_where_memory_is_short() {
    let mut counters = THRASHING.to_vec();
    counters.extend([
        ("pgscan_kswapd", 5, 4005),
        ("pgscan_direct", 5, 5),
        ("pgscan_anon", 0, 0),
        ("pgscan_file", 5, 4005),
    ]);
    let case = with_zram().window(&counters).waiting(25);
    let found = case.findings().remove(0);
    assert_eq!((found.id.as_str(), found.weight), ("nothing-to-change", Weight::Warning));
    assert!(found.title.starts_with("No setting to change, yet the working set does not fit"), "{}", found.title);
    assert!(found.effect.contains("more RAM"));
}

#[test]
fn findings_use_the_words_of_the_glossary() {
    let page = ramline_testkit::project().join("docs/glossary.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().take_while(|line| !line.starts_with("## ")).filter_map(|row| row.split('|').nth(2));
    let words: Vec<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(words.contains(&"nobody") && words.contains(&"arm"), "{words:?}");
    for rule in ramline_advice::RULES {
        let found = crate::cases::fires(rule.id).finding(rule.id).unwrap();
        let text =
            format!("{} {} {} {:?} {:?}", found.title, found.effect, found.cost_if_wrong, found.evidence, found.change);
        let plain: String =
            text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
        let plain = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
        for word in &words {
            assert!(!plain.contains(&format!(" {word} ")), "{}: '{word}' in {text}", rule.id);
        }
    }
}
