//! `ramline record`: this machine, recorded until it is asked to end.

use ramline_recorder::{Limits, Options};

use crate::prelude::*;

/// Record this machine every few seconds, for 'show --at 00:46' and 'history'
#[derive(Debug, Args)]
pub struct Record {
    /// Where [default: /var/lib/ramline/history, or a place of this user's]
    #[arg(long = "history", alias = "dir", value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Time between frames, at least 1s
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "5s")]
    interval: Duration,
    /// All files together never take more; the oldest are removed
    #[arg(long, value_name = "SIZE", default_value = "400MiB")]
    max_size: Bytes,
    /// Days that are older are removed (30d, 12h)
    #[arg(long, value_name = "AGE", value_parser = duration::parse_days, default_value = "30d")]
    max_age: Duration,
    /// End after this long
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
}

/// Frames of a large machine have some 100 KB; an eighth of the cap must hold more than one.
const LEAST: Bytes = Bytes(1 << 20);
/// As low as a service that must outlive others is usually set; the kernel still may kill it last of all.
const LAST_TO_BE_KILLED: i16 = -900;

impl Record {
    /// Runs the command.
    ///
    /// # Errors
    /// The directory cannot be used, or another recorder has it.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("record")?;
        let text = "--interval: at least 1s, since each frame is work\n  try: ramline record --interval 5s";
        ensure!(self.interval >= Duration::from_secs(1), Failure::usage(text));
        let text =
            format!("--max-size: at least {LEAST}, or no frame of a large machine fits\n  try: --max-size 400MiB");
        ensure!(self.max_size >= LEAST, Failure::usage(text));
        let dir = self.dir.clone().map_or_else(state::history, Ok)?;
        signals::install();
        let root = source.kernel_root()?;
        // Refused to most users: it is recorded all the same.
        drop(process::avoid_oom_kill(&root, LAST_TO_BE_KILLED));
        let locked = process::lock_all().is_ok();
        let options = Options {
            dir: dir.clone(),
            interval: self.interval,
            limits: Limits { size: self.max_size, age: self.max_age },
            span: self.span,
            ramline: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let in_memory = if locked { "locked in memory" } else { "not locked in memory: that needs root" };
        stdio::tell(&format!(
            "recording to {} every {} s, {in_memory}",
            ramline_view::escape(&dir.display().to_string()),
            self.interval.as_secs_f64(),
        ));
        let ended = ramline_recorder::record(&root, &options, &mut |line| stdio::tell(&ramline_view::escape(line)))?;
        let lost = if ended.lost > 0 { format!("; {} could not be written", ended.lost) } else { String::new() };
        stdio::tell(&format!("recorded {} frames, {}{lost}", ended.frames, Bytes(ended.bytes)));
        Ok(if ended.lost > 0 { exit::PARTLY } else { exit::DONE })
    }
}
