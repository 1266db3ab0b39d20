//! The files of captured machines (fixtures/README.md): Rust and Python read the same in them, and say where one is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ramline_testkit::{Files, files, names, project, tree, write};

fn trees_py(arguments: &[&str]) -> Output {
    Command::new(project().join("tests/trees.py")).args(arguments).output().unwrap()
}

/// The files below a directory; directories that hold nothing, with a slash behind their name.
fn read(dir: &Path) -> Files {
    fn below(dir: &Path, name: &str, out: &mut Files) {
        let entries: Vec<_> = fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
        if entries.is_empty() {
            out.insert(name.to_owned(), None);
        }
        for entry in entries {
            let inside = format!("{name}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                below(&entry.path(), &format!("{inside}/"), out);
            } else {
                out.insert(inside, Some(fs::read(entry.path()).unwrap()));
            }
        }
    }
    let mut out = BTreeMap::new();
    below(dir, "", &mut out);
    out
}

/// A folder of trees, each with its text.
fn folder(trees: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in trees {
        fs::write(dir.path().join(format!("{name}.tree")), text).unwrap();
    }
    dir
}

#[test]
fn rust_and_python_unpack_every_tree_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("all");
    let done = trees_py(&["unpack", "--all", into.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let names = names("");
    assert!(names.len() >= 40, "{names:?}");
    for name in names {
        let there = read(&tree(&name));
        assert!(there.contains_key("meta.json"), "{name} is no captured machine");
        assert_eq!(there, read(&into.join(&name)), "{name}");
    }
}

const BASE: &str = "\
# A machine that never was.
-- a/list --
one
two
one
three
-- a/b/same --
-- a/c/same --
 first
\tlast
-- a/b/open -- no-newline
no end
-- a/b/none -- empty
-- d/e/ --
-- raw -- escaped no-newline
\\x00\\\\x41
\\x2d- x --\\xff
-- d/x/y --
y
";

const OVER: &str = "\
base: base

# Comments may stand behind it.
-- d/ -- gone
-- a/c/same -- gone
-- d -- no-newline
a file now
-- a/list -- edit
+zero
 one
 one
-three
+four
+five
";

#[test]
fn whatever_a_tree_can_say_is_read_alike_and_packed_to_the_same_again() {
    let dir = folder(&[("base", BASE), ("over", OVER)]);
    let fixtures = dir.path().to_str().unwrap();
    let is = |text: &str| Some(text.as_bytes().to_vec());
    let base = files(dir.path(), "base").unwrap();
    let expected = [
        ("a/b/none", is("")),
        ("a/b/open", is("no end")),
        ("a/b/same", is(" first\n\tlast\n")),
        ("a/c/same", is(" first\n\tlast\n")),
        ("a/list", is("one\ntwo\none\nthree\n")),
        ("d/e/", None),
        ("d/x/y", is("y\n")),
        ("raw", Some(b"\0\\x41\n-- x --\xff".to_vec())),
    ];
    assert_eq!(base, expected.map(|(path, content)| (path.to_owned(), content)).into());
    let over = files(dir.path(), "over").unwrap();
    assert_eq!(over["a/list"], is("zero\none\ntwo\none\nfour\nfive\n"));
    assert_eq!(over["d"], is("a file now"));
    assert_eq!(over.len(), base.len() - 2, "{over:?}");
    for (name, held) in [("base", &base), ("over", &over)] {
        let (ours, theirs) = (dir.path().join(format!("{name}.rust")), dir.path().join(format!("{name}.python")));
        write(held, &ours).unwrap();
        let done = trees_py(&["--fixtures", fixtures, "unpack", name, theirs.to_str().unwrap()]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(read(&ours), *held);
        assert_eq!(read(&theirs), *held);
        for under in ["base", "none"] {
            let again = format!("{name}-over-{under}");
            let done = trees_py(&["--fixtures", fixtures, "pack", theirs.to_str().unwrap(), &again, "--base", under]);
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            assert_eq!(files(dir.path(), &again).as_ref(), Ok(held), "{again}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_tree_is_said_with_file_and_line() {
    for (text, line, says) in [
        ("base: base\nbase: base\n", 2, "once"),
        ("hello\n", 1, "neither"),
        ("base: wrong\n-- a --\na\n", 1, "its own base"),
        ("base: base\n-- nothing -- gone\n", 2, "nothing of that name"),
        ("-- a\n", 1, "this is no"),
        ("-- a -- lost\n", 1, "this is no"),
        ("-- ../a --\na\n", 1, "this is no"),
        ("-- /a --\na\n", 1, "this is no"),
        ("# x\n-- a --\n", 2, "lines where none belong"),
        ("-- a --\n-- b -- no-newline\nb\n", 2, "lines where none belong"),
        ("-- a -- empty\na\n", 1, "lines where none belong"),
        ("-- a/ --\na\n", 1, "lines where none belong"),
        ("-- a --\n-- a/b --\nb\n", 2, "a file where a directory is"),
        ("-- a/b --\n-- a --\nb\n", 2, "a file where a directory is"),
        ("-- a --\na\n-- a/ --\n", 3, "a file where a directory is"),
        ("-- a -- edit\n-a\n", 1, "no file of that name to edit"),
        ("base: base\n-- a/list -- edit\n-three\n-two\n", 2, "no further line 'two'"),
        ("base: base\n-- a/list -- edit\nthree\n", 2, "begins with"),
        ("-- a -- escaped\n\\n\n", 1, "a backslash"),
        ("-- a --\na", 2, "no end"),
    ] {
        let dir = folder(&[("base", BASE), ("wrong", text)]);
        let told = files(dir.path(), "wrong").unwrap_err();
        let place = format!("{}:{line}: ", dir.path().join("wrong.tree").display());
        assert!(told.starts_with(&place) && told.contains(says), "{text:?}: {told}");
        let done = trees_py(&["--fixtures", dir.path().to_str().unwrap(), "unpack", "wrong", "never-made"]);
        let theirs = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{text:?}: {theirs}");
        assert!(theirs.starts_with(&format!("trees.py: {place}")) && theirs.contains(says), "{text:?}: {theirs}");
    }
}
