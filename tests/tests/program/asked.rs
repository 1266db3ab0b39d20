//! What people type first: words that are no command, questions, and a checkup for a monitor.

use ramline_testkit::{ramline, tree};

#[test]
fn a_first_word_that_is_no_command_ends_with_the_command_that_answers_it() {
    for (word, command) in [
        ("doctor", "ramline checkup --quick"),
        ("why", "ramline explain slow"),
        ("status", "ramline"),
        ("fix", "ramline tune plan"),
        ("htop", "ramline top"),
        ("watch", "ramline top"),
        ("free", "ramline"),
        ("vmstat", "ramline show pressure --for 2"),
        ("smem", "ramline show processes"),
        ("slabtop", "ramline explain kernel-memory"),
        ("zramctl", "ramline show zram"),
        ("vmtouch", "ramline cache stat --help"),
        ("log", "ramline explain kill"),
        ("postgres", "ramline explain more-ram"),
        ("zram", "ramline show zram"),
        ("--watch", "ramline show --watch"),
    ] {
        let run = ramline(&[word]);
        assert_eq!(run.code, 2, "{word}");
        assert_eq!(
            run.stderr.lines().last().map(str::trim),
            Some(format!("try: {command}").as_str()),
            "{word}: {}",
            run.stderr
        );
        assert!(!run.stderr.contains("similar"), "{word}: {}", run.stderr);
    }
    // What nothing answers still ends with the help.
    assert!(ramline(&["blah"]).stderr.contains("try: ramline --help"));
}

#[test]
fn questions_find_their_topic_and_a_slip_names_each_topic_once() {
    let root = tree("healthy/debian-13").display().to_string();
    for (question, topic) in [
        ("why is my box slow", "psi"),
        ("slow", "psi"),
        ("more ram", "more-ram"),
        ("how much RAM does my database need?", "more-ram"),
        ("database", "more-ram"),
        ("java", "more-ram"),
        ("ram", "used"),
    ] {
        let run = ramline(&["explain", question, "--root", &root]);
        assert!(
            run.stdout.contains(&format!("More: ramline explain {topic} --more")),
            "{question}: {}{}",
            run.stdout,
            run.stderr
        );
    }
    // The number of a screen comes before a topic of its words.
    assert!(ramline(&["explain", "page tables", "--root", &root]).stdout.contains("page tables"));
    let slip = ramline(&["explain", "swapiness", "--root", &root]).stderr;
    assert!(slip.contains("closest: swappiness, swap-in-use"), "{slip}");
}

#[test]
fn a_checkup_for_a_monitor_says_what_counted() {
    let of = |name: &str| {
        let root = tree(name).display().to_string();
        let run = ramline(&["checkup", "--quick", "--exit-code", "--root", &root]);
        (run.code, run.stdout.lines().last().unwrap_or_default().to_owned())
    };
    let (code, line) = of("healthy/debian-13");
    assert!(code == 0 && line.starts_with("Exit code 0: "), "{code} {line}");
    let (code, line) = of("findings/zram-limit-fails-writes/fires");
    assert!(code == 10 && line.starts_with("Exit code 10: the first line is ") && line.contains("1 "), "{code} {line}");
    // Notes are shown and do not count.
    let (code, line) = of("findings/other-evictor/fires");
    assert_eq!((code, line.as_str()), (0, "Exit code 0: 1 note, which does not count."));
}

/// Every captured machine.
fn all_trees() -> Vec<String> {
    let of = |dir: &str| {
        let found = std::fs::read_dir(ramline_testkit::project().join("fixtures").join(dir)).unwrap().flatten();
        found.filter_map(|entry| entry.file_name().to_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let plain = |dir: &str| {
        of(dir).into_iter().filter_map(move |name| Some(name.strip_suffix(".tree")?.to_owned())).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = plain("healthy").into_iter().map(|name| format!("healthy/{name}")).collect();
    for finding in of("findings") {
        all.extend(plain(&format!("findings/{finding}")).into_iter().map(|name| format!("findings/{finding}/{name}")));
    }
    all
}

#[test]
fn the_topics_of_swap_and_the_plan_have_one_opinion_on_every_captured_machine() {
    let (mut kept, mut changed) = (0, 0);
    for name in all_trees() {
        let root = tree(&name).display().to_string();
        let json = |words: &[&str]| -> serde_json::Value {
            let run = ramline(&[words, &["--json", "--root", &root]].concat());
            serde_json::from_str(&run.stdout)
                .unwrap_or_else(|error| panic!("{name} {words:?}: {error}: {}", run.stderr))
        };
        let plan = json(&["tune", "plan", "swap", "zram", "vm"]);
        let lines = plan["plan"]["lines"].as_array().or(plan["lines"].as_array()).unwrap();
        let decided = |target: &str| {
            let line = lines.iter().find(|line| line["target"].as_str().is_some_and(|t| t.starts_with(target)))?;
            Some((line["decision"].as_str() == Some("keep"), line["why"][0]["text"].as_str().unwrap().to_owned()))
        };
        for (topic, target) in [("zram-unused", "zram"), ("swappiness", "vm.swappiness")] {
            let to_do = json(&["explain", topic])["to_do"].as_str().unwrap().to_owned();
            let Some((keeps, why)) = decided(target) else { continue };
            let no_effect = topic == "swappiness" && to_do == "Nothing: without swap the setting has no effect.";
            assert_eq!(to_do.starts_with("Nothing"), keeps, "{name} {topic}: plan {why}; explain: {to_do}");
            assert!(no_effect || to_do.contains(&why), "{name} {topic}: plan {why}; explain: {to_do}");
            if keeps { kept += 1 } else { changed += 1 }
        }
        // Without swap the topic says what the plan says of zram, or of a swap file.
        let to_do = json(&["explain", "no-swap"])["to_do"].as_str().unwrap().to_owned();
        let both = [decided("zram"), decided("swap")];
        if to_do.starts_with("Nothing") {
            assert!(both.iter().flatten().all(|(keeps, _)| *keeps), "{name} no-swap: {to_do}; plan {both:?}");
        }
    }
    assert!(kept > 5 && changed > 0, "{kept} kept, {changed} changed");
}

#[test]
fn metrics_have_the_finding_of_a_killer_that_cannot_act() {
    for (name, value) in [("fires", 1), ("silent", 0)] {
        let tree = tree(&format!("findings/killer-cannot-trigger/{name}")).display().to_string();
        let run = ramline(&["export", "--once", "--root", &tree]);
        let found = run.stdout.lines().find(|line| line.contains("id=\"killer-cannot-trigger\"")).unwrap_or_default();
        assert!(found.starts_with("ramline_finding{") && found.ends_with(&format!(" {value}")), "{name}: {found}");
    }
}
