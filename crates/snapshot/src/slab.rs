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
    /// Another format, or a line of another form, with path, line and text.
    pub fn parse(path: &str, text: &str, page: PageSize) -> Result<Self, Malformed> {
        let mut caches = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let bad = || Malformed::new(path, index, line);
            if index == 0 {
                line.strip_prefix("slabinfo - version: 2.").ok_or_else(bad)?;
                continue;
            }
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            caches.push(Cache::parse(line, page).ok_or_else(bad)?);
        }
        if text.is_empty() {
            return Err(Malformed::whole(path, ""));
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
        assert_eq!(Slab::parse("s", &cut, PageSize(4096)).unwrap_err().line, 3);
        let huge = format!("{HEAD}f 1 1 1 1 9999999999999 : t 0 : slabdata 1 9999999999999 0\n");
        assert!(Slab::parse("s", &huge, PageSize(4096)).is_err());
        assert!(Slab::parse("s", "", PageSize(4096)).is_err());
    }
}
