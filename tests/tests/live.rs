//! On this machine, for real: anyone gets an answer, one ramline at a time, interruption puts everything back.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ramline_testkit::{Run, binary, not_root, ramline};
use serde_json::Value;

/// A lab run that would take half a minute.
fn long_run(state: &str, dir: &str) -> Child {
    Command::new(binary())
        .args(["lab", "run", "code-plus-data", "--unit", "4MiB", "--runs", "20", "--timeout", "20s", "--allow-busy"])
        .args(["--arms", "no-swap", "--dir", dir])
        .env("RAMLINE_STATE_DIR", state)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nobody_gets_the_whole_ledger_and_the_same_lines_within_the_printed_drift() {
    if not_root("nobody_gets_the_whole_ledger") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("ramline");
    fs::copy(binary(), &copy).unwrap();
    assert!(Command::new("chmod").args(["-R", "a+rX"]).arg(dir.path()).status().unwrap().success());
    // Both watch the same second: what moves in it is the drift each prints.
    let start = |uid: u32| {
        let mut command = Command::new(&copy);
        command.args(["show", "--for", "1s", "--json"]).uid(uid).gid(uid).stdout(Stdio::piped()).stderr(Stdio::null());
        // A process that another test starts may hold the copy open for writing until it runs its own program.
        loop {
            match command.spawn() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                child => return child.unwrap(),
            }
        }
    };
    let (ours, nobodys) = (start(0), start(65534));
    let parse = |child: Child| -> Value { serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap() };
    let (ours, nobodys) = (parse(ours), parse(nobodys));
    let ids = |v: &Value| -> Vec<String> {
        v["ledger"]["lines"].as_array().unwrap().iter().map(|l| l["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ours), ids(&nobodys));
    let moved = |v: &Value, id: &str| -> u64 {
        let lines = v["drift"]["lines"].as_array().unwrap();
        lines.iter().find(|l| l["id"] == id).map_or(0, |l| l["bytes"].as_i64().unwrap().unsigned_abs())
    };
    let bound = ours["ledger"]["bound"].as_u64().unwrap();
    for (a, b) in ours["ledger"]["lines"].as_array().unwrap().iter().zip(nobodys["ledger"]["lines"].as_array().unwrap())
    {
        let id = a["id"].as_str().unwrap();
        let apart = a["bytes"].as_u64().unwrap().abs_diff(b["bytes"].as_u64().unwrap());
        let drift = moved(&ours, id).max(moved(&nobodys, id)) + bound;
        assert!(apart <= drift, "{id}: {apart} bytes apart, printed drift and counter error {drift}");
    }
    assert!(nobodys["unseen"].as_array().unwrap().is_empty(), "the ledger needs no privilege: {}", nobodys["unseen"]);
}

#[test]
fn without_root_the_lab_says_what_it_needs_before_it_starts_anything() {
    if not_root("without_root_the_lab_says_what_it_needs") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("ramline");
    fs::copy(binary(), &copy).unwrap();
    assert!(Command::new("chmod").args(["-R", "a+rwX"]).arg(dir.path()).status().unwrap().success());
    let mut command = Command::new(&copy);
    command.args(["lab", "run", "code-plus-data"]).env("RAMLINE_STATE_DIR", dir.path().join("state"));
    let run = Run::from_output(command.uid(65534).gid(65534).output().unwrap());
    assert!([3, 5].contains(&run.code), "{} {}", run.code, run.stderr);
    assert!(run.stderr.contains("root") && run.stderr.contains("try:"), "{}", run.stderr);
    assert!(!dir.path().join("state").exists(), "nothing was made");
}

#[test]
fn a_second_ramline_is_refused_by_the_first_ones_pid_and_an_interrupted_one_puts_everything_back() {
    if not_root("a_second_ramline_is_refused") {
        return;
    }
    let dir = tempfile::Builder::new().prefix("ramline-live-").tempdir_in("/var/tmp").unwrap();
    let (state, scratch) = (dir.path().join("state"), dir.path().join("scratch"));
    fs::create_dir(&scratch).unwrap();
    let (state, scratch) = (state.to_str().unwrap(), scratch.to_str().unwrap());
    let mut first = long_run(state, scratch);
    wait_for("the scratch directory", || fs::read_dir(scratch).unwrap().next().is_some());
    let second = long_run(state, scratch).wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(5), "{text}");
    assert!(text.contains(&format!("process {}", first.id())), "{text}");
    // SIGINT, by the kernel's number: everything is put back, and the exit code says so.
    assert!(Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(6));
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "the scratch place is empty again");
    let mounts = fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(scratch), "{mounts}");
    let output = Command::new(binary()).args(["lab", "clean"]).env("RAMLINE_STATE_DIR", state).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Nothing was left behind.\n");
}

#[test]
fn show_says_something_on_every_topic_of_this_machine() {
    for topic in ["memory", "tiers", "zram", "swap", "tmpfs", "pressure"] {
        let text = ramline(&["show", topic]);
        assert!(text.code == 0 && text.stdout.lines().count() >= 3, "{topic}: {text:?}");
        let json = ramline(&["show", topic, "--json"]);
        let value: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(value["schema_version"], 2, "{topic}");
    }
}

#[test]
fn every_topic_of_explain_is_answered_on_this_machine() {
    let list: Value = serde_json::from_str(&ramline(&["explain", "--list", "--json"]).stdout).unwrap();
    let topics: Vec<_> = list["topics"].as_array().unwrap().iter().map(|t| t["topic"].as_str().unwrap()).collect();
    for must in ["used", "available", "buff-cache", "swap-in-use", "zram-unused", "swappiness", "no-swap"] {
        assert!(topics.contains(&must), "{must} is missing in {list}");
    }
    for topic in topics {
        let run = ramline(&["explain", topic]);
        assert_eq!(run.code, 0, "{topic}: {}", run.stderr);
        assert!(run.stdout.contains("Next"), "{topic} ends with one command: {}", run.stdout);
        let json: Value = serde_json::from_str(&ramline(&["explain", topic, "--json"]).stdout).unwrap();
        assert_eq!((&json["schema_version"], json["topic"].as_str()), (&Value::from(2), Some(topic)));
    }
}
