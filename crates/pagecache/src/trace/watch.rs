//! `cache watch`: how much of some files is in the page cache over time, and who pushes them out.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use ramline_act::{Result, Run};
use ramline_kernel::signals;
use ramline_snapshot::cache::{Look, Watched};

use super::of_files;
use super::recording::Wanted;
use super::session::{ROUND, Session};
use crate::remarks::name;
use crate::shared::bytes;
use crate::stat::StatOptions;
use crate::walk::WalkOptions;
use crate::{Context, evictors, stat};

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
    walking: &WalkOptions,
    how: &Watching<'_>,
) -> Result<Watched> {
    let files = of_files::of(context, paths, walking)?;
    let wanted = Wanted { requests: false, files: &files, everybody: true };
    let mut session = Session::make(context, run, &wanted)?;
    files.names.keys().for_each(|file| session.counter.watch(*file));
    session.start()?;
    let mut looks: Vec<Look> = Vec::new();
    let look = |looks: &mut Vec<Look>, session: &Session| {
        let seen = stat::stat(context, paths, walking, &StatOptions::default());
        let look = Look { at: session.elapsed().into(), tally: seen.total };
        (how.looked)(&look);
        looks.push(look);
    };
    while !signals::interrupted() && how.lasts.is_none_or(|lasts| session.elapsed() < lasts) {
        let next = how.every.saturating_mul(u32::try_from(looks.len()).unwrap_or(u32::MAX));
        if session.elapsed() >= next {
            look(&mut looks, &session);
        }
        session.round(|_| true)?;
        std::thread::sleep(ROUND);
    }
    session.stop(|_| true)?;
    if !signals::interrupted() {
        look(&mut looks, &session);
    }
    let (recorded, counted) = session.end()?;
    let mut out = Watched {
        page: bytes(1),
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
