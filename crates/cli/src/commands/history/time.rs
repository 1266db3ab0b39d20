//! What all of `ramline history` ask for: the files, and a time.

use ramline_recorder::Archive;

use crate::prelude::*;
use crate::when;

/// A time that was recorded.
#[derive(Debug, Clone, Default, Args)]
pub struct Span {
    /// From this moment on [default: the last 24 hours]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Up to this one
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Yesterday, from midnight to midnight
    #[arg(long, conflicts_with_all = ["from", "to"])]
    yesterday: bool,
}

const DAY: i64 = 24 * 3600;

impl Span {
    /// Its ends, in milliseconds since 1970.
    ///
    /// # Errors
    /// A time is none, or they are in the wrong order.
    pub fn ends(&self) -> Result<(u64, u64)> {
        let now = when::now();
        let ends = if self.yesterday {
            let today = when::words(now).split_once(' ').map(|(day, _)| day.to_owned()).unwrap_or_default();
            (when::parse("00:00", true, now)?, when::parse(&today, false, now)?)
        } else {
            let of = |text: &Option<String>| text.as_deref().map(|text| when::parse(text, false, now)).transpose();
            let (from, to) = (of(&self.from)?, of(&self.to)?.unwrap_or(now));
            (from.unwrap_or(to.saturating_sub(DAY)), to)
        };
        let text = "--to is not after --from\n  try: --from 00:30 --to 01:00";
        ensure!(ends.1 > ends.0, Failure::usage(text));
        let ms = |seconds: i64| u64::try_from(seconds).unwrap_or_default().saturating_mul(1000);
        Ok((ms(ends.0), ms(ends.1).saturating_add(999)))
    }
}

/// The files of a directory; of one that is not there, none.
///
/// # Errors
/// It cannot be read.
pub fn archive(dir: &Path) -> Result<Option<Archive>> {
    if !dir.exists() {
        return Ok(None);
    }
    Ok(Some(Archive::open(dir)?))
}

/// A file's name.
pub fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
