//! Run folders: raw records as JSON, one file per run, below the state directory. Written once, never edited.
//!
//! ```
//! use ramline_evidence::RunRecord;
//! use ramline_lab::store::RunFolder;
//! # let state = std::env::temp_dir().join(format!("ramline-doc-{}", std::process::id()));
//! let folder = RunFolder::create(&state, "code-plus-data", 1_700_000_000_000)?;
//! folder.write(&RunRecord { order: 0, ..RunRecord::default() })?;
//! assert_eq!(folder.read()?.records.len(), 1);
//! # std::fs::remove_dir_all(&state).ok();
//! # Ok::<(), ramline_lab::LabError>(())
//! ```

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use crate::prelude::*;

/// One folder: everything one `lab run` recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    dir: PathBuf,
}

/// What a series was asked for, so that it can be gone on with: `series.json` of its folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The experiment.
    pub experiment: String,
    /// Its parameters.
    pub parameters: Params,
    /// Version of ramline.
    pub ramline: String,
}

impl Header {
    /// The header of a series that begins now.
    #[must_use]
    pub fn new(experiment: &str, parameters: &Params) -> Header {
        let ramline = env!("CARGO_PKG_VERSION").to_owned();
        Header { experiment: experiment.to_owned(), parameters: parameters.clone(), ramline }
    }
}

const HEADER: &str = "series.json";
/// No series of ours has more runs: weeks of them. Each takes some 40 KiB in memory.
const MOST_RECORDS: usize = 2_000;

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contents {
    /// The records in the order of the runs.
    pub records: Vec<RunRecord>,
    /// Files that are not records we can read: name and why.
    pub unreadable: Vec<String>,
}

impl RunFolder {
    /// Makes a new folder `STATE/lab/EXPERIMENT-MILLISECONDS`, mode 0700.
    ///
    /// # Errors
    /// It is there already, or the state directory cannot be written.
    pub fn create(state: &Path, experiment: &str, unix_ms: u64) -> Result<RunFolder> {
        let parent = state.join("lab");
        let failed = |path: &Path, error| LabError::file("make the run folder", path, error);
        DirBuilder::new().recursive(true).mode(0o700).create(&parent).map_err(|error| failed(&parent, error))?;
        let dir = parent.join(format!("{experiment}-{unix_ms:013}"));
        DirBuilder::new().mode(0o700).create(&dir).map_err(|error| failed(&dir, error))?;
        Ok(RunFolder { dir })
    }

    /// A folder that exists, for instance one copied from another machine.
    #[must_use]
    pub fn open(dir: &Path) -> RunFolder {
        RunFolder { dir: dir.to_owned() }
    }

    /// All folders of an experiment, oldest first; none when nothing was ever run.
    #[must_use]
    pub fn all(state: &Path, experiment: &str) -> Vec<RunFolder> {
        let mut dirs: Vec<PathBuf> = std::fs::read_dir(state.join("lab"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let rest = name.to_str().and_then(|name| name.strip_prefix(experiment)?.strip_prefix('-'));
                rest.is_some_and(is_number)
            })
            .map(|entry| entry.path())
            .collect();
        dirs.sort();
        dirs.into_iter().map(|dir| RunFolder { dir }).collect()
    }

    /// Runs that have a record; 0 for a folder that cannot be listed.
    #[must_use]
    pub fn count(&self) -> u64 {
        let record = |name: &std::ffi::OsStr| name.to_str()?.strip_suffix(".json").map(is_number);
        let names = std::fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
        u64::try_from(names.filter(|name| record(name) == Some(true)).count()).unwrap_or(u64::MAX)
    }

    /// When it was made, in milliseconds since 1970, by its name; 0 for a folder that was named otherwise.
    #[must_use]
    pub fn began(&self) -> u64 {
        let name = self.dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.rsplit('-').next().and_then(|time| time.parse().ok()).unwrap_or_default()
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes what the series was asked for.
    ///
    /// # Errors
    /// It is there already, or the disk is full.
    pub fn write_header(&self, header: &Header) -> Result<()> {
        let path = self.dir.join(HEADER);
        let failed = |error| LabError::file("write", &path, error);
        let text = ramline_units::json::pretty(header).map_err(|error| failed(error.into()))?;
        write_new(&path, &text).map_err(failed)
    }

    /// What the series was asked for.
    ///
    /// # Errors
    /// There is no such file, or it makes no sense.
    pub fn header(&self) -> Result<Header> {
        let path = self.dir.join(HEADER);
        let failed = |error| LabError::file("read", &path, error);
        let text = input::read_text("read", &path, input::DOCUMENT)?;
        ramline_units::json::parse(&text).map_err(|error| failed(error.into()))
    }

    /// Writes a record as `NNNN.json` by its order: complete and on disk, or not there at all. Never over an older one.
    ///
    /// # Errors
    /// The record exists already, or the disk is full.
    pub fn write(&self, record: &RunRecord) -> Result<PathBuf> {
        let path = self.dir.join(format!("{:04}.json", record.order));
        let draft = self.dir.join(format!(".{:04}.draft", record.order));
        let failed = |error| LabError::file("write the record", &path, error);
        let text = serde_json::to_string(record).map_err(|error| failed(error.into()))?;
        // What a killed run left, whatever it is.
        drop(std::fs::remove_file(&draft));
        write_new(&draft, &text).map_err(failed)?;
        // A hard link fails where the name is taken; a rename would replace the older record.
        std::fs::hard_link(&draft, &path).and_then(|()| std::fs::remove_file(&draft)).map_err(failed)?;
        process::sync_dir(&self.dir)?;
        Ok(path)
    }

    /// Reads all records; one that cannot be read does not hide the others.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn read(&self) -> Result<Contents> {
        let failed = |error| LabError::file("list", &self.dir, error);
        let mut names: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // Other files of the folder are none of ours: a record is named by its number.
            let is_ours = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_number);
            if is_ours && path.extension().is_some_and(|extension| extension == "json") {
                names.push(path);
            }
        }
        names.sort();
        let mut contents = Contents::default();
        if let Some(beyond) = names.len().checked_sub(MOST_RECORDS).filter(|beyond| *beyond > 0) {
            contents.unreadable.push(format!("{beyond} records beyond the first {MOST_RECORDS} are not read"));
        }
        for path in names.into_iter().take(MOST_RECORDS) {
            match read_record(&path) {
                Ok(record) => contents.records.push(record),
                Err(why) => contents.unreadable.push(format!("{}: {why}", path.display())),
            }
        }
        ramline_units::sort_by_key(&mut contents.records, |record| record.order);
        Ok(contents)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Complete and on disk, or an error.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
}

fn read_record(path: &Path) -> std::result::Result<RunRecord, String> {
    let text = input::read_text("read", path, input::DOCUMENT).map_err(|error| error.cause.to_string())?;
    RunRecord::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_never_written_over() {
        let state = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(state.path(), "x", 5).unwrap();
        let record = RunRecord { order: 3, experiment: "first".to_owned(), ..RunRecord::default() };
        folder.write(&record).unwrap();
        assert!(folder.write(&RunRecord { experiment: "second".to_owned(), ..record }).is_err());
        assert_eq!(folder.read().unwrap().records[0].experiment, "first");
    }

    #[test]
    fn a_damaged_record_is_named_and_the_others_are_read() {
        let state = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(state.path(), "x", 5).unwrap();
        folder.write(&RunRecord::default()).unwrap();
        std::fs::write(folder.dir().join("0007.json"), "{").unwrap();
        let contents = folder.read().unwrap();
        assert_eq!(contents.records.len(), 1);
        assert!(contents.unreadable[0].contains("0007.json"));
    }

    #[test]
    fn folders_of_other_experiments_with_the_same_beginning_are_left_out() {
        let state = tempfile::tempdir().unwrap();
        RunFolder::create(state.path(), "code", 5).unwrap();
        RunFolder::create(state.path(), "code-plus-data", 9).unwrap();
        RunFolder::create(state.path(), "code-plus-data", 10).unwrap();
        assert_eq!(RunFolder::all(state.path(), "code").len(), 1);
        let latest = RunFolder::all(state.path(), "code-plus-data").pop().unwrap();
        latest.write(&RunRecord::default()).unwrap();
        assert_eq!((latest.count(), RunFolder::open(&state.path().join("none")).count()), (1, 0));
        assert!(latest.dir().ends_with("code-plus-data-0000000000010"));
    }
}
