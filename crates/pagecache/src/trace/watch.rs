//! `cache watch`: how much of some files is in the page cache over time, and who pushes them out.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramline_act::{Result, Run};
use ramline_kernel::{process, signals};
use ramline_snapshot::cache::{Look, Watched};
use ramline_units::{Bytes, Nanos};

use super::count::Counter;
use super::names::Names;
use super::recording::{Recording, Wanted};
use super::{ROUND, of_files};
use crate::remarks::name;
use crate::{Context, evictors, stat, walk};

/// How it is watched.
pub struct Watching<'a> {
    /// How long; until a signal comes otherwise.
    pub lasts: Option<Duration>,
    /// Between two looks at what is there.
    pub every: Duration,
    /// Told of every look as it is taken.
    pub looked: &'a dyn Fn(&Look),
}

/// Watches files, and those below directories.
///
/// # Errors
/// As [`super::trace`].
pub fn watch(
    context: Context<'_>,
    run: &mut Run,
    paths: &[PathBuf],
    walking: &walk::Options,
    how: &Watching<'_>,
) -> Result<Watched> {
    let files = of_files::of(context, paths, walking)?;
    let wanted = Wanted { requests: false, files: &files, everybody: true };
    let mut recording = Recording::make(run, &wanted)?;
    let mut counter = Counter::new(Names::new(context.root, &files.names), recording.level());
    files.names.keys().for_each(|file| counter.watch(*file));
    recording.start()?;
    let began = Instant::now();
    let mut looks: Vec<Look> = Vec::new();
    let is_over = |began: Instant| signals::interrupted() || how.lasts.is_some_and(|lasts| began.elapsed() >= lasts);
    let look = |looks: &mut Vec<Look>| {
        let seen = stat::stat(context, paths, walking, &stat::Options::default());
        let look = Look { at: nanos(began.elapsed()), tally: seen.total };
        (how.looked)(&look);
        looks.push(look);
    };
    while !is_over(began) {
        let next = how.every.saturating_mul(u32::try_from(looks.len()).unwrap_or(u32::MAX));
        if began.elapsed() >= next {
            look(&mut looks);
        }
        recording.take(false, |event| counter.take(event))?;
        counter.end_round();
        std::thread::sleep(ROUND);
    }
    recording.stop()?;
    let lasted = began.elapsed();
    recording.take(true, |event| counter.take(event))?;
    if !signals::interrupted() {
        look(&mut looks);
    }
    let mut recorded = recording.end()?;
    recorded.lasted = nanos(lasted);
    let counted = counter.finish(|names, file| {
        let (path, length) = names.of(file);
        (name(&path), length.map(Bytes))
    });
    let mut out = Watched {
        page: Bytes(process::page_size()),
        named: paths.iter().map(|path| name(path)).collect(),
        recorded,
        looks,
        evictors: evictors::evictors(context.root),
        ..Watched::default()
    };
    let given: BTreeSet<_> = files.names.values().map(|path| name(path)).collect();
    out.files = counted.files.into_iter().filter(|file| given.contains(&file.name)).collect();
    out.files.iter().for_each(|file| out.total.add(&file.touched));
    out.files.retain(|file| file.touched.evicted + file.touched.dropped + file.touched.refaulted > 0);
    ramline_units::sort_by_key(&mut out.files, |file| std::cmp::Reverse(file.touched.evicted + file.touched.dropped));
    out.pushed = counted.pushed;
    Ok(out)
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}
