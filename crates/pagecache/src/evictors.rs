//! Who else evicts here: then what is counted falls by itself, and what was warmed goes again.

use ramline_kernel::{Root, gather};

/// Named, as far as they can be seen (root sees more).
pub fn evictors(root: &Root) -> Vec<String> {
    let seen = gather::evictors(root);
    let Some(found) = seen.data() else { return Vec::new() };
    let mut out = Vec::new();
    for scheme in found.schemes.iter().filter(|scheme| scheme.state == "on" && scheme.action == "pageout") {
        out.push(format!("a DAMON pageout scheme (kdamond {})", scheme.kdamond));
    }
    if found.damon_reclaim.get("enabled").is_some_and(|value| value == "Y") {
        out.push("damon_reclaim".to_owned());
    }
    // A thread whose scheme is out of sight may only count (DAMON_STAT does, since Linux 6.17): it is not accused.
    out.dedup();
    out
}
