//! DAMON, which samples accessed bits and clears them: whether it runs.

use crate::prelude::*;
use crate::write::read_knob;

/// What runs of it, by where that is switched.
#[must_use]
pub fn running(root: &Root) -> Vec<String> {
    let mut out = Vec::new();
    for module in ["damon_stat", "damon_reclaim", "damon_lru_sort"] {
        let path = format!("/sys/module/{module}/parameters/enabled");
        if read_knob(&root.path(&path)).is_some_and(|value| value == "Y") {
            out.push(format!("{module} ({path})"));
        }
    }
    let threads = root.path("/sys/kernel/mm/damon/admin/kdamonds");
    for dir in std::fs::read_dir(&threads).into_iter().flatten().flatten() {
        if read_knob(&dir.path().join("state")).is_some_and(|state| state == "on") {
            out.push(format!("kdamond {} (/sys/kernel/mm/damon/admin)", dir.file_name().to_string_lossy()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_and_a_thread_that_is_on_are_named_and_one_that_is_off_is_not() {
        let tree = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("sys/module/damon_stat/parameters/enabled", "Y\n");
        put("sys/module/damon_reclaim/parameters/enabled", "N\n");
        put("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n");
        put("sys/kernel/mm/damon/admin/kdamonds/1/state", "off\n");
        let found = running(&Root::new(tree.path()));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("damon_stat") && found[1].starts_with("kdamond 0"), "{found:?}");
    }
}
