//! The arms of read-path: single calls to be recorded, and the questions they leave open, each measured by itself.

use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "read-path";

/// All but the sizes of `lookup`.
pub const DEFAULT: &str = "disk-read-cold,disk-read-warm,disk-write-new,disk-write-again,disk-fsync,tmpfs-read,tmpfs-write-new,\
     tmpfs-write-again,disk-flood,calls-disk,calls-tmpfs,twice-disk,twice-tmpfs,lookup:64KiB,lookup:1MiB,lookup:16MiB,lookup:256MiB";

/// For the command line.
pub const HELP: &str = "Settings, comma-separated. Recorded: disk-read-cold, disk-read-warm, disk-write-new, disk-write-again, disk-fsync, \
     tmpfs-read, tmpfs-write-new, tmpfs-write-again, disk-flood (where a writer stalls). Measured: calls-disk, calls-tmpfs (user and \
     system time), twice-disk, twice-tmpfs (memory for each byte), lookup:SIZE (time of a look-up by file size)";

/// Which file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Disk,
    Tmpfs,
}

/// A call that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    ReadCold,
    ReadWarm,
    WriteNew,
    WriteAgain,
    Fsync,
}

impl Call {
    /// Its name in the kernel.
    pub const fn name(self) -> &'static str {
        match self {
            Call::ReadCold | Call::ReadWarm => "pread64",
            Call::WriteNew | Call::WriteAgain => "pwrite64",
            Call::Fsync => "fsync",
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Call::ReadCold => "a read of 4 KiB that is not in the page cache",
            Call::ReadWarm => "a read of 4 KiB that is in memory",
            Call::WriteNew => "a write of 4 KiB to a page that was not there",
            Call::WriteAgain => "a write of 4 KiB over a page that is in memory",
            Call::Fsync => "an fsync after a write of 4 KiB",
        }
    }
}

/// What an arm does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmKind {
    Recorded(Call, On),
    Flood,
    Calls(On),
    Twice(On),
    Lookup(Bytes),
}

/// Of a name; `None` when there is no such arm.
pub fn kind(name: &str) -> Option<ArmKind> {
    use Call::{Fsync, ReadCold, ReadWarm, WriteAgain, WriteNew};
    Some(match name {
        "disk-read-cold" => ArmKind::Recorded(ReadCold, On::Disk),
        "disk-read-warm" => ArmKind::Recorded(ReadWarm, On::Disk),
        "disk-write-new" => ArmKind::Recorded(WriteNew, On::Disk),
        "disk-write-again" => ArmKind::Recorded(WriteAgain, On::Disk),
        "disk-fsync" => ArmKind::Recorded(Fsync, On::Disk),
        "tmpfs-read" => ArmKind::Recorded(ReadWarm, On::Tmpfs),
        "tmpfs-write-new" => ArmKind::Recorded(WriteNew, On::Tmpfs),
        "tmpfs-write-again" => ArmKind::Recorded(WriteAgain, On::Tmpfs),
        "disk-flood" => ArmKind::Flood,
        "calls-disk" => ArmKind::Calls(On::Disk),
        "calls-tmpfs" => ArmKind::Calls(On::Tmpfs),
        "twice-disk" => ArmKind::Twice(On::Disk),
        "twice-tmpfs" => ArmKind::Twice(On::Tmpfs),
        _ => ArmKind::Lookup(name.strip_prefix("lookup:")?.parse().ok().filter(|size| good(*size))?),
    })
}

/// Pages, and no more than a look at a machine's memory bears.
fn good(size: Bytes) -> bool {
    size.0.is_multiple_of(4096) && (Bytes(4096)..=Bytes::from_gib(4)).contains(&size)
}

/// Arms from the command line.
///
/// # Errors
/// One that there is not, or that stands twice.
pub fn parse(texts: &[String]) -> Result<Vec<Arm>> {
    const EXAMPLE: &str = "--arms disk-read-cold,disk-read-warm,lookup:1MiB";
    for (index, text) in texts.iter().enumerate() {
        let why = format!(
            "there is no setting '{}'; a lookup takes 4KiB to 4GiB in whole pages. {HELP}",
            text.escape_debug()
        );
        refuse_if(kind(text).is_none(), NAME, EXAMPLE, why)?;
        refuse_if(texts[..index].contains(text), NAME, EXAMPLE, format!("the setting {text} stands twice"))?;
    }
    refuse_if(texts.is_empty(), NAME, EXAMPLE, "at least one setting is needed")?;
    Ok(texts.iter().map(|text| Arm::named(text, &[])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_arm_is_one_and_nonsense_is_refused_by_name() {
        let texts: Vec<String> = DEFAULT.split(',').map(str::to_owned).collect();
        assert_eq!(parse(&texts).unwrap().len(), 17);
        for bad in ["lookup:", "lookup:5KiB", "lookup:8GiB", "disk-read", "twice"] {
            let error = parse(&[bad.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(&format!("no setting '{bad}'")), "{error}");
        }
        assert!(parse(&vec!["calls-disk".to_owned(); 2]).unwrap_err().to_string().contains("stands twice"));
    }
}
