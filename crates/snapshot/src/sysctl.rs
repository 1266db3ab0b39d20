//! `/proc/sys/vm`: the settings that decide what reclaim does. One line a knob.

counters! {
    /// Settings of `/proc/sys/vm`, in the kernel's own units (in the name where it has one).
    VmSettings of i64 {
        swappiness = "swappiness",
        page_cluster = "page-cluster",
        min_free_kbytes = "min_free_kbytes",
        watermark_scale_factor = "watermark_scale_factor",
        watermark_boost_factor = "watermark_boost_factor",
        vfs_cache_pressure = "vfs_cache_pressure",
        extfrag_threshold = "extfrag_threshold",
        compaction_proactiveness = "compaction_proactiveness",
        dirty_ratio = "dirty_ratio",
        dirty_background_ratio = "dirty_background_ratio",
        dirty_bytes = "dirty_bytes",
        dirty_background_bytes = "dirty_background_bytes",
        dirty_expire_centisecs = "dirty_expire_centisecs",
        dirty_writeback_centisecs = "dirty_writeback_centisecs",
        overcommit_memory = "overcommit_memory",
        overcommit_ratio = "overcommit_ratio",
        overcommit_kbytes = "overcommit_kbytes",
        panic_on_oom = "panic_on_oom",
        oom_kill_allocating_task = "oom_kill_allocating_task",
        percpu_pagelist_high_fraction = "percpu_pagelist_high_fraction",
        zone_reclaim_mode = "zone_reclaim_mode",
    }
}

impl VmSettings {
    /// The value of a setting that this version does not list, where it is one number.
    #[must_use]
    pub fn other(&self, key: &str) -> Option<i64> {
        self.unknown.get(key)?.parse().ok()
    }

    /// Stores one file's text; a text that is no number is kept in `unknown`.
    pub fn put(&mut self, key: &str, text: &str) {
        match text.trim().parse() {
            Ok(value) => self.store(key, value, text.trim()),
            Err(_) => {
                self.unknown.insert(key.to_owned(), text.trim().to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_no_number_is_kept_as_text_and_reads_as_none() {
        let mut seen = VmSettings::default();
        seen.put("swappiness", "60\n");
        seen.put("page-cluster", "three\n");
        assert_eq!((seen.swappiness, seen.page_cluster), (Some(60), None));
        assert_eq!(seen.unknown["page-cluster"], "three");
    }
}
