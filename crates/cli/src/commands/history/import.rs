//! `ramline history import`: sysstat's old files as history.

use ramline_history::sadf;
use ramline_kernel::input;
use ramline_recorder::Limits;

use crate::prelude::*;
use crate::when;

/// Take in old data of sysstat: what 'sadf -j FILE -- -A' prints, into a directory of its own
///
/// Memory, paging, swapping, stalls and processors of that time are then shown by 'history sar' and by every screen with --at, where it is named with --history.
#[derive(Debug, Args)]
pub struct Import {
    /// Files, or pipes: <(sadf -j /var/log/sysstat/sa29 -- -A)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl Import {
    /// Runs the command.
    ///
    /// # Errors
    /// No directory is named, a file is none of sadf's or of another host, or the directory has history already.
    pub fn run(&self, dir: Option<&Path>) -> Result<u8> {
        let Some(dir) = dir else {
            let text = "import: into which directory?\n  try: ramline history import FILE --history ./old";
            return Err(Failure::usage(text).into());
        };
        let read = |file: &PathBuf| -> Result<(String, String)> {
            let text = input::read_named_text("read the data of sysstat", file, input::DOCUMENT)?;
            Ok((ramline_view::escape(&file.display().to_string()).into_owned(), text))
        };
        let texts: Vec<_> = self.files.iter().map(read).collect::<Result<_>>()?;
        let hint = "sadf -j /var/log/sysstat/sa29 -- -A > FILE";
        let host = sadf::host(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
            .map_err(|why| Failure::usage(format!("{}\n  try: {hint}", ramline_view::escape(&why.to_string()))))?
            .ok_or_else(|| Failure::usage(format!("there is no moment in it\n  try: {hint}")))?;
        let seconds = |ms: u64| when::words(i64::try_from(ms / 1000).unwrap_or_default());
        let ends = [host.moments.first(), host.moments.last()].map(|one| one.map_or(0, |one| one.at.wall_ms));
        let limits = Limits { size: Bytes(u64::MAX), age: Duration::from_secs(u64::MAX / 2000) };
        let done = ramline_recorder::import(dir, host, limits, env!("CARGO_PKG_VERSION"))?;
        let place = ramline_units::quoted_path(dir);
        stdio::tell(&format!(
            "{} moments from {} to {} are in {} ({})\n  try: ramline history sar -r --from '{}' --history {place}",
            done.frames,
            seconds(ends[0]),
            seconds(ends[1]),
            place,
            Bytes(done.bytes),
            seconds(ends[0]),
        ));
        Ok(exit::DONE)
    }
}
