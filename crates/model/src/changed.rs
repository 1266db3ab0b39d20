//! What else changed between two moments: kernel, memory, settings, swap areas, zram devices, limits of groups. Not what is used: screens show that.
//!
//! Example: `vm.swappiness 60, then 10`; `swap area /dev/zram0 none, then 2.0 GiB, priority 100`.

use std::collections::{BTreeMap, BTreeSet};

use ramline_snapshot::Snapshot;
use ramline_units::{Bytes, Limit};
use serde_json::Value;

/// One thing that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What: `vm.swappiness`.
    pub what: String,
    /// As it was; `None` where there was none.
    pub before: Option<String>,
    /// As it is; `None` where there is none any more.
    pub after: Option<String>,
}

impl Change {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        format!("{} {}, then {}", self.what, or_none(&self.before), or_none(&self.after))
    }
}

/// What differs between two moments of one machine, in order. What was not seen at one of them is no change.
#[must_use]
pub fn changed(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let (old, new) = (facts(before), facts(after));
    let mut out = Vec::new();
    for (part, old) in &old {
        let Some(new) = new.get(part) else { continue };
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        // A group that was made or removed is no setting that changed.
        let both = *part == Part::Groups;
        out.extend(names.into_iter().filter_map(|name| {
            let (before, after) = (old.get(name).cloned(), new.get(name).cloned());
            let is_one = before != after && !(both && (before.is_none() || after.is_none()));
            is_one.then(|| Change { what: name.clone(), before, after })
        }));
    }
    out
}

/// A section that was seen, with what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Machine,
    Memory,
    Settings,
    HugePages,
    Thp,
    LruGen,
    Zswap,
    Swaps,
    Zram,
    Groups,
}

type Facts = BTreeMap<String, String>;

fn facts(seen: &Snapshot) -> BTreeMap<Part, Facts> {
    let mut out: BTreeMap<Part, Facts> = BTreeMap::new();
    let machine = [("kernel", seen.machine.kernel.clone()), ("processors", seen.machine.cpus.to_string())];
    out.insert(Part::Machine, machine.map(|(name, text)| (name.to_owned(), text)).into());
    if let Some(total) = seen.meminfo.data().and_then(|memory| memory.mem_total) {
        out.insert(Part::Memory, [("RAM".to_owned(), total.to_string())].into());
    }
    let plain = |value: Result<Value, serde_json::Error>, prefix: &str| {
        let Ok(Value::Object(fields)) = value else { return Facts::new() };
        let one = |(name, value): (String, Value)| {
            let text = match value {
                Value::String(text) => text,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return None,
            };
            Some((format!("{prefix}{name}"), text))
        };
        fields.into_iter().filter_map(one).collect()
    };
    if let Some(settings) = seen.settings.data() {
        out.insert(Part::Settings, plain(serde_json::to_value(settings), "vm."));
    }
    if let Some(thp) = seen.thp.data() {
        out.insert(Part::Thp, plain(serde_json::to_value(thp), "transparent_hugepage/"));
    }
    if let Some(lru_gen) = seen.lru_gen.data() {
        out.insert(Part::LruGen, plain(serde_json::to_value(lru_gen), "lru_gen/"));
    }
    if let Some(zswap) = seen.zswap.data() {
        out.insert(Part::Zswap, plain(serde_json::to_value(zswap), "zswap/"));
    }
    if let Some(pools) = seen.hugepages.data() {
        let one = |pool: &ramline_snapshot::hugepages::HugePool| {
            // Without those that were made on demand, which are use.
            let kept = ramline_units::growth(pool.surplus, pool.total).unwrap_or(0);
            (format!("huge pages of {}", pool.page), kept.to_string())
        };
        out.insert(Part::HugePages, pools.iter().map(one).collect());
    }
    if let Some(areas) = seen.swaps.data() {
        let one = |area: &ramline_snapshot::swaps::SwapArea| {
            (format!("swap area {}", area.path), format!("{}, priority {}", area.size, area.priority))
        };
        out.insert(Part::Swaps, areas.iter().map(one).collect());
    }
    if let Some(zram) = seen.zram.data() {
        let one = |device: &ramline_snapshot::zram::ZramDevice| {
            let algorithm = device.algorithm.clone().unwrap_or_default();
            let limit =
                device.mm.as_ref().and_then(|mm| mm.mem_limit).map(|limit| format!(", limit {}", limit_text(limit)));
            (device.name.clone(), format!("{} {algorithm}{}", device.disksize, limit.unwrap_or_default()))
        };
        out.insert(Part::Zram, zram.devices.iter().filter(|device| device.initialised).map(one).collect());
    }
    if let Some(groups) = seen.groups.data() {
        let mut limits = Facts::new();
        for group in &groups.list {
            for (name, limit) in [("limit", group.max), ("high limit", group.high), ("swap limit", group.swap_max)] {
                limits.extend(limit.map(|limit| (format!("{name} of {}", group.path), limit_text(limit))));
            }
        }
        out.insert(Part::Groups, limits);
    }
    out
}

fn limit_text(limit: Limit) -> String {
    match limit {
        Limit::Max => "none".to_owned(),
        Limit::At(bytes) => Bytes::to_string(&bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::sysctl::VmSettings;

    #[test]
    fn a_setting_that_changed_is_named_with_both_values_and_one_that_was_not_seen_is_none() {
        let mut before = Snapshot::default();
        let mut settings = VmSettings::default();
        settings.put("swappiness", "60\n");
        before.settings = Seen::new(settings.clone());
        let mut after = before.clone();
        assert_eq!(changed(&before, &after), []);
        settings.put("swappiness", "10\n");
        after.settings = Seen::new(settings);
        let words: Vec<String> = changed(&before, &after).iter().map(Change::words).collect();
        assert_eq!(words, ["vm.swappiness 60, then 10"]);
        before.settings = Seen::Unread;
        assert_eq!(changed(&before, &after), []);
    }
}
