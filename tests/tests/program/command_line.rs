//! The command line: what was asked of it in the words of those who tried it, and what it says now.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use ramline_testkit::{Run, Tree, binary, ramline};
use serde_json::Value;

const BASE: &str = "healthy/linux-6.12-zram";

/// Runs it with variables of its own.
fn with(variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = Command::new(binary());
    for name in ["NO_COLOR", "COLUMNS", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    Run::from_output(command.args(args).envs(variables.iter().copied()).output().unwrap())
}

/// Runs it on a terminal of so many lines and columns, made by script(1), and ends it after so long; `None` without script(1).
fn on_a_terminal(variables: &str, size: (u32, u32), line: &str, signal_after: Option<f64>) -> Option<String> {
    let (rows, columns) = size;
    let ramline = binary();
    let ending =
        signal_after.map(|s| format!("timeout --foreground --preserve-status -s TERM {s} ")).unwrap_or_default();
    let shell = format!(
        "stty rows {rows} cols {columns}; env {variables} {ending}{} {line}; echo \"code $?\"",
        ramline.display()
    );
    let output: Output =
        Command::new("script").args(["-qec", &shell, "/dev/null"]).stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn lines_of(text: &str) -> impl Iterator<Item = usize> {
    text.lines().map(|line| line.chars().count())
}

#[test]
fn a_top_level_json_is_honoured_by_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    std::fs::write(&file, "x").unwrap();
    let (file, fixture) = (file.to_str().unwrap(), Tree::from_fixture(BASE));
    let root = fixture.path();
    for args in [
        &["cache", "stat", file][..],
        &["cache", "evict", "--dry-run", file],
        &["cache", "warm", "--dry-run", file],
        &["explain", "swappiness", "--root", root],
        &["explain", "--list"],
        &["checkup", "--quick", "--root", root],
        &["show", "--root", root],
        &["show", "processes", "--root", root],
        &["show", "translate", "--root", root],
        &["lab", "list"],
        &["lab", "describe", "knee"],
        &["--root", root],
    ] {
        let run = ramline(&[&["--json"], args].concat());
        let parsed: Result<Value, _> = serde_json::from_str(&run.stdout);
        assert!(parsed.is_ok_and(|value| value.is_object()), "{args:?}: {} {}", run.stdout, run.stderr);
    }
    let file = dir.path().join("report.json");
    let run = ramline(&["checkup", "--quick", "--root", root, "--json", file.to_str().unwrap()]);
    assert!(run.code == 0 && !run.stdout.starts_with('{'), "a FILE is still possible: {}", run.stderr);
    assert!(std::fs::read_to_string(file).unwrap().starts_with('{'));
}

#[test]
fn seconds_may_be_written_as_a_plain_number() {
    let run = ramline(&["show", "pressure", "--for", "0.2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_name_where_a_pid_is_asked_is_looked_up_and_several_are_listed() {
    let smaps = "1000000-1004000 r-xp 00000000 fe:00 7      /usr/lib/a.so\nRss:                  16 kB\n";
    let tree = Tree::from_fixture("")
        .file("/proc/31/smaps", smaps)
        .file("/proc/31/maps", "1000000-1004000 r-xp 00000000 fe:00 7      /usr/lib/a.so\n")
        .file("/proc/31/comm", "bash\n")
        .file("/proc/32/comm", "sleep\n")
        .file("/proc/32/cmdline", "sleep\x0060\x00")
        .file("/proc/33/comm", "sleep\n")
        .file("/proc/33/cmdline", "sleep\x0061\x00");
    let maps = |name: &str| ramline(&["show", "maps", name, "--root", tree.path()]);
    let one = maps("bash");
    assert_eq!((one.code, one.stderr.as_str()), (0, ""), "{}", one.stdout);
    let several = maps("sleep");
    assert_eq!((several.code, several.stdout.as_str()), (2, ""));
    assert!(several.stderr.contains("2 processes have the name 'sleep'"), "{}", several.stderr);
    assert!(
        several.stderr.contains("  32  sleep 60\n") && several.stderr.contains("  33  sleep 61\n"),
        "{}",
        several.stderr
    );
    assert!(several.stderr.contains("try: ramline show maps 32"), "{}", several.stderr);
    let none = maps("no-such\u{1b}[2J");
    assert!(none.code == 2 && none.stderr.contains("no process has the id or the name"), "{}", none.stderr);
    assert!(!none.stderr.contains("invalid digit") && !none.stderr.contains('\u{1b}'), "{}", none.stderr);
}

#[test]
fn processes_are_put_in_order_and_filtered_by_id_name_and_user() {
    let own = std::process::id().to_string();
    let json = |args: &[&str]| -> Value {
        let run = ramline(&[&["show", "processes", "--json", "--cheap"], args].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let one = json(&[&own, "--command"]);
    let row = &one["who"]["rows"][0];
    assert_eq!((&row["pid"], &one["who"]["matched"]["processes"]), (&std::process::id().into(), &1.into()));
    assert!(row["command"].as_str().unwrap().contains("program-"), "{row}");
    let user = row["user"].as_str().unwrap();
    let all = json(&["--user", user, "--by", "process"]);
    assert!(all["who"]["rows"].as_array().unwrap().iter().all(|row| row["user"] == user));
    assert!(json(&["--name", "program-"])["who"]["matched"]["processes"].as_u64() >= Some(1));
    for sort in ["rss", "swap", "uses", "holds"] {
        let rows = json(&["--by", "process", "--sort", sort]);
        let rows = rows["who"]["rows"].as_array().unwrap();
        let of = |row: &Value| {
            if sort == "uses" || sort == "holds" { row["holds"]["value"].as_u64() } else { row[sort].as_u64() }
        };
        assert!(rows.windows(2).all(|two| of(&two[0]) >= of(&two[1])), "{sort}");
    }
    let grown = json(&["--sort", "growth"]);
    assert!(grown["who"]["span"].as_u64() >= Some(900_000_000), "growth needs two looks and takes them");
    let capture = ramline(&["show", "processes", "--sort", "growth", "--root", Tree::from_fixture(BASE).path()]);
    assert!(capture.code == 2 && capture.stderr.contains("two looks"), "{}", capture.stderr);
    let none = ramline(&["show", "processes", "--name", "no-such-name", "--cheap"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (1, "No process with memory of its own matches: name no-such-name.\n")
    );
}

#[test]
fn colour_follows_the_option_and_then_the_environment() {
    let tree = Tree::from_fixture(BASE);
    let colours = |variables: &[(&str, &str)], option: &[&str]| {
        with(variables, &[&["show", "--root", tree.path()], option].concat()).stdout.contains("\u{1b}[")
    };
    assert!(!colours(&[], &[]) && colours(&[], &["--color=always"]));
    assert!(colours(&[("CLICOLOR_FORCE", "1")], &[]) && colours(&[("FORCE_COLOR", "1")], &[]));
    assert!(!colours(&[("FORCE_COLOR", "1")], &["--color", "never"]));
    assert!(!colours(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], &[]));
}

#[test]
fn a_pipe_honours_columns_from_60_to_200() {
    let tree = Tree::from_fixture(BASE);
    let widest = |columns: &str| {
        lines_of(&with(&[("COLUMNS", columns)], &["show", "translate", "--root", tree.path()]).stdout).max().unwrap()
    };
    assert!(widest("60") <= 60 && widest("80") <= 80 && widest("200") > 100 && widest("900") <= 200);
}

#[test]
fn a_locale_that_is_not_utf8_and_a_dumb_terminal_get_plain_characters() {
    let tree = Tree::from_fixture(BASE);
    for variables in [[("LC_ALL", "C")], [("TERM", "dumb")]] {
        for topic in ["memory", "tiers", "zram", "swap", "tmpfs", "pressure", "translate", "processes"] {
            let run = with(&variables, &["show", topic, "--root", tree.path()]);
            assert!(run.stdout.is_ascii() && run.stderr.is_ascii(), "{topic} {variables:?}: {}", run.stdout);
        }
        let checkup = with(&variables, &["checkup", "--quick", "--root", tree.path()]);
        assert!(checkup.stdout.is_ascii() && checkup.stderr.is_ascii(), "{}", checkup.stdout);
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("größe");
    std::fs::write(&file, "x").unwrap();
    let stat = |variables: &[(&str, &str)], json: &str| {
        with(variables, &["cache", "stat", json, file.to_str().unwrap()]).stdout
    };
    assert!(stat(&[("LC_ALL", "C")], "--json").contains("größe"), "data stay what they are");
    assert!(stat(&[], "--du").contains("größe") || stat(&[], "--map").contains("größe"));
    assert!(stat(&[("LC_ALL", "C")], "--map").is_ascii());
}

#[test]
fn a_watch_in_a_pipe_prints_again_with_the_time_between_and_ends_cleanly() {
    let mut child = Command::new(binary())
        .args(["show", "pressure", "--watch", "0.3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // However busy the machine is: until the fourth look begins, the third is whole.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while text.matches("\n-- ").count() < 3 && out.read_line(&mut text).unwrap() > 0 {}
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    out.read_to_string(&mut text).unwrap();
    let run = Run::from_output(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{text}");
    let looks: Vec<&str> = text.split("\n-- ").collect();
    assert!(looks.len() >= 4 && looks[1].contains(" UTC, 300ms later --\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let has_rates = |look: &str| look.contains("stalled (PSI)") && look.contains(" over ");
    assert!(!has_rates(looks[0]) && has_rates(looks[2]), "rates come from between two looks: {text}");
}

#[test]
fn a_watch_ends_when_its_reader_does_and_its_rates_come_from_between_two_looks() {
    let line = format!("'{}' show pressure --watch 0.2 --json | head -n 3", binary().display());
    let output = Command::new("timeout").args(["20", "bash", "-o", "pipefail", "-c", &line]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let spans: Vec<Option<u64>> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["pressure"]["span"].as_u64()).collect();
    assert_eq!((spans.len(), spans[0]), (3, None), "the first look has no rates");
    // So much later, and not much more on a busy machine.
    assert!(
        spans[1..].iter().all(|span| span.is_some_and(|ns| (190_000_000..5_000_000_000).contains(&ns))),
        "{spans:?}"
    );
}

#[test]
fn every_screen_can_be_watched_and_a_capture_cannot() {
    for topic in ["memory", "tiers", "processes", "cgroups", "maps", "zram", "swap", "tmpfs", "pressure", "translate"] {
        // Until the second look, however long a look takes here.
        let line = format!("timeout 60 '{}' show --watch 0.5 {topic} | sed '/500ms later/q'", binary().display());
        let run = Run::from_output(Command::new("bash").args(["-c", &line]).output().unwrap());
        assert!(run.stdout.contains("500ms later") && run.stderr.is_empty(), "{topic}: {} {}", run.stdout, run.stderr);
    }
    let run = ramline(&["show", "--watch", "--root", Tree::from_fixture(BASE).path()]);
    assert!(run.code == 2 && run.stderr.contains("running machine"), "{}", run.stderr);
    let both = ramline(&["show", "--watch", "1", "--for", "1"]);
    assert!(both.code == 2 && both.stderr.contains("one of them"), "{}", both.stderr);
}

#[test]
fn a_watch_on_a_terminal_draws_over_itself_and_leaves_the_terminal_as_it_was() {
    let Some(text) = on_a_terminal("TERM=xterm LC_ALL=C.UTF-8", (24, 80), "show --watch 0.3", Some(1.4)) else {
        assert!(!ramline_testkit::skip_if(true, "a_watch_on_a_terminal", "needs script(1)"));
        return;
    };
    assert!(text.matches("\u{1b}[H").count() >= 3 && text.contains("\u{1b}[J"), "{text:?}");
    // Nothing is switched: no other screen, no hidden cursor, no mode.
    assert!(!text.contains("\u{1b}[?") && text.contains("code 0"), "{text:?}");
    for frame in text.split("\u{1b}[H").skip(1) {
        let frame = frame.split("\u{1b}[J").next().unwrap();
        assert!(frame.matches('\n').count() <= 23, "{frame:?}");
    }
    let dumb = on_a_terminal("TERM=dumb", (24, 80), "show --watch 0.3", Some(1.0)).unwrap();
    assert!(!dumb.contains('\u{1b}') && dumb.contains("later --"), "{dumb:?}");
}

#[test]
fn a_usage_error_of_a_trace_names_the_way_that_works() {
    let run = ramline(&["cache", "trace", "--for", "5s", "--", "true"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("until it ends") && run.stderr.contains("try: ramline cache trace -- COMMAND"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("Usage: ramline cache trace --for <TIME> [-- "), "{}", run.stderr);
}

#[test]
fn a_usage_line_does_not_propose_what_the_error_forbids() {
    for (args, forbidden, offered) in [
        (
            &["cache", "trace", "--cgroup", "/a", "--", "true"][..],
            "--cgroup <GROUP> [-- ",
            &["cache trace [OPTIONS] -- <COMMAND>...\n", "cache trace [OPTIONS] --cgroup <GROUP>"][..],
        ),
        (
            &["cache", "save", "--install", "f", "tree"],
            "--install <FILE> [PATH]",
            &["cache save [OPTIONS] <FILE> [PATH]...\n", "cache save --install [--dir <DIR>]"],
        ),
    ] {
        let run = ramline(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("cannot be used with") && !run.stderr.contains(forbidden), "{}", run.stderr);
        for line in offered {
            assert!(run.stderr.contains(&format!(" ramline {line}")), "{line}: {}", run.stderr);
        }
        let help = format!("\n  try: ramline cache {} --help\n", args[1]);
        assert!(run.stderr.ends_with(&help), "a command to try: {}", run.stderr);
    }
}

#[test]
fn a_capture_is_offered_and_taken_only_where_it_makes_sense() {
    for args in
        [&["cache", "pin"][..], &["cache", "run"], &["cache", "evict"], &["lab", "run", "knee"], &["measure", "tiers"]]
    {
        let help = ramline(&[args, &["--help"]].concat()).stdout;
        assert!(!help.contains("--root") && !help.contains("--snapshot"), "{help}");
        assert!(help.contains("Examples:\n"), "{help}");
    }
    let help = ramline(&["show", "zram", "--help"]).stdout;
    let (root, json) = (help.find("--root"), help.find("--json"));
    assert!(root > json && json.is_some(), "it stands after the command's own options: {help}");
    for args in [&["lab", "clean"][..], &["lab", "list"], &["measure", "tiers"], &["cache", "evict", "x"]] {
        let run = ramline(&[args, &["--root", "/tmp"]].concat());
        assert!(run.code == 2 && run.stderr.contains("running machine"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn sudo_is_not_proposed_to_root() {
    if ramline_testkit::not_root("sudo_is_not_proposed") {
        return;
    }
    for args in [
        &["show", "maps"][..],
        &["show", "processes"],
        &["cache", "stat", "/proc/kcore"],
        &["lab", "run", "knee", "--dry-run", "--", "true"],
    ] {
        let run = ramline(args);
        assert!(
            !run.stdout.contains("sudo") && !run.stderr.contains("sudo"),
            "{args:?}: {} {}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn completion_knows_topics_experiments_groups_and_leaves_files_to_the_shell() {
    let complete = |words: &[&str]| ramline(&[&["complete"], words].concat()).stdout;
    assert!(complete(&["explain", ""]).contains("swappiness\t"));
    assert!(complete(&["lab", "describe", ""]).contains("knee\t"));
    assert_eq!(complete(&["cache", "stat", ""]), ":files\n");
    assert!(complete(&["show", "cgroups", ""]).contains('/'));
    let script = "source \"$1\"; COMP_WORDS=($2); [[ $2 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); \
        _ramline; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let dir = tempfile::tempdir().unwrap();
    let share = tempfile::tempdir().unwrap();
    assert_eq!(ramline(&["generate", "completions", share.path().to_str().unwrap()]).code, 0);
    let path = share.path().join("bash-completion/completions/ramline");
    std::fs::write(dir.path().join("a b"), "").unwrap();
    let bash = |line: &str| {
        let line = format!("{} {line}", binary().display());
        let mut command = Command::new("bash");
        let run = Run::from_output(
            command.args(["-c", script, "bash"]).arg(&path).arg(line).current_dir(&dir).output().unwrap(),
        );
        run.stdout
    };
    assert_eq!(bash("show maps --sort res"), "resident\n");
    assert!(bash("explain swapp").contains("swappiness\n"));
    assert_eq!(bash("cache stat "), "a b\n", "files, and blanks in them");
}

#[test]
fn translate_says_which_of_the_tools_are_installed() {
    let dir =
        tempfile::Builder::new().prefix("ramline-tools-").tempdir_in("/root").or_else(|_| tempfile::tempdir()).unwrap();
    let htop = dir.path().join("htop");
    std::fs::write(&htop, "#!/bin/sh\necho htop 3.2.2\n").unwrap();
    assert!(Command::new("chmod").args(["755", htop.to_str().unwrap()]).status().unwrap().success());
    let run = with(&[("PATH", dir.path().to_str().unwrap())], &["show", "translate", "--json"]);
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    let rows = shown["system"]["rows"].as_array().unwrap();
    let here = |id: &str| &rows.iter().find(|row| row["id"] == id).unwrap()["here"];
    assert_eq!((&here("htop-3.1")["version"], &here("htop-3.1")["holds"]), (&"3.2.2".into(), &true.into()));
    assert_eq!((&here("htop-3.3-bar")["holds"], here("btop-1.3")), (&false.into(), &Value::Null));
}

#[test]
fn in_a_pipe_long_work_says_after_three_seconds_where_it_is() {
    // With --quick it is done in three seconds, and so only sometimes long.
    let run = ramline(&["measure", "tiers"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.lines().any(|line| line.starts_with("3 s: ")), "{}", run.stderr);
}
