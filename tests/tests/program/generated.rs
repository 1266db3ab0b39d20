//! What the binary makes: man pages, completions and schemas, and `make install`, which puts them in place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ramline_testkit::{binary, project, ramline, skip_if, tree};
use serde_json::Value;

fn generated(what: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let run = ramline(&["generate", what, dir.path().join("new").to_str().unwrap()]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    dir
}

/// All files below a directory, by their path from there.
fn files(dir: &Path) -> BTreeSet<PathBuf> {
    let mut out = BTreeSet::new();
    let mut left = vec![dir.to_owned()];
    while let Some(at) = left.pop() {
        let (dirs, files): (Vec<_>, Vec<_>) =
            fs::read_dir(at).unwrap().flatten().map(|entry| entry.path()).partition(|path| path.is_dir());
        left.extend(dirs);
        out.extend(files.iter().map(|path| path.strip_prefix(dir).unwrap().to_owned()));
    }
    out
}

#[test]
fn there_is_a_man_page_for_every_command_and_each_names_its_own() {
    let dir = generated("man");
    let pages = files(&dir.path().join("new"));
    assert!(pages.len() > 40, "{pages:?}");
    let mut commands = vec![Vec::<String>::new()];
    while let Some(words) = commands.pop() {
        let page = PathBuf::from(
            ["ramline"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-") + ".1",
        );
        assert!(pages.contains(&page), "{} is missing", page.display());
        let text = fs::read_to_string(dir.path().join("new").join(&page)).unwrap();
        assert!(text.starts_with(".ie \\n(.g") && text.contains("\n.SH EXAMPLES\n"), "{text}");
        let help = ramline(&[&words.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--help"]].concat()).stdout;
        let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default().lines().take_while(|line| !line.is_empty());
        let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        commands.extend(names.map(|name| [&words[..], &[name.to_owned()]].concat()));
    }
}

#[test]
fn completions_stand_where_each_shell_looks() {
    let dir = generated("completions");
    let scripts = [
        "bash-completion/completions/ramline",
        "fish/vendor_completions.d/ramline.fish",
        "zsh/site-functions/_ramline",
    ];
    assert_eq!(files(&dir.path().join("new")), scripts.map(PathBuf::from).into());
}

#[test]
fn make_install_puts_the_binary_its_pages_and_completions_in_place_for_all_users() {
    let make = Command::new("make").arg("--version").output();
    if skip_if(make.is_err(), "make_install", "there is no make; try: apt install make") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // Blanks and quotes in both, as a folder of a user may have.
    let dest = format!("DESTDIR={}/st age's", dir.path().display());
    let built = format!("BUILT={}", binary().display());
    let script = "umask 077; exec make -s install \"$@\"";
    let words = ["-c", script, "sh", &dest, "PREFIX=/usr/lo cal", &built];
    let made = Command::new("sh").args(words).current_dir(project()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let local = dir.path().join("st age's/usr/lo cal");
    for file in ["bin/ramline", "share/man/man1/ramline-show-memory.1", "share/zsh/site-functions/_ramline"] {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(local.join(file)).unwrap().permissions());
        assert_eq!(mode & 0o044, 0o044, "{file} can be read by all: {mode:o}");
    }
    let installed = Command::new(local.join("bin/ramline")).arg("--version").output().unwrap();
    assert!(installed.status.success());
}

#[test]
fn the_schema_of_all_documents_is_the_tracked_one_and_each_is_had_by_itself() {
    let all = ramline(&["generate", "schema"]).stdout;
    assert_eq!(all, fs::read_to_string(project().join("schema/ramline.schema.json")).unwrap());
    let all: Value = serde_json::from_str(&all).unwrap();
    let names: Vec<&String> = all["properties"].as_object().unwrap().keys().collect();
    assert!(names.len() > 30, "{names:?}");
    let one: Value = serde_json::from_str(&ramline(&["generate", "schema", "show-memory"]).stdout).unwrap();
    assert_eq!((&one["title"], &one["type"]), (&"ShowMemory".into(), &"object".into()));
    assert!(one["properties"]["ledger"].is_object() && one["$defs"]["Bytes"].is_object(), "{one}");
    let unknown = ramline(&["generate", "schema", "show-nothing"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(names.iter().all(|name| unknown.stderr.contains(name.as_str())), "{}", unknown.stderr);
}

#[test]
fn every_key_that_a_screen_prints_stands_in_its_schema() {
    let tree = tree("healthy/debian-13").display().to_string();
    for screen in ["memory", "tiers", "zram", "swap", "tmpfs", "pressure"] {
        let name = format!("show-{screen}");
        let schema: Value = serde_json::from_str(&ramline(&["generate", "schema", &name]).stdout).unwrap();
        let shown: Value = serde_json::from_str(&ramline(&["show", screen, "--json", "--root", &tree]).stdout).unwrap();
        for key in shown.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{name} has no {key}");
        }
    }
}
