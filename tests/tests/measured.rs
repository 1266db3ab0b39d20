//! What was measured is known to the commands that come after it. By itself in this file: it moves a quarter of a GiB about.

use std::fs;
use std::process::Command;

use ramline_testkit::binary;
use serde_json::Value;

#[test]
fn what_was_measured_is_named_with_its_age_and_only_on_this_boot() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let run = |args: &[&str]| {
        let output = Command::new(binary()).args(args).env("RAMLINE_STATE_DIR", &state).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["show", "tiers"]).contains("Next: ramline measure tiers"));
    let measured: Value = serde_json::from_str(&run(&["measure", "tiers", "--json"])).unwrap();
    let tiers = measured["report"]["tiers"].as_array().unwrap();
    // The row of a swap area may be that of the tier it is on.
    let spread = |tier: &Value| {
        tier["tier"].as_str().unwrap().starts_with("swap") || tier["latency"].is_null() == tier["batches"].is_null()
    };
    assert!(!tiers.is_empty() && tiers.iter().all(spread), "{tiers:?}");
    let text = run(&["show", "tiers", "--all"]);
    assert!(text.contains(" ago;") && !text.contains("Next: ramline measure tiers"), "{text}");
    let (file, boot) = (state.join("tiers.json"), fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap());
    fs::write(&file, fs::read_to_string(&file).unwrap().replace(boot.trim(), "another")).unwrap();
    assert!(run(&["show", "tiers"]).contains("Next: ramline measure tiers"));
}
