//! `show tmpfs`: what the file systems in RAM hold and may hold, and whether a directory would fit into one.
//!
//! Below them, `Shmem` taken apart by kind and owner: `shared`.
//!
//! What lies in tmpfs is lost at a reboot and may reach swap, if there is any, unencrypted.

mod shared;

use ramline_model::shmem::{self, Split};
use ramline_model::tmpfs::{self, Fit, Model, TmpfsMount, TmpfsState};
use ramline_snapshot::shmem::Shmem;

use crate::prelude::*;

pub use shared::{TmpfsBy, TmpfsOptions};

/// File systems in RAM, and directories held against it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowTmpfs {
    /// Version of this document.
    pub schema_version: u64,
    /// The mounts; `None` where they were not seen.
    pub tmpfs: Option<TmpfsState>,
    /// `Shmem` taken apart; `None` where it was not looked at.
    pub shared: Option<Split>,
    /// What that is made of: file systems, segments, files without a name, owners, ages, the largest files.
    pub shared_memory: Option<Shmem>,
    /// The directories that were walked.
    pub would_fit: Vec<Fit>,
    /// Swap areas tmpfs could go to; `None` where /proc/swaps was not seen.
    pub swap_areas: Option<usize>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
    /// What the text shows of it.
    #[serde(skip)]
    pub shown: TmpfsOptions,
}

impl ShowTmpfs {
    /// What it looks at; of groups nothing is shown but by name.
    pub const WANTED: Wanted = Wanted { mounts: true, swaps: true, dirs: true, shmem: true, ..super::MEMORY };

    /// From a snapshot; its `dirs` section supplies the directories.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        let dirs = snapshot.dirs.data().map(Vec::as_slice).unwrap_or_default();
        ShowTmpfs {
            schema_version: SCHEMA_VERSION,
            tmpfs: tmpfs::from_snapshot(snapshot),
            shared: shmem::from_snapshot(snapshot),
            shared_memory: snapshot.shmem.data().cloned(),
            would_fit: dirs.iter().filter_map(|dir| tmpfs::would_fit(dir, snapshot)).collect(),
            swap_areas: snapshot.swaps.data().map(Vec::len),
            unseen: super::unseen_of(snapshot, &["mounts", "meminfo", "dirs", "shmem"]),
            shown: TmpfsOptions::default(),
        }
    }
}

impl Screen for ShowTmpfs {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let shared = self.shared.as_ref().zip(self.shared_memory.as_ref());
        match &self.tmpfs {
            Some(state) => mounts(&mut sheet, state, shared.is_some()),
            None => sheet.answer(Paint::Bold, "Which file systems are in RAM is not known: the mounts were not seen."),
        }
        if let Some((split, seen)) = shared {
            shared::sheet(&mut sheet, split, seen, &self.shown);
        }
        fits(&mut sheet, &self.would_fit);
        if !self.would_fit.is_empty() {
            sheet.blank();
            sheet.dim(match self.swap_areas {
                Some(0) => "What lies in tmpfs does not survive a reboot.",
                Some(_) => "What lies in tmpfs does not survive a reboot, and under pressure it reaches the swap area unencrypted.",
                None => "What lies in tmpfs does not survive a reboot; where there is swap, it may reach it unencrypted.",
            });
        }
        super::unseen(&mut sheet, &self.unseen);
        sheet
    }
}

pub(crate) fn mounts(sheet: &mut Sheet, state: &TmpfsState, taken_apart: bool) {
    let over = state.limits_over_ram.map(|share| format!(", {} of RAM", number::percent(share))).unwrap_or_default();
    sheet.answer(
        Paint::Bold,
        format!("File systems in RAM use {} (now); together they may take {}{over}.", state.used, state.limits),
    );
    let (used, empty): (Vec<&TmpfsMount>, Vec<&TmpfsMount>) =
        state.mounts.iter().partition(|mount| mount.used.is_none_or(|used| used.0 > 0));
    sheet.blank();
    sheet.table(mounts_table(&used));
    sheet.more("Mounts with nothing in them", |more| more.table(mounts_table(&empty)));
    quotas(sheet, state);
    if let Some(elsewhere) = state.elsewhere.filter(|_| !taken_apart) {
        sheet.line(if elsewhere.is_negative() {
            format!("The mounts hold {} more than Shmem counts in RAM (now): as much of them is on swap.", elsewhere.magnitude())
        } else {
            format!("{elsewhere} of Shmem are in no mount seen here (now): shared segments, memfd, graphics, other name spaces.")
        });
    }
}

/// Users and groups shown of one file system: the fullest.
const MOST_USERS: usize = 5;

/// The third limit beside bytes and inodes.
fn quotas(sheet: &mut Sheet, state: &TmpfsState) {
    let no_limit = || "no limit".to_owned();
    let or_none = |bytes: Option<Bytes>| bytes.map_or_else(no_limit, |bytes| bytes.to_string());
    let mut table = Table::new(vec![
        Column::wrapped("mount"),
        Column::left("of"),
        Column::right("used"),
        Column::right("allowed"),
        Column::right("share"),
        Column::right("inodes"),
    ]);
    for (mount, quotas) in state.mounts.iter().filter_map(|mount| Some((mount, mount.quotas.as_ref()?))) {
        for it in quotas.uses.iter().take(MOST_USERS) {
            let near = if it.fullest() >= 0.9 { Paint::Warn } else { Paint::Plain };
            let (used, allowed) = (it.quota.inodes_used, it.quota.inode_limit.map_or_else(no_limit, number::count));
            table.row([
                Cell::from(&mount.at),
                it.who().into(),
                it.quota.used.into(),
                or_none(it.quota.limit).into(),
                Cell::painted(near, it.share.map(number::percent)),
                Cell::painted(near, format!("{} of {allowed}", number::count(used))),
            ]);
        }
        let none = Cell::default;
        for default in &quotas.defaults {
            let who = if default.group { "any other group" } else { "any other user" };
            let (bytes, inodes) = (or_none(default.bytes).into(), default.inodes.into());
            table.row([Cell::from(&mount.at), who.into(), none(), bytes, none(), inodes]);
        }
        if quotas.uses.is_empty() && quotas.defaults.is_empty() {
            table.row([Cell::from(&mount.at), "users".into(), none(), "not known".into(), none(), none()]);
        }
    }
    sheet.headed_table("Quotas: what one user may use (at it, writes fail with \"Disk quota exceeded\")", table);
}

fn mounts_table<'a>(mounts: &[&'a TmpfsMount]) -> Table<&'a TmpfsMount> {
    let place = |mount: &TmpfsMount| match mount.also_at.as_slice() {
        [] => mount.at.clone(),
        also => format!("{} (also {})", mount.at, also.join(", ")),
    };
    let limit = |mount: &TmpfsMount| match mount.size {
        Some(Limit::At(bytes)) => bytes.to_string(),
        Some(Limit::Max) => "no limit".to_owned(),
        None => "not known".to_owned(),
    };
    let inodes = |mount: &TmpfsMount| match mount.inodes_used.zip(mount.inodes) {
        Some((used, all)) => format!("{} of {}", number::count(used), number::count(all)),
        None => "no limit".to_owned(),
    };
    Table::from_rows(mounts.iter().copied())
        .wrapped("mount", place)
        .column(Column::left("type").spare(), |mount| &mount.fs)
        .right("uses", |mount| number::known(mount.used))
        .right("at most", limit)
        .right("share", |mount| mount.share.map(number::percent))
        .bar(|mount| mount.share)
        .column(Column::right("of RAM").spare(), |mount| mount.share_of_ram.map(number::percent))
        .right("inodes", inodes)
        .column(Column::left("may go to swap").spare(), |mount| if mount.swappable { "yes" } else { "no" })
}

/// The model in words.
fn model_words(model: Model) -> &'static str {
    match model {
        Model::HalfOfRam => "half of RAM (the size a tmpfs gets by default)",
        Model::Mount => "the tmpfs it is on (its own bytes and what is free there)",
        Model::Quota => "a user's quota there (what the one with least room has left)",
        Model::HalfOfFree => "half of free memory (nothing else has to move)",
        Model::Available => "available memory (clean page cache is reclaimed)",
        Model::FreePlusSwap => "free memory and free swap",
        Model::Inodes => "inodes (what a tmpfs gets by default, or its own)",
    }
}

/// The answer for one directory in one sentence.
pub(crate) fn fit_sentence(fit: &Fit) -> String {
    let need = if fit.lower_bound { format!("at least {}", fit.need) } else { fit.need.to_string() };
    let place = if fit.already_tmpfs { "is in RAM already and needs" } else { "would need" };
    let answer = match (fit.fits, fit.lower_bound) {
        (true, false) => "it fits".to_owned(),
        (true, true) => "it fits, as far as it was walked".to_owned(),
        (false, _) => {
            let broken = fit.margins.iter().filter(|m| m.margin.is_negative()).map(|m| short(m.model));
            let broken: Vec<&str> = broken.chain((fit.inode_margin < 0).then_some("inodes")).collect();
            let holds = fit.margins.iter().filter(|m| !m.margin.is_negative()).map(|m| short(m.model));
            let holds: Vec<&str> = holds.collect();
            let rest = if holds.is_empty() { String::new() } else { format!("; it fits into {}", holds.join(", ")) };
            format!("does not fit into {}{rest}", broken.join(", "))
        }
    };
    let files = number::things(fit.inodes, "inode");
    let room = fit.margins.iter().find(|m| Some(m.model) == fit.breaks_first && !m.margin.is_negative());
    let first = room
        .filter(|_| fit.fits)
        .map(|m| format!("; it could grow by {} until {} is used up", m.margin.magnitude(), short(m.model)));
    format!("{} {place} {need} and {files}: {answer}{}", fit.path, first.unwrap_or_default())
}

fn short(model: Model) -> &'static str {
    match model {
        Model::HalfOfRam => "half of RAM",
        Model::Mount => "its own tmpfs",
        Model::Quota => "a user's quota",
        Model::HalfOfFree => "half of the free memory",
        Model::Available => "what is available",
        Model::FreePlusSwap => "free memory and swap",
        Model::Inodes => "inodes",
    }
}

pub(crate) fn fits(sheet: &mut Sheet, fits: &[Fit]) {
    if fits.is_empty() {
        return;
    }
    sheet.heading("Would these directories fit into RAM?");
    for fit in fits.iter().filter(|fit| fit.need.0 > 0 || !fit.fits) {
        let paint = if fit.fits { Paint::Plain } else { Paint::Warn };
        sheet.painted(paint, format!("{}.", fit_sentence(fit)));
    }
    sheet.more("What each limit would leave (negative: it breaks)", |more| limits(more, fits));
}

fn limits(sheet: &mut Sheet, fits: &[Fit]) {
    let margin = |fit: &Fit, model: Model| match fit.margins.iter().find(|m| m.model == model) {
        None => Cell::from("not known"),
        Some(m) => Cell::painted(if m.margin.is_negative() { Paint::Warn } else { Paint::Plain }, m.margin),
    };
    let is_mount = |fit: &Fit| fit.margins.iter().any(|m| m.model == Model::Mount);
    let first = |fit: &Fit| if is_mount(fit) { Model::Mount } else { Model::HalfOfRam };
    let inodes_left = |fit: &Fit| {
        let sign = if fit.inode_margin < 0 { "-" } else { "" };
        let left = || format!("{sign}{}", number::count(fit.inode_margin.unsigned_abs()));
        if fit.inode_limit == u64::MAX { "no limit".to_owned() } else { left() }
    };
    let table = Table::from_rows(fits)
        .wrapped("directory", |fit| &fit.path)
        .right("needs", |fit| format!("{}{}", if fit.lower_bound { ">= " } else { "" }, fit.need))
        .right(if fits.iter().any(is_mount) { "RAM/2 or mount" } else { "half of RAM" }, |fit| margin(fit, first(fit)))
        .right("half of free", |fit| margin(fit, Model::HalfOfFree))
        .right("available", |fit| margin(fit, Model::Available))
        .right("free + swap", |fit| margin(fit, Model::FreePlusSwap))
        .right("inodes", |fit| fit.inodes)
        .right("inodes left", inodes_left);
    sheet.table(table);
    for fit in fits {
        sheet.point("  - ", aside(fit).map(|aside| format!("{}: {aside}.", fit.path)));
    }
    let mut limits: Vec<String> =
        fits.iter().flat_map(|f| &f.margins).map(|m| format!("{} {}", model_words(m.model), m.limit)).collect();
    let mut told = std::collections::BTreeSet::new();
    limits.retain(|limit| told.insert(limit.clone()));
    sheet.dim(format!("Limits: {}. No limit credits what is in the page cache already.", limits.join("; ")));
}

/// What is cached already, and what would have to leave.
fn aside(fit: &Fit) -> Option<String> {
    let mut out = Vec::new();
    out.extend(fit.cached.filter(|c| c.0 > 0 && !fit.already_tmpfs).map(|cached| {
        format!(
            "{cached} of it are in the page cache already: moving them needs no further RAM, but they can then no longer be \
             dropped (without swap they stay)"
        )
    }));
    if let Some(gone) = fit.pushed_out {
        let parts = [
            (gone.cache, "of clean page cache"),
            (gone.swap, "of process memory to swap"),
            (gone.nowhere, "with no place to go"),
        ];
        let moved: Vec<String> = parts.iter().filter(|(b, _)| b.0 > 0).map(|(b, what)| format!("{b} {what}")).collect();
        out.extend((!moved.is_empty()).then(|| format!("it would push out {}", moved.join(", "))));
    }
    (!out.is_empty()).then(|| out.join("; "))
}
