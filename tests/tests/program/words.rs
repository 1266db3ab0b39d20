//! One word for a thing: the glossary's own list of words that are not written, searched for in the pages and in the answers of explain.
//!
//! What is inside code (backticks, blocks) is not prose: options and file names keep their letters.

use std::fs;
use std::path::{Path, PathBuf};

use ramline_testkit::{project, ramline, tree};
use serde_json::Value;

/// The page that lists them.
const LIST: &str = "docs/glossary.md";

/// The second column of the first table: words in backticks.
fn forbidden() -> Vec<String> {
    let page = fs::read_to_string(project().join("docs/glossary.md")).unwrap();
    let rows = page.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    let second = rows.filter_map(|row| row.split('|').nth(2).map(str::to_owned));
    second.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Text without blocks (fenced, or indented by four) and spans of code.
fn prose(page: &str) -> String {
    let outside = page.split("```").step_by(2).collect::<String>();
    let lines = outside.lines().filter(|line| !line.starts_with("    "));
    // A span may go over the end of a line.
    lines.collect::<Vec<_>>().join("\n").split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The first forbidden word, with what stands around it.
fn found(text: &str, words: &[String]) -> Option<String> {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c.to_ascii_lowercase() } else { ' ' }).collect();
    let plain = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" ")).replace("'s ", " ");
    words.iter().find_map(|word| {
        let at = plain.find(&format!(" {word} "))?;
        let around: String = plain.chars().skip(plain[..at].chars().count().saturating_sub(30)).take(80).collect();
        Some(format!("'{word}' in: {around}"))
    })
}

fn pages(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, out);
        } else if path.extension().is_some_and(|e| e == "md") {
            out.push(path);
        }
    }
}

#[test]
fn the_glossary_lists_words_that_are_not_written() {
    let words = forbidden();
    for word in ["gauge", "can be had", "gives way", "nobody", "whoever", "arm"] {
        assert!(words.iter().any(|w| w == word), "{word}: {words:?}");
    }
    assert!(found("It can be\nhad.", &words).is_some() && found("Nobody's.", &words).is_some());
    assert!(found("an army of alarms", &words).is_none());
}

#[test]
fn the_pages_use_the_words_of_the_glossary() {
    let words = forbidden();
    let mut files = vec![project().join("README.md")];
    pages(&project().join("docs"), &mut files);
    for path in files {
        let name = path.strip_prefix(project()).unwrap().display().to_string();
        if name == LIST {
            continue;
        }
        let text = prose(&fs::read_to_string(&path).unwrap());
        assert_eq!(found(&text, &words), None, "{name}: docs/glossary.md has the word to write instead");
    }
}

#[test]
fn the_answers_of_explain_use_the_words_of_the_glossary() {
    let words = forbidden();
    let list: Value = serde_json::from_str(&ramline(&["explain", "--list", "--json"]).stdout).unwrap();
    for topic in list["topics"].as_array().unwrap() {
        let topic = topic["topic"].as_str().unwrap();
        for name in ["debian-13", "linux-6.18-cgroup-v1", "container", "no-zram", "linux-6.12-zram"] {
            let root = tree(&format!("healthy/{name}")).display().to_string();
            for more in [&[][..], &["--more"]] {
                let run = ramline(&[&["explain", topic, "--root", &root], more].concat());
                assert_eq!(found(&run.stdout, &words), None, "explain {topic} on {name}");
            }
        }
    }
}

#[test]
fn the_screens_use_the_words_of_the_glossary() {
    let words = forbidden();
    let topics = ["memory", "processes", "cgroups", "tmpfs", "swap", "zram", "pressure", "tiers", "translate"];
    let trees = [
        "healthy/debian-13",
        "healthy/linux-6.18-cgroup-v1",
        "healthy/linux-6.18-groups",
        "healthy/container",
        "healthy/no-zram",
    ];
    for name in trees {
        let root = tree(name).display().to_string();
        let shows = topics.iter().map(|topic| vec!["show", topic, "--all", "--root", &root]);
        for words_of in shows.chain([vec!["checkup", "--quick", "--root", &root], vec!["show", "--root", &root]]) {
            let run = ramline(&words_of);
            assert!(run.stdout.lines().count() > 2, "{words_of:?}: {}{}", run.stdout, run.stderr);
            assert_eq!(found(&run.stdout, &words), None, "{words_of:?}");
        }
    }
}

/// Text of a manual page: lines of prose without the marks of roff.
fn without_roff(page: &str) -> String {
    let lines = page
        .lines()
        .filter(|line| !line.starts_with(".TH"))
        .map(|line| line.trim_start_matches(".SH ").replace("\\-", "-"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.replace("\\fB", "").replace("\\fR", "").replace("\\fI", "");
    // Names of options are no prose.
    let words = text.split([' ', '\n', '[', ']']).filter(|word| !word.starts_with("--"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_help_of_every_command_uses_the_words_of_the_glossary() {
    let words = forbidden();
    let dir = tempfile::tempdir().unwrap();
    let made = ramline(&["generate", "man", dir.path().to_str().unwrap()]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let mut seen = 0;
    for entry in fs::read_dir(dir.path()).unwrap().flatten() {
        let text = without_roff(&fs::read_to_string(entry.path()).unwrap());
        assert_eq!(found(&text, &words), None, "{}", entry.path().display());
        seen += 1;
    }
    assert!(seen > 40, "{seen} pages");
}
