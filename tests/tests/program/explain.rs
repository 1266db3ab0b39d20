//! Every topic on every captured machine, its page in the docs, its next command; where a number decides, it decides.

use std::collections::BTreeSet;
use std::fs;

use ramline_testkit::{names, project, ramline, tree};
use serde_json::Value;

fn topics() -> Vec<String> {
    let list: Value = serde_json::from_str(&ramline(&["explain", "--list", "--json"]).stdout).unwrap();
    list["topics"].as_array().unwrap().iter().map(|t| t["topic"].as_str().unwrap().to_owned()).collect()
}

fn trees() -> Vec<String> {
    ["explain", "healthy"].iter().flat_map(|dir| names(dir)).map(|name| tree(&name).display().to_string()).collect()
}

fn short(topic: &str, tree: &str) -> String {
    let root = ramline_testkit::tree(tree).display().to_string();
    let run = ramline(&["explain", topic, "--root", &root, "--json"]);
    assert_eq!(run.code, 0, "{topic} {tree}: {}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    answer["answer_short"].as_str().unwrap().to_owned()
}

#[test]
fn every_topic_is_answered_on_every_captured_machine() {
    for tree in trees() {
        for topic in topics() {
            let run = ramline(&["explain", &topic, "--root", &tree]);
            assert_eq!(run.code, 0, "{topic} {tree}: {}", run.stderr);
            assert!(run.stdout.contains("What to do: ") && run.stdout.contains("Next: ramline "), "{topic} {tree}");
            assert!(run.stdout.lines().count() <= 20, "{topic} {tree} is longer than the screen");
            let more = ramline(&["explain", &topic, "--more", "--root", &tree]);
            assert!(more.stdout.contains("How it works") && more.stdout.contains("Next: ramline "), "{topic} {tree}");
            assert_eq!(more.stdout.lines().next(), run.stdout.lines().next(), "both lead with the answer");
            assert!(more.stdout.lines().all(|line| line.chars().count() <= 100), "{topic} {tree} is too wide");
            assert!(run.stderr.is_empty(), "{topic} {tree}: {}", run.stderr);
            assert!(
                run.stdout.lines().all(|line| line.chars().count() <= 100),
                "{topic} {tree} is wider than the screen"
            );
        }
    }
}

#[test]
fn every_next_command_is_one_that_this_program_has() {
    let mut commands = BTreeSet::new();
    for tree in trees() {
        for topic in topics() {
            let run = ramline(&["explain", &topic, "--root", &tree, "--json"]);
            let answer: Value = serde_json::from_str(&run.stdout).unwrap();
            commands.insert(answer["next_command"].as_str().unwrap().to_owned());
        }
    }
    assert!(commands.len() > 3, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        // With --help behind it nothing is run; a word that is no subcommand or option is refused all the same.
        let named: Vec<&str> = words[1..].iter().copied().take_while(|w| !w.starts_with('-')).collect();
        if named == ["explain", "kill"] {
            // A captured tree holds no log.
            let log = tempfile::NamedTempFile::new().unwrap();
            assert_eq!(ramline(&[&named[..], &[log.path().to_str().unwrap()]].concat()).code, 0, "{command}");
            continue;
        }
        if named.first() == Some(&"explain") {
            assert_eq!(ramline(&[&named[..], &["--root", &trees()[0]]].concat()).code, 0, "{command}");
            continue;
        }
        let help = ramline(&[&named[..], &["--help"]].concat());
        assert_eq!(help.code, 0, "{command}: {}", help.stderr);
        for option in words.iter().filter(|w| w.starts_with("--")) {
            assert!(help.stdout.contains(option), "{command}: no option {option}");
        }
    }
}

#[test]
fn every_topic_has_a_section_with_sources_and_a_transcript_that_is_what_the_program_prints() {
    let docs = project().join("docs");
    let guide = fs::read_to_string(docs.join("explain.md")).unwrap();
    let sections: Vec<_> = guide.split("\n### ").skip(1).map(|text| text.split_once('\n').unwrap()).collect();
    assert_eq!(sections.iter().map(|(topic, _)| (*topic).to_owned()).collect::<Vec<_>>(), topics());
    for (topic, text) in sections {
        assert!(text.contains("Sources: "), "{topic} names no sources");
    }
    let path = docs.join("explain-transcripts.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut parts = text.split("```text\n$ ramline ");
    let (mut made, mut shown) = (parts.next().unwrap().to_owned(), Vec::new());
    for part in parts {
        let (command, rest) = part.split_once('\n').unwrap();
        // Where `tests/trees.py unpack --all target/trees` puts it.
        let (words, name) = command.split_once(" --root target/trees/").unwrap_or_else(|| panic!("{command}"));
        let root = tree(name).display().to_string();
        let run = ramline(&words.split(' ').chain(["--root", &root]).collect::<Vec<_>>());
        made += &format!("```text\n$ ramline {command}\n{}```{}", run.stdout, rest.split_once("```").unwrap().1);
        shown.push(words.strip_prefix("explain ").unwrap().to_owned());
    }
    assert_eq!(shown, topics());
    if std::env::var_os("RAMLINE_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    for (line, now) in text.lines().zip(made.lines()) {
        assert_eq!(line, now, "refresh with RAMLINE_BLESS=1 cargo test -p ramline-tests explain");
    }
    assert_eq!(text, made);
}

#[test]
fn strict_overcommit_says_what_is_left_and_the_heuristic_one_that_nothing_is_refused_but_the_absurd() {
    // CommitLimit 356440 kB less 354392 kB.
    assert!(short("overcommit", "explain/overcommit-strict").starts_with("2.0 MiB more: "));
    assert!(short("overcommit", "healthy/linux-6.12-zram").starts_with("Nearly any amount"));
}

#[test]
fn huge_pages_that_are_neither_used_nor_promised_are_named() {
    // 60 pages of 2 MiB, 50 free of which 10 are promised.
    let reserved = short("hugepages", "explain/hugepages-reserved");
    assert!(
        reserved.starts_with("120.0 MiB is set aside as huge pages; 80.0 MiB of it is neither used nor promised"),
        "{reserved}"
    );
    assert!(short("hugepages", "healthy/linux-6.12-zram").starts_with("No huge pages are set aside"));
    assert!(short("thp", "explain/hugepages-reserved").starts_with("On for every program (always)"));
}

#[test]
fn one_node_that_is_short_beside_one_with_room_is_named_and_a_single_node_is_not_a_question() {
    let two = short("numa", "explain/numa-two-nodes");
    assert!(two.starts_with("2 nodes, one reclaims while another has room: node 1 has 2.7 MiB free"), "{two}");
    assert!(short("numa", "healthy/linux-6.12-zram").starts_with("There is one memory node"));
}

#[test]
fn generations_are_told_from_two_lists() {
    assert!(short("mglru", "healthy/debian-13").starts_with("By generations"));
    assert!(short("mglru", "healthy/linux-6.18-cgroup-v1").starts_with("By two lists"));
}

#[test]
fn a_swap_in_reads_one_page_from_zram_and_a_window_from_a_disk() {
    assert!(
        short("page-cluster", "healthy/debian-13").starts_with("A swap-in reads one page from zram, up to 8 pages")
    );
    assert!(short("page-cluster", "healthy/linux-6.12-zram").starts_with("A swap-in reads one page: every swap area"));
    assert!(short("page-cluster", "healthy/no-zram").starts_with("There is no swap area here"));
}

#[test]
fn a_word_that_people_type_finds_its_topic_and_nonsense_gets_the_list() {
    let root = tree("healthy/debian-13").display().to_string();
    let topic = |word: &str| {
        let run = ramline(&["explain", word, "--root", &root, "--json"]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        answer["topic"].as_str().unwrap_or_default().to_owned()
    };
    // `explain kswapd` proposed zswap, 'can be had' bd_reads, blah blocks; memory was a percentage of stall times.
    assert_eq!((topic("kswapd").as_str(), topic("can be had").as_str()), ("watermarks", "available"));
    assert_eq!((topic("memory").as_str(), topic("DAMON").as_str()), ("used", "evictors"));
    let run = ramline(&["explain", "blah"]);
    assert_eq!(run.code, 2);
    assert!(!run.stderr.contains("closest") && run.stderr.contains("try: ramline explain --list"), "{}", run.stderr);
    assert!(ramline(&["explain", "swapiness"]).stderr.contains("try: ramline explain swappiness"));
}

#[test]
fn a_number_is_explained_by_its_name_or_path_with_its_value_here() {
    let tree = tree("healthy/debian-13").display().to_string();
    for name in ["page tables", "memory.ledger.page_tables"] {
        let run = ramline(&["explain", name, "--root", &tree, "--json"]);
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((told["source"].as_str(), told["unit"].as_str()), (Some("/proc/meminfo PageTables"), Some("bytes")));
        assert_eq!(told["here"][0]["raw"].as_f64(), Some(f64::from(page_tables(&tree)) * 1024.0), "{name}");
    }
    let unknown = ramline(&["explain", "page tabels"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("'page tables'"), "{}", unknown.stderr);
}

fn page_tables(tree: &str) -> u32 {
    let text = fs::read_to_string(format!("{tree}/proc/meminfo")).unwrap();
    let line = text.lines().find(|l| l.starts_with("PageTables:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
