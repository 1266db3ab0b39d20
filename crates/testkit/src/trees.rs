//! Captured machines: each is one text file, `fixtures/NAME.tree`, over another or over nothing. `fixtures/README.md` says how it is
//! written; `tests/trees.py` reads the same, and makes such files of directories.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What a tree holds: the bytes of each file by its path; nothing for an empty directory, whose path ends in a slash.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

/// Every tree, or those of one folder of `fixtures/`: `healthy/debian-13`.
///
/// # Panics
/// When there is no such folder.
#[must_use]
pub fn names(below: &str) -> Vec<String> {
    let top = crate::project().join("fixtures");
    let (mut out, mut left) = (Vec::new(), vec![top.join(below)]);
    while let Some(dir) = left.pop() {
        let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tree") {
                out.extend(path.with_extension("").strip_prefix(&top).map(|name| name.display().to_string()));
            }
        }
    }
    out.sort();
    out
}

/// A directory with the tree, for those who only read it: made once for each content, below the target directory.
///
/// # Panics
/// When there is no such tree, it is badly written, or the directory cannot be made.
#[must_use]
pub fn tree(name: &str) -> PathBuf {
    let files = files(&crate::project().join("fixtures"), name).unwrap_or_else(|why| panic!("{why}"));
    let mut content = DefaultHasher::new();
    files.hash(&mut content);
    let mark = format!("{:016x}", content.finish());
    let made = crate::beside_tests().join(format!("fixtures/{name}.{mark}"));
    if !made.is_dir() {
        let aside = made.with_extension(format!("{mark}.{}", crate::unique()));
        let written = write(&files, &aside).and_then(|()| fs::rename(&aside, &made));
        if let Err(error) = written {
            drop(fs::remove_dir_all(&aside));
            // Another test was first.
            assert!(made.is_dir(), "{}: {error}", made.display());
        }
    }
    made
}

/// Lays the files down in a directory, which is made.
///
/// # Errors
/// As the file system says it.
pub fn write(files: &Files, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    for (path, content) in files {
        let target = into.join(path);
        match content {
            None => fs::create_dir_all(&target)?,
            Some(bytes) => {
                fs::create_dir_all(target.parent().unwrap_or(into))?;
                fs::write(&target, bytes)?;
            }
        }
    }
    Ok(())
}

/// What the tree of that name in a folder of trees holds.
///
/// # Errors
/// A sentence that begins with file and line.
pub fn files(fixtures: &Path, name: &str) -> Result<Files, String> {
    files_over(fixtures, name, &[])
}

fn files_over(fixtures: &Path, name: &str, over: &[&str]) -> Result<Files, String> {
    let path = fixtures.join(format!("{name}.tree"));
    let wrong = |line: usize, what: &str| format!("{}:{}: {what}", path.display(), line + 1);
    if over.contains(&name) {
        return Err(wrong(0, &format!("it is its own base: {} over {name}", over.join(" over "))));
    }
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}; try: tests/trees.py list", path.display()))?;
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.pop().is_none_or(|last| !last.is_empty()) {
        return Err(wrong(lines.len(), "the last line has no end"));
    }
    let begin = lines.iter().position(|line| line.starts_with(b"-- ")).unwrap_or(lines.len());
    let mut files = None;
    for (n, line) in lines[..begin].iter().enumerate() {
        match line.strip_prefix(b"base: ").map(str::from_utf8) {
            Some(Ok(base)) if files.is_none() => {
                files = Some(files_over(fixtures, base, &[over, &[name]].concat())?);
            }
            None if line.is_empty() || line.starts_with(b"#") => {}
            _ => return Err(wrong(n, "neither 'base: NAME' (once), a comment nor '-- PATH --'")),
        }
    }
    let mut files = files.unwrap_or_default();
    let heads = (begin..lines.len()).filter(|n| lines[*n].starts_with(b"-- "));
    let bounds: Vec<usize> = heads.chain([lines.len()]).collect();
    // Heads that stand under each other share what follows.
    let mut waiting: Vec<(usize, Section)> = Vec::new();
    for bound in bounds.windows(2) {
        let (n, body) = (bound[0], &lines[bound[0] + 1..bound[1]]);
        let Some(section) = Section::parse(lines[n]) else { return Err(wrong(n, "this is no '-- PATH -- [WORDS]'")) };
        let alone = section.has("gone") || section.has("empty") || section.path.ends_with('/');
        let apart = waiting.first().is_some_and(|(_, first)| alone || first.words != section.words);
        if apart || alone && !body.is_empty() || !alone && body.is_empty() && bound[1] == lines.len() {
            return Err(wrong(n, "lines where none belong, or none where some do"));
        }
        waiting.push((n, section));
        if alone || !body.is_empty() {
            for (n, section) in std::mem::take(&mut waiting) {
                section.change(&mut files, body).map_err(|what| wrong(n, &what))?;
            }
        }
    }
    Ok(files)
}

/// The head of a section: `-- PATH -- WORDS`.
struct Section {
    path: String,
    words: Vec<String>,
}

impl Section {
    fn parse(line: &[u8]) -> Option<Section> {
        let (path, words) = str::from_utf8(line).ok()?.strip_prefix("-- ")?.rsplit_once(" --")?;
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let known = ["edit", "empty", "escaped", "gone", "no-newline"];
        let plain = path.strip_suffix('/').unwrap_or(path).split('/').all(|part| !["", ".", ".."].contains(&part));
        // What stands between the dashes and the first blank.
        let sound = words.remove(0).is_empty() && words.iter().all(|word| known.contains(&word.as_str())) && plain;
        words.sort();
        sound.then(|| Section { path: path.to_owned(), words })
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    fn change(&self, files: &mut Files, body: &[&[u8]]) -> Result<(), String> {
        let path = &self.path;
        let below = |there: &str| there.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
        if self.has("gone") {
            let before = files.len();
            files.retain(|there, _| there != path && !(path.ends_with('/') && there.starts_with(path)));
            return if files.len() < before { Ok(()) } else { Err("nothing of that name to take away".into()) };
        }
        let inside = |file: &str| path.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'));
        if files.keys().any(|there| below(there) || inside(there)) {
            return Err("a file where a directory is, or a directory where a file is".into());
        }
        if path.ends_with('/') {
            files.insert(path.clone(), None);
            return Ok(());
        }
        let lines = body.iter().map(|line| if self.has("escaped") { unescaped(line) } else { Some(line.to_vec()) });
        let lines: Vec<Vec<u8>> = lines.collect::<Option<_>>().ok_or("a backslash that is neither \\\\ nor \\xNN")?;
        let content = if self.has("edit") {
            let old = files.get(path).and_then(Option::as_ref).ok_or("no file of that name to edit")?;
            edited(old, &lines)?
        } else {
            let mut content = lines.join(&b'\n');
            content.extend((!self.has("no-newline") && !self.has("empty")).then_some(b'\n'));
            content
        };
        files.insert(path.clone(), Some(content));
        Ok(())
    }
}

/// Each line that is kept (' ') or taken away ('-') is the next one of these words; what is added ('+') stands behind it.
fn edited(old: &[u8], body: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let old: Vec<&[u8]> = old.split(|byte| *byte == b'\n').collect();
    let (mut out, mut at) = (Vec::new(), 0);
    for line in body {
        let (sign, text) = line.split_at(line.len().min(1));
        match sign {
            b"+" => out.push(text),
            b"" | b" " | b"-" => {
                let ahead = old[at..].iter().position(|there| *there == text);
                let ahead =
                    ahead.ok_or_else(|| format!("the file has no further line '{}'", String::from_utf8_lossy(text)))?;
                out.extend(&old[at..at + ahead + usize::from(sign != b"-")]);
                at += ahead + 1;
            }
            _ => return Err("a line of an edit begins with '-', '+' or a blank".into()),
        }
    }
    out.extend(&old[at..]);
    Ok(out.join(&b'\n'))
}

/// `\\` and `\xNN` as the bytes they stand for.
fn unescaped(line: &[u8]) -> Option<Vec<u8>> {
    let mut parts = line.split(|byte| *byte == b'\\');
    let mut out = parts.next()?.to_vec();
    while let Some(part) = parts.next() {
        match part {
            // Two in a row.
            [] => {
                out.push(b'\\');
                out.extend(parts.next()?);
            }
            [b'x', high, low, rest @ ..] => {
                out.push(u8::from_str_radix(str::from_utf8(&[*high, *low]).ok()?, 16).ok()?);
                out.extend(rest);
            }
            _ => return None,
        }
    }
    Some(out)
}
