//! What other tools call used, free, cache and available, with the formula of each.
//!
//! A table of formulas ([`recipes`]), read from each tool's source, put to this machine's counters, and the
//! difference between two of them told in parts that do not overlap. Not a judgement which of them is right, and
//! it starts no other program: a row holds for the versions it names, whether the tool is installed or not ([`for_row`] says which are).
//!
//! Every formula is a sum of counters. Two formulas are compared by splitting each counter into parts: `MemTotal` is free
//! pages, file cache, buffers, shared memory, reclaimable and other slab, process memory and the rest; `MemAvailable` is the
//! parts that could be freed less what the kernel holds back. The parts of a difference add up to it to the byte.
//!
//! Worked example: 1000 in all, 100 free, 600 cached of which 50 shared, 40 reclaimable slab, 650 available. Total less
//! available is 350. Total less free, cache and reclaimable slab is 260. Between them are 90: 50 of shared memory, which is in
//! the cache and cannot be dropped, and 40 held back.

mod counter;
mod installed;
mod recipes;

use crate::prelude::*;
pub use counter::{Counter, Sign};
use counter::{Inputs, Part};
pub use installed::{Here, Installed, PROGRAMS, Program, for_row, version_in};
use recipes::{Floor, GROUP};
pub use recipes::{Recipe, SYSTEM};

/// One counter in a formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// Added or taken away.
    pub sign: Sign,
    /// The counter, under the kernel's name.
    pub counter: String,
    /// Its value here. Gauge.
    pub bytes: Bytes,
}

/// A sum of counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Formula {
    /// What the tool calls it: `used`, `buff/cache`, `kbmemused`.
    pub name: String,
    /// The counters.
    pub terms: Vec<Term>,
    /// The sum. Gauge.
    pub bytes: Bytes,
    /// The sum would be below zero, and the tool shows this instead.
    pub instead: Option<String>,
}

/// Some bytes that one formula counts and another does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What they are.
    pub what: String,
    /// More than in the other formula; below zero, less.
    pub bytes: SignedBytes,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// A name for programs, never reused for another formula.
    pub id: String,
    /// The tool, or those that agree by sharing a library.
    pub tool: String,
    /// The versions the formula holds for.
    pub versions: String,
    /// Of versions hardly found any more: left out of the spread.
    pub old: bool,
    /// What it calls used; `None` where a counter it needs is missing.
    pub used: Option<Formula>,
    /// What it calls cache.
    pub cache: Option<Formula>,
    /// What it calls available.
    pub available: Option<Formula>,
    /// What it calls swap used.
    pub swap_used: Option<Formula>,
    /// A counter of `used` that this kernel does not have.
    pub missing: Option<String>,
    /// `used` against that of the row above; empty when both are the same.
    pub differs: Vec<Difference>,
    /// Why it counts so, and what it does specially.
    pub why: String,
    /// Where the formula was read: project, version, file.
    pub source: String,
    /// What of the tool is installed here; `None` where nothing is, and where that was not looked for.
    #[serde(default)]
    pub here: Option<Here>,
}

impl Row {
    /// What it calls used, of a whole (0 to 1, more where it counts more than the whole); `None` where it is not known.
    #[must_use]
    pub fn share_of(&self, whole: Bytes) -> Option<f64> {
        self.used.as_ref()?.bytes.share_of(whole)
    }
}

/// What each row calls used, of the largest among the versions in use (old ones may be above 1).
pub fn shares_of_largest(rows: &[Row]) -> impl Iterator<Item = Option<f64>> + '_ {
    let current = rows.iter().filter(|row| !row.old).filter_map(|row| row.used.as_ref());
    let largest = current.map(|formula| formula.bytes).max().unwrap_or_default();
    rows.iter().map(move |row| row.share_of(largest))
}

/// The lowest and the highest `used` of the versions in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Spread")]
pub struct ToolSpread {
    /// The tool that shows least, with its versions.
    pub least: String,
    /// How much.
    pub least_bytes: Bytes,
    /// The tool that shows most, with its versions.
    pub most: String,
    /// How much.
    pub most_bytes: Bytes,
    /// What lies between them, the largest part first.
    pub between: Vec<Difference>,
}

/// The tools that speak of the whole machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemTable {
    /// RAM the kernel manages.
    pub mem_total: Bytes,
    /// Pages nobody uses; every tool agrees on this one.
    pub mem_free: Option<Bytes>,
    /// The tools.
    pub rows: Vec<Row>,
    /// `None` when fewer than two could be computed.
    pub spread: Option<ToolSpread>,
    /// What all of them treat alike and a reader may not expect, in sentences.
    pub notes: Vec<String>,
}

/// All tools that speak of the whole machine; `None` without /proc/meminfo.
#[must_use]
pub fn for_system(snapshot: &Snapshot) -> Option<SystemTable> {
    let inputs = Inputs::for_system(snapshot)?;
    let rows = rows(&inputs, SYSTEM);
    let spread = spread(&inputs, &rows, SYSTEM);
    let mem_total = snapshot.mem_total()?;
    let mem_free = inputs.read(Counter::Free).map(|(_, bytes)| Bytes(bytes));
    Some(SystemTable { mem_total, mem_free, rows, spread, notes: notes(snapshot) })
}

/// The rows of a table of recipes, each compared with the last one above it that could be computed.
fn rows(inputs: &Inputs<'_>, recipes: &[Recipe]) -> Vec<Row> {
    let mut above: Option<&Recipe> = None;
    let mut rows = Vec::new();
    for recipe in recipes.iter().filter(|r| inputs.applies(r.only)) {
        let used = inputs.formula(recipe.used_name, recipe.used, recipe.floor);
        let differs = match (above, &used) {
            (Some(above), Ok(_)) => inputs.difference(recipe.used, above.used),
            _ => Vec::new(),
        };
        if used.is_ok() {
            above = Some(recipe);
        }
        let [cache, available, swap_used] = recipe
            .others
            .map(|(name, terms)| if terms.is_empty() { None } else { inputs.formula(name, terms, Floor::Zero).ok() });
        rows.push(Row {
            id: recipe.id.to_owned(),
            tool: recipe.tool.to_owned(),
            versions: recipe.versions.to_owned(),
            old: recipe.old,
            missing: used.as_ref().err().map(|counter| (*counter).to_owned()),
            used: used.ok(),
            cache,
            available,
            swap_used,
            differs,
            why: recipe.why.to_owned(),
            source: recipe.source.to_owned(),
            here: None,
        });
    }
    rows
}

fn spread(inputs: &Inputs<'_>, rows: &[Row], recipes: &[Recipe]) -> Option<ToolSpread> {
    let told = || rows.iter().filter(|row| !row.old).filter_map(|row| Some((row, row.used.as_ref()?.bytes)));
    // The first of equals: the tool people know best stands first.
    let (least, least_bytes) = told().min_by_key(|(_, bytes)| *bytes)?;
    let (most, most_bytes) = told().rev().max_by_key(|(_, bytes)| *bytes)?;
    if least_bytes == most_bytes {
        return None;
    }
    let terms = |id: &str| recipes.iter().find(|r| r.id == id).map(|r| r.used);
    let name = |row: &Row| format!("{}; {}", row.tool, row.versions);
    Some(ToolSpread {
        least: name(least),
        least_bytes,
        most: name(most),
        most_bytes,
        between: inputs.difference(terms(&most.id)?, terms(&least.id)?),
    })
}

impl Inputs<'_> {
    /// Computes a sum; the name of the first counter this kernel lacks otherwise.
    fn formula(&self, name: &str, terms: &[(Sign, Counter)], floor: Floor) -> Result<Formula, &'static str> {
        let mut out = Vec::new();
        let mut sum = 0i128;
        for (sign, counter) in terms {
            match self.read(*counter) {
                Some((_, 0)) if counter.is_optional() => {}
                Some((name, bytes)) => {
                    sum += sign.apply(i128::from(bytes));
                    out.push(Term { sign: *sign, counter: name.to_owned(), bytes: Bytes(bytes) });
                }
                None if counter.is_optional() => {}
                None => return Err(counter.name(self.version)),
            }
        }
        let (value, instead) = if sum < 0 { self.floored(floor) } else { (sum, None) };
        Ok(Formula {
            name: name.to_owned(),
            terms: out,
            bytes: Bytes(u64::try_from(value.max(0)).unwrap_or(u64::MAX)),
            instead,
        })
    }

    /// What a tool shows in place of a negative sum.
    fn floored(&self, floor: Floor) -> (i128, Option<String>) {
        let value = |counter| self.read(counter).map_or(0, |(_, bytes)| i128::from(bytes));
        match floor {
            Floor::Zero => (0, Some("0".to_owned())),
            Floor::TotalLessFree => {
                (value(Counter::Total) - value(Counter::Free), Some("MemTotal - MemFree".to_owned()))
            }
            Floor::Usage => (value(Counter::Current), Some("the usage itself".to_owned())),
        }
    }

    /// What the first formula counts beyond the second, largest part first.
    fn difference(&self, these: &[(Sign, Counter)], those: &[(Sign, Counter)]) -> Vec<Difference> {
        let mut parts: BTreeMap<Part, i128> = BTreeMap::new();
        for (terms, factor) in [(these, 1), (those, -1)] {
            for (sign, counter) in terms {
                for (part, amount) in self.parts(*counter) {
                    *parts.entry(part).or_default() += factor * sign.apply(amount);
                }
            }
        }
        let mut out: Vec<(Part, i128)> = parts.into_iter().filter(|(_, amount)| *amount != 0).collect();
        ramline_units::sort_by_key(&mut out, |(part, amount)| (std::cmp::Reverse(amount.unsigned_abs()), *part));
        out.into_iter()
            .map(|(part, amount)| Difference { what: part.words().to_owned(), bytes: SignedBytes::saturating(amount) })
            .collect()
    }
}

/// The tools that speak of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupTable {
    /// The group, below the hierarchy's mount.
    pub path: String,
    /// Its own limit; `None` without one.
    pub limit: Option<Bytes>,
    /// The tools.
    pub rows: Vec<Row>,
    /// `None` when all show the same.
    pub spread: Option<ToolSpread>,
}

/// The group we are in; `None` when that is the root, of which container tools do not speak.
#[must_use]
pub fn own_group(snapshot: &Snapshot) -> Option<GroupTable> {
    let cgroups = snapshot.cgroups.data()?;
    cgroups.own.as_ref().and_then(|own| table(own, cgroups.version))
}

/// The group of this path: below the mount (`/system.slice/x.service`), or as the directory it is. `None` when there is none
/// of that name, or nothing of its memory could be read.
#[must_use]
pub fn for_group(snapshot: &Snapshot, path: &str) -> Option<GroupTable> {
    let wanted = path.trim_end_matches('/');
    let is = |group: &&Group| {
        let known = group.path.trim_end_matches('/');
        let below = wanted.strip_prefix("/sys/fs/cgroup");
        known.trim_start_matches('/') == wanted.trim_start_matches('/')
            || (!known.is_empty()
                && below.is_some_and(|below| below == known || below.strip_prefix("/memory") == Some(known)))
    };
    let all = snapshot.groups.data();
    let few = snapshot.cgroups.data();
    let found = all
        .and_then(|groups| Some((groups.list.iter().find(is)?, groups.version?)))
        .or_else(|| few.and_then(|few| few.own.iter().chain([&few.root]).find(is).map(|group| (group, few.version))));
    found.and_then(|(group, version)| table(group, version))
}

fn table(group: &Group, version: Version) -> Option<GroupTable> {
    // The root of version 2 has none: container tools do not speak of it.
    group.current?;
    let inputs = Inputs::for_group(group, version);
    let rows = rows(&inputs, GROUP);
    let spread = spread(&inputs, &rows, GROUP);
    let limit = group.max.and_then(Limit::bytes);
    Some(GroupTable { path: group.path.clone(), limit, rows, spread })
}

/// What every row treats alike and a reader may not expect.
fn notes(snapshot: &Snapshot) -> Vec<String> {
    let Some(meminfo) = snapshot.meminfo.data() else { return Vec::new() };
    let mut out = Vec::new();
    let mut say = |bytes: Option<Bytes>, text: &str| {
        if let Some(bytes) = bytes.filter(|b| b.0 > 0) {
            out.push(format!("{bytes} {text}"));
        }
    };
    say(
        meminfo.hugetlb,
        "are set aside as huge pages. Every row of the machine counts them as used, whether a program uses them or not; \
         the usage of a group leaves them out.",
    );
    let pool: Option<Bytes> = snapshot
        .zram
        .data()
        .map(|zram| zram.devices.iter().filter_map(|device| device.mm.as_ref()).map(|stat| stat.mem_used_total).sum());
    say(
        pool,
        "are the compressed pool of zram. Every row of the machine counts them as used, and the same pages a second time as \
         swap used; no group is charged for them.",
    );
    say(
        meminfo.gpu_reclaim,
        "of graphics memory (GPUReclaim) could be given back at once. No tool here knows that: all count it as used.",
    );
    say(
        meminfo.gpu_active,
        "of graphics memory are in use (GPUActive): used for every row, and no process shows them.",
    );
    say(
        meminfo.balloon,
        "are lent to the hypervisor (Balloon). Where the driver takes them off MemTotal no row sees them; otherwise all count \
         them as used.",
    );
    if let Some(arc) = snapshot.zfs.data().copied().flatten() {
        say(
            Some(arc.size),
            "are the ZFS cache, which the kernel does not count as cache. htop, btop, Netdata and newer glances take off \
             what it could give back; the others count all of it as used.",
        );
    }
    out
}

#[cfg(test)]
mod tests;
