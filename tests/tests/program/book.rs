//! The documents: every link, path and command in them exists, transcripts are what the program prints, sentences and paragraphs are short, and the changelog is a list.
//!
//! A transcript is a block whose first line is `$ ramline ...` behind a comment that names the captured machine, and how many
//! lines of it are shown where not all are: `<!-- on healthy/debian-13, 14 lines -->`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ramline_testkit::{project, ramline, tree};

/// Words of a sentence, on average over a page.
const SENTENCE: usize = 18;
/// Words of a paragraph, at most.
const PARAGRAPH: usize = 90;
/// Words of the book that are written by hand, at most.
const BOOK: usize = 45_000;
/// Pages that a script or a test writes, and the list of chapters.
const WRITTEN: [&str; 4] = ["docs/accuracy.md", "docs/verdicts.md", "docs/explain-transcripts.md", "docs/SUMMARY.md"];

fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![project().join("docs")];
    while let Some(dir) = left.pop() {
        for path in fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    let at_top =
        ["README.md", "SECURITY.md", "CONTRIBUTING.md", "RELEASING.md", "packaging/README.md", "python/README.md"];
    found.extend(at_top.iter().map(|name| project().join(name)));
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(project()).unwrap().display().to_string()
}

/// Lines of code: in fences, or indented by four. And all others.
fn code_and_prose(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut code, mut prose, mut fenced) = (Vec::new(), Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            code.push(line);
        } else {
            prose.push(line);
        }
    }
    (code, prose)
}

/// What stands in the second bracket of `[words](target)`.
fn links(prose: &[&str]) -> Vec<String> {
    let text = prose.join("\n").split('`').step_by(2).collect::<Vec<_>>().join("x");
    text.split("](").skip(1).filter_map(|part| part.split_once(')').map(|(target, _)| target.to_owned())).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let (_, prose) = code_and_prose(&text);
    let headings = prose.into_iter().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading_that_are_there() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&code_and_prose(&text).1) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) =
                link.split_once('#').map_or((link.as_str(), None), |(path, heading)| (path, Some(heading)));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            if !target.exists() {
                wrong.push(format!("{}: {link} is not there", name_of(&page)));
            } else if let Some(heading) = heading
                && target.extension().is_some_and(|end| end == "md")
                && !anchors(&target).contains(heading)
            {
                wrong.push(format!("{}: {link} has no such heading", name_of(&page)));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_path_of_this_project_that_a_document_names_is_there() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for span in code_and_prose(&text).1.join("\n").split('`').skip(1).step_by(2) {
            let tops = ["crates/", "docs/", "tests/", "bench/", "fleet/", "packaging/", "fixtures/", "vm/", "schema/"];
            let named = span.split(':').next().unwrap_or_default();
            let whole = named.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
            let built = named.starts_with("vm/cache") || named.starts_with("fleet/build");
            if whole && !built && tops.iter().any(|top| named.starts_with(top)) && !project().join(named).exists() {
                wrong.push(format!("{}: {named}", name_of(&page)));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Every command, by its words behind `ramline`, with its manual page.
fn commands() -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ramline(&["generate", "man", dir.path().to_str().unwrap()]).code, 0);
    let entries = fs::read_dir(dir.path()).unwrap().flatten().map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name.trim_end_matches(".1").to_owned(), plain(&fs::read_to_string(entry.path()).unwrap()))
    });
    entries.collect()
}

/// A manual page without the marks of roff.
fn plain(page: &str) -> String {
    [("\\-", "-"), ("\\fB", " "), ("\\fR", " "), ("\\fI", " ")]
        .iter()
        .fold(page.to_owned(), |text, (mark, word)| text.replace(mark, word))
}

/// What is wrong with a command line, if anything.
fn fault(line: &str, all: &BTreeMap<String, String>) -> Option<String> {
    let words: Vec<&str> =
        line.split_whitespace().take_while(|w| !matches!(*w, "#" | "|" | "&&" | ";" | ">" | "--")).collect();
    let mut command = "ramline".to_owned();
    for word in &words[1..] {
        let longer = format!("{command}-{word}");
        if !all.contains_key(&longer) {
            break;
        }
        command = longer;
    }
    let first = words.get(1).copied().unwrap_or("--help");
    // Without a command it is `show`; a word in capitals stands for any.
    if command == "ramline"
        && !first.starts_with('-')
        && !first.chars().all(|c| c.is_uppercase() || c == '.')
        && first != "fleet"
        && first != "help"
    {
        return Some(format!("there is no command {first}"));
    }
    let page = if command == "ramline" { "ramline-show".to_owned() } else { command };
    // What `fleet` takes is known to its own program.
    if page.starts_with("ramline-fleet") || first == "fleet" {
        return None;
    }
    let has = |option: &str| {
        [&page, "ramline"]
            .iter()
            .any(|name| all[*name].split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == option))
    };
    let options = words
        .iter()
        .filter(|w| w.starts_with("--"))
        .map(|w| w.trim_start_matches('[').split(['=', ']', ',', ';', '|', '`']).next().unwrap_or(w));
    options
        .filter(|option| *option != "--help")
        .find(|option| !has(option))
        .map(|option| format!("{page} has no {option}"))
}

#[test]
fn every_command_of_a_document_is_one_that_this_program_has() {
    let all = commands();
    assert!(fault("ramline show memory --josn", &all).is_some() && fault("ramline top-ten", &all).is_some());
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for line in code_and_prose(&text).0 {
            let line = line.trim_start().trim_start_matches("$ ").trim_start_matches("# ").trim_start_matches("sudo ");
            if line.split(' ').next() != Some("ramline") {
                continue;
            }
            seen += 1;
            wrong.extend(fault(line, &all).map(|why| format!("{}: {line}: {why}", name_of(&page))));
        }
    }
    assert!(seen > 100, "{seen}");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_recipes_print_what_the_page_shows() {
    let path = project().join("docs/how-do-i.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut parts = text.split("<!-- on ");
    let (mut made, mut shown) = (parts.next().unwrap().to_owned(), 0);
    for part in parts {
        let (place, rest) = part.split_once(" -->\n```text\n$ ramline").unwrap_or_else(|| panic!("{part}"));
        let (name, first) =
            place.split_once(", ").map_or((place, None), |(name, first)| (name, first.strip_suffix(" lines")));
        let (words, rest) = rest.split_once('\n').unwrap();
        let root = tree(name).display().to_string();
        let words: Vec<&str> = words.split_whitespace().collect();
        let run = ramline(&[&words[..], &["--root", &root]].concat());
        assert_eq!(run.code, 0, "{words:?}: {}", run.stderr);
        let line = ["$ ramline"].iter().chain(&words).copied().collect::<Vec<_>>().join(" ");
        let lines = first.map_or(usize::MAX, |number| number.parse().unwrap());
        let mut printed: String = run.stdout.split_inclusive('\n').take(lines).collect();
        if printed.len() < run.stdout.len() {
            printed += "...\n";
        }
        made += &format!("<!-- on {place} -->\n```text\n{line}\n{printed}```{}", rest.split_once("```").unwrap().1);
        shown += 1;
    }
    assert!(shown >= 10, "{shown} transcripts");
    if std::env::var_os("RAMLINE_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    for (line, now) in text.lines().zip(made.lines()) {
        assert_eq!(line, now, "refresh with RAMLINE_BLESS=1 cargo test -p ramline-tests recipes");
    }
}

#[test]
fn there_are_twenty_recipes_and_each_is_a_question_with_a_command() {
    let text = fs::read_to_string(project().join("docs/how-do-i.md")).unwrap();
    let recipes: Vec<_> = text.split("\n## ").skip(1).collect();
    assert!(recipes.len() >= 20, "{}", recipes.len());
    for recipe in recipes {
        let (title, body) = recipe.split_once('\n').unwrap();
        assert!(title.ends_with('?'), "{title} is no question");
        let (code, _) = code_and_prose(body);
        assert!(code.iter().any(|line| line.contains("ramline")), "{title}: no command");
    }
}

/// Pages of the book that are written by hand.
fn by_hand() -> Vec<PathBuf> {
    let is_ours = |name: &str| name == "README.md" || name.starts_with("docs/") && !WRITTEN.contains(&name);
    let mut found: Vec<_> = pages().into_iter().filter(|page| is_ours(&name_of(page))).collect();
    found.push(project().join("ARCHITECTURE.md"));
    found
}

#[test]
fn the_book_has_at_most_forty_five_thousand_words_written_by_hand() {
    // Code, numbers and the lines of tables are no words; the questions of explain are the program's, by a test.
    let words = |page: PathBuf| {
        let text = fs::read_to_string(page).unwrap();
        let (_, prose) = code_and_prose(&text);
        prose
            .iter()
            .filter(|line| !line.starts_with("| [`"))
            .flat_map(|line| line.split_whitespace())
            .filter(|word| word.contains(char::is_alphabetic))
            .count()
    };
    let sum: usize = by_hand().into_iter().map(words).sum();
    assert!(sum <= BOOK, "{sum} words: say things once, link to the page that has them");
}

#[test]
fn a_sentence_of_a_page_has_at_most_eighteen_words_on_average() {
    for page in by_hand() {
        let name = name_of(&page);
        let text = fs::read_to_string(page).unwrap();
        let (_, prose) = code_and_prose(&text);
        let lines = prose.iter().filter(|line| !line.starts_with(['#', '|', '<']));
        let text = lines.copied().collect::<Vec<_>>().join(" ") + " ";
        let sentences: Vec<_> = text
            .split([':', '.', '?', '!'])
            .map(|part| part.split_whitespace().count())
            .filter(|words| *words > 2)
            .collect();
        let mean = sentences.iter().sum::<usize>() / sentences.len().max(1);
        assert!(mean <= SENTENCE, "{name}: {mean} words a sentence");
    }
}

/// The paragraphs of a page, entries of a list one by one; without headings, tables, comments and code. Each with the line it begins at.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut fenced) = (vec![(0, String::new())], false);
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let entry = line.trim_start().starts_with("- ") || line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let ends = fence || line.trim().is_empty() || line.starts_with(['#', '|', '<']) || line.starts_with("    ");
        if ends || fenced || entry {
            found.push((number + 1, String::new()));
        }
        if !ends && !fenced {
            let (_, last) = found.last_mut().unwrap();
            *last += &format!("{line} ");
        }
    }
    found
}

#[test]
fn a_paragraph_of_a_page_has_at_most_ninety_words() {
    let mut long = Vec::new();
    for page in by_hand() {
        for (line, paragraph) in paragraphs(&fs::read_to_string(&page).unwrap()) {
            let words = paragraph.split_whitespace().count();
            if words > PARAGRAPH {
                long.push(format!("{}:{line}: {words} words", name_of(&page)));
            }
        }
    }
    assert_eq!(long, [""; 0]);
}

#[test]
fn every_page_is_a_chapter_of_the_book() {
    let summary = fs::read_to_string(project().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<_> = links(&summary.lines().collect::<Vec<_>>()).into_iter().collect();
    let docs = project().join("docs");
    for page in pages().iter().filter_map(|page| page.strip_prefix(&docs).ok()) {
        let page = page.display().to_string();
        assert!(page == "SUMMARY.md" || listed.contains(&page), "docs/SUMMARY.md lacks {page}");
    }
}

#[test]
fn an_entry_of_the_changelog_is_one_line() {
    let text = fs::read_to_string(project().join("CHANGELOG.md")).unwrap();
    for line in text.lines() {
        assert!(line.chars().count() <= 200, "{} characters: {line}", line.chars().count());
        assert!(
            line.is_empty() || line.starts_with(['#', '-']) || !line.starts_with(' '),
            "an entry goes on in a second line: {line}"
        );
    }
}
