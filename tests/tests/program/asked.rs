//! What people type first: words that are no command, questions, and a checkup for a monitor.

use ramline_testkit::{ramline, tree};

#[test]
fn a_first_word_that_is_no_command_ends_with_the_command_that_answers_it() {
    for (word, command) in [
        ("doctor", "ramline checkup --quick"),
        ("why", "ramline explain slow"),
        ("status", "ramline"),
        ("fix", "ramline tune plan"),
        ("top", "ramline show processes"),
        ("watch", "ramline show --watch"),
        ("log", "ramline explain oom"),
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
