//! `/proc/slabinfo`: the kernel's object caches, largest first. Root only.
//!
//! Example: `filp 100 320 256 16 1 : tunables 0 0 0 : slabdata 20 20 0` holds 20 slabs of 1 page, of which 100 objects of
//! 256 bytes are in use.

use crate::prelude::*;

/// The kernel's object caches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Slab {
    /// Those that hold a page, largest first.
    pub caches: Vec<Cache>,
}

/// One cache of objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// Its name.
    pub name: String,
    /// Pages it holds, as bytes. Gauge.
    pub held: Bytes,
    /// Of these, in objects that are in use. Gauge.
    pub in_use: Bytes,
}

impl Slab {
    /// Parses the file (format 2.x: since 2.6.9).
    ///
    /// # Errors
    /// Another format, or no line that is a cache, with path, line and text.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str, page: PageSize) -> Result<Self, Malformed> {
        let Some(head) = text.lines().next() else { return Err(Malformed::whole(from.path(), "")) };
        if !head.starts_with("slabinfo - version: 2.") {
            return Err(Malformed::new(from.path(), 0, head));
        }
        let passed = |line: &str| line == head || line.starts_with('#') || line.trim().is_empty();
        let cache = |line: &str| if passed(line) { Some(None) } else { Cache::parse(line, page).map(Some) };
        let caches: Vec<Option<Cache>> = parse_lines(from, text, |_| true, cache)?;
        let mut caches: Vec<Cache> = caches.into_iter().flatten().collect();
        if let (true, Some((index, line))) =
            (caches.is_empty(), text.lines().enumerate().find(|(_, line)| !passed(line)))
        {
            return Err(Malformed::new(from.path(), index, line));
        }
        caches.retain(|cache| cache.held.0 > 0);
        ramline_units::sort_by(&mut caches, |a, b| b.held.cmp(&a.held).then_with(|| a.name.cmp(&b.name)));
        Ok(Slab { caches })
    }

    /// The cache of this name.
    #[must_use]
    pub fn cache(&self, name: &str) -> Option<&Cache> {
        self.caches.iter().find(|cache| cache.name == name)
    }
}

impl Cache {
    /// It shrinks when memory is short: names and inodes of files and what belongs to them. slabinfo does not say so (`SLAB_RECLAIM_ACCOUNT`); the names are
    /// those that have the flag in fs/, mm/ and lib/.
    #[must_use]
    pub fn is_reclaimable(&self) -> bool {
        const NAMES: [&str; 6] = ["dentry", "buffer_head", "radix_tree_node", "xfs_buf", "dnode_t", "sa_cache"];
        let name = self.name.as_str();
        name.contains("inode") && name != "inotify_inode_mark" && name != "sock_inode_cache"
            || name.contains("kmalloc-rcl")
            || name.contains("kmalloc-reclaim")
            || NAMES.contains(&name)
    }

    /// A name may hold spaces: the numbers count from the right of their part.
    fn parse(line: &str, page: PageSize) -> Option<Cache> {
        let mut parts = line.split(" : ");
        let (objects, _tunables, slabs) = (parts.next()?, parts.next()?, parts.next()?);
        let mut words = objects.split_ascii_whitespace().rev();
        let mut number = || words.next()?.parse::<u64>().ok();
        let (pages_a_slab, _objects_a_slab, size, _all, active) =
            (number()?, number()?, number()?, number()?, number()?);
        let name: Vec<&str> = words.rev().collect();
        let slabs: u64 = slabs.trim().strip_prefix("slabdata")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let held = Pages(slabs.checked_mul(pages_a_slab)?).bytes(page);
        (!name.is_empty()).then(|| Cache { name: name.join(" "), held, in_use: Bytes(active.saturating_mul(size)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "slabinfo - version: 2.1\n# name <active_objs> ...\n";

    #[test]
    fn caches_come_largest_first_and_empty_ones_not_at_all() {
        let text = format!(
            "{HEAD}filp 100 320 256 16 1 : tunables 0 0 0 : slabdata 20 20 0\nnone 0 0 8 1 1 : tunables 0 0 0 : slabdata 0 0 0\nan odd name 8 8 4096 8 8 : tunables 0 0 0 : slabdata 3 3 0\n"
        );
        let slab = Slab::parse("s", &text, PageSize(4096)).unwrap();
        let names: Vec<&str> = slab.caches.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["an odd name", "filp"]);
        let filp = slab.cache("filp").unwrap();
        assert_eq!((filp.held, filp.in_use), (Bytes(20 * 4096), Bytes(25_600)));
    }

    #[test]
    fn another_format_and_a_cut_line_are_named() {
        assert_eq!(Slab::parse("s", "slabinfo - version: 3.0\n", PageSize(4096)).unwrap_err().line, 1);
        let cut = format!("{HEAD}filp 100 320\n");
        let note = |text: &str| {
            let from = crate::Noted::new("s");
            let slab = Slab::parse(&from, text, PageSize(4096)).unwrap();
            (slab.caches.len(), from.note().map(|note| note.reason).unwrap_or_default())
        };
        let (caches, why) = note(&format!("{cut}whole 1 1 8 1 1 : t 0 : slabdata 1 1 0\n"));
        assert!(caches == 1 && why.contains("line 3"), "{caches} {why}");
        let huge = format!("{HEAD}f 1 1 1 1 9999999999999 : t 0 : slabdata 1 9999999999999 0\n");
        assert_eq!(Slab::parse("s", &huge, PageSize(4096)).unwrap_err().line, 3);
        assert!(Slab::parse("s", "", PageSize(4096)).is_err());
    }
}
