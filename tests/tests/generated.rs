//! Man pages and completions are those of the command line as it is.

use std::fs;
use std::path::Path;
use std::process::Command;

use ramline_testkit::{project, skip_if};

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().flatten().map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn man_pages_and_completions_follow_from_the_command_line() {
    let generator = ramline_testkit::binary().parent().unwrap().join("examples/generate");
    if skip_if(!generator.is_file(), "man_pages_and_completions", "cargo test --workspace builds the generator first") {
        return;
    }
    let fresh = tempfile::tempdir().unwrap();
    assert!(Command::new(generator).arg(fresh.path()).status().unwrap().success());
    for kind in ["man", "completions"] {
        let (kept, made) = (project().join(kind), fresh.path().join(kind));
        assert_eq!(names(&kept), names(&made), "try: make man");
        for name in names(&made) {
            let same = fs::read(kept.join(&name)).unwrap() == fs::read(made.join(&name)).unwrap();
            assert!(same, "{kind}/{name} is out of date; try: make man");
        }
    }
}
