//! Files of touches from end to end: made, looked at, judged, given to another format and taken back.

use std::fs;

use ramline_testkit::{Run, ramline};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A small load: 14 MiB of data written once, then two rounds of 3 MiB of code beside data.
    fn made(&self) -> String {
        let file = self.at("load.trace");
        let run = trace(&["make", "code-plus-data", "--unit", "1MiB", "--rounds", "2", "--out", &file]);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
        file
    }
}

fn trace(args: &[&str]) -> Run {
    ramline(&[&["trace"], args].concat())
}

fn json(args: &[&str]) -> Value {
    let run = trace(&[args, &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_file_is_made_and_says_what_is_in_it() {
    let folder = Folder::new();
    let file = folder.made();
    let info = json(&["info", &file]);
    // A byte of the code is read first.
    let touches = 1 + 14 * 256 + 2 * 2 * 768;
    assert_eq!((&info["whole"], &info["touches"]), (&Value::from(true), &Value::from(touches)));
    assert_eq!((&info["stores"], &info["rounds"]), (&Value::from(14 * 256), &Value::from(2)));
    assert_eq!(info["regions"][1]["distinct_pages"], 14 * 256);
    assert_eq!(info["file_size"], fs::metadata(&file).unwrap().len());
    assert!(info["bytes_per_touch"].as_f64().unwrap() < 2.0, "{info}");
    let text = trace(&["info", &file]).stdout;
    assert!(text.starts_with("Whole: 6,657 touches of "), "{text}");
    assert!(text.contains("code-plus-data, unit 1.0 MiB, 2 rounds, private data, seed 256"), "{text}");
    // The same seed, the same file.
    let again = trace(&["make", "code-plus-data", "--unit", "1MiB", "--rounds", "2", "--out", "-"]);
    assert_eq!(again.stdout.as_bytes()[..16], fs::read(&file).unwrap()[..16]);
}

#[test]
fn a_file_that_is_cut_off_is_shown_as_far_as_it_goes_and_told_by_the_exit_status() {
    let folder = Folder::new();
    let file = folder.made();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 20]).unwrap();
    let run = trace(&["info", &file]);
    assert_eq!(run.code, 7, "{}", run.stderr);
    assert!(run.stdout.starts_with("Cut off: 6,657 touches"), "{}", run.stdout);
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&file, &changed).unwrap();
    let run = trace(&["info", &file]);
    assert!(run.code == 7 && run.stdout.starts_with("Damaged: "), "{} {}", run.stdout, run.stderr);
    let run = trace(&["curve", &file]);
    assert!(run.code == 2 && run.stderr.contains("checksum") && run.stderr.contains("try:"), "{}", run.stderr);
}

#[test]
fn a_curve_falls_to_the_first_touches_of_all_pages() {
    let folder = Folder::new();
    let curve = json(&["curve", &folder.made()]);
    let points = curve["points"].as_array().unwrap();
    assert_eq!(points.len(), 12);
    let of = |point: &Value, name: &str| point[name].as_u64().unwrap();
    for pair in points.windows(2) {
        assert!(of(&pair[0], "lru_misses") >= of(&pair[1], "lru_misses"));
    }
    assert!(points.iter().all(|point| of(point, "belady_misses") <= of(point, "lru_misses")));
    assert_eq!(of(&points[11], "lru_misses"), curve["distinct_pages"].as_u64().unwrap());
    let chosen = json(&["curve", &folder.at("load.trace"), "--sizes", "1MiB,16MiB"]);
    assert_eq!(chosen["points"].as_array().unwrap().len(), 2);
}

#[test]
fn touches_go_to_libcachesim_and_come_back() {
    let folder = Folder::new();
    let (file, oracle, back) = (folder.made(), folder.at("load.oracle"), folder.at("back.trace"));
    assert_eq!(trace(&["export", &file, "--to", "oracle-general", "--out", &oracle]).code, 0);
    let bytes = fs::read(&oracle).unwrap();
    assert_eq!(bytes.len(), 6657 * 24);
    // Behind the byte of code the first touch of data: a store of page 0 of region 1, which round 0 reads again with its first pair.
    assert_eq!(bytes[24..40], [&0u32.to_le_bytes()[..], &(1u64 << 40).to_le_bytes(), &4096u32.to_le_bytes()].concat());
    assert_eq!(bytes[40..48], (14i64 * 256 + 3).to_le_bytes());
    assert_eq!(trace(&["import", &oracle, "--from", "oracle-general", "--out", &back]).code, 0);
    let misses = |file: &str| json(&["curve", file])["points"].clone();
    assert_eq!(misses(&back), misses(&file));
}

#[test]
fn what_is_no_such_file_is_refused_with_a_way_out() {
    let folder = Folder::new();
    let (file, zstd) = (folder.made(), folder.at("x.zst"));
    fs::write(&zstd, [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]).unwrap();
    let out = folder.at("out");
    let mut newer = fs::read(&file).unwrap();
    newer[16] = 9;
    fs::write(&file, newer).unwrap();
    for (args, says) in [
        (&["make", "jelly", "--out", &out][..], "there is no load 'jelly'"),
        (&["make", "code-plus-data", "--unit", "1KiB", "--out", &out], "whole number of MiB"),
        (&["info", &zstd], "no file of touches"),
        (&["info", &file], "version 9"),
        (&["import", &zstd, "--from", "oracle-general", "--out", &out], "zstd -d"),
        (&["export", &zstd, "--to", "oracle-general", "--out", &out], "no file of touches"),
    ] {
        let run = trace(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(says) && run.stderr.contains("try:"), "{args:?}: {}", run.stderr);
        assert!(!fs::exists(&out).unwrap(), "{args:?}: nothing is left behind");
    }
}

/// A prediction of a load that is small enough to be made often.
fn predicted(of: &[&str]) -> Value {
    let settings = ["--settings", "no-swap,swap:60,zram:60", "--simulations", "4", "--kernel", "6.12", "--json"];
    let run = ramline(&[&["predict"], of, &settings].concat());
    assert_eq!(run.code, 0, "{of:?}: {}", run.stderr);
    let mut document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["forecast"].take()
}

#[test]
fn the_file_of_a_load_is_predicted_as_the_load_itself_to_the_last_digit() {
    let folder = Folder::new();
    let loads = [
        "zipf-read",
        "zipf-mmap",
        "scan-read",
        "scan-mmap",
        "heap",
        "heap-shared",
        "server",
        "chase",
        "phases",
        "code-plus-data",
    ];
    for load in loads {
        let (file, limit) = (folder.at(&format!("{load}.trace")), "6400KiB");
        let size = if load == "code-plus-data" { "17MiB" } else { "8MiB" };
        let limit = if load == "code-plus-data" { "15MiB" } else { limit };
        // A unit of 1 MiB is a seventeenth of 17 MiB.
        let sizes: &[&str] = if load == "code-plus-data" { &["--unit", "1MiB"] } else { &["--size", size] };
        let made = trace(&[&["make", load, "--rounds", "2", "--seed", "7", "--out", &file][..], sizes].concat());
        assert_eq!(made.code, 0, "{load}: {}", made.stderr);
        let of_load = ["known-load", "--load", load, "--size", size, "--rounds", "2", "--seed", "7", "--limit", limit];
        let (of_load, of_file) = (predicted(&of_load), predicted(&[&file, "--limit", limit]));
        assert_eq!(of_load["settings"], of_file["settings"], "{load}");
        assert_eq!((&of_load["limit"], &of_load["front"]), (&of_file["limit"], &of_file["front"]), "{load}");
        let settings = of_file["settings"].as_array().unwrap();
        // Without swap a heap is killed before its first round is over.
        assert!(
            settings.len() == 3 && settings[1..].iter().all(|one| one["foretold"]["major"].is_object()),
            "{of_file}"
        );
        let notes = of_file["notes"].to_string();
        assert!(notes.contains("assumed beside the touches"), "{notes}");
    }
    // Three quarters of all it touches, as for a load.
    let file = folder.at("heap.trace");
    assert_eq!(predicted(&[&file])["limit"], 6 << 20);
}

#[test]
fn a_file_of_another_program_is_predicted_as_one_round() {
    let folder = Folder::new();
    let (other, file) = (folder.at("load.oracle"), folder.at("imported"));
    let requests = (0..6000_u64).flat_map(|at| {
        let object = at * 7919 % 2048;
        let (time, size, next) = (0_u32.to_le_bytes(), 4096_u32.to_le_bytes(), (-1_i64).to_le_bytes());
        [&time[..], &object.to_le_bytes(), &size, &next].concat()
    });
    fs::write(&other, requests.collect::<Vec<u8>>()).unwrap();
    let run = trace(&["import", &other, "--from", "oracle-general", "--out", &file]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let document = predicted(&[&file, "--limit", "5MiB"]);
    let rounds = &document["settings"][0]["foretold"];
    assert!(rounds["refault_file"]["median"].as_f64().unwrap() > 1000.0, "{document}");
}

#[test]
fn what_is_no_file_to_predict_is_refused_by_what_it_is() {
    let folder = Folder::new();
    let whole = folder.made();
    let bytes = fs::read(&whole).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.at(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = to;
        bytes
    };
    let cut = put("cut.trace", &bytes[..bytes.len() - 9]);
    let version = put("version.trace", &changed(16, 9));
    let damaged = put("damaged.trace", &changed(bytes.len() / 2, !bytes[bytes.len() / 2]));
    let (empty, text) = (put("empty.trace", b""), put("text.trace", b"no touches are in here at all\n"));
    let cases: [(&[&str], &str); 11] = [
        (&[&cut], "it is cut off"),
        (&[&version], "it is of version 9"),
        (&[&damaged], "it is damaged at byte"),
        (&[&empty], "it is no file of touches"),
        (&[&text], "it is no file of touches"),
        (&["/"], "it is a directory"),
        (&["/nowhere/load.trace"], "cannot read the trace /nowhere/load.trace"),
        (&["known-lod"], "nearest experiment: known-load"),
        (&["xyzzy"], "there is no file and no experiment 'xyzzy'"),
        (&[&whole, "--size", "8MiB"], "--size is of a load that is generated"),
        (&[&whole, "--limit", "1MiB"], "below 4.0 MiB"),
    ];
    for (args, expected) in cases {
        let run = ramline(&[&["predict"], args].concat());
        let is_one = run.code != 0 && run.stdout.is_empty() && run.stderr.contains(expected);
        assert!(is_one && !run.stderr.contains("panicked"), "{args:?} ({}): {}", run.code, run.stderr);
    }
}
