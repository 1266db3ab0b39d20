//! Who else evicts here: then what is counted falls by itself, and what was warmed goes again.

use ramline_kernel::Root;

/// Named, as far as they can be seen (root sees more).
pub fn evictors(root: &Root) -> Vec<String> {
    let seen = ramline_gather::evictors(root);
    let Some(found) = seen.data() else { return Vec::new() };
    let mut out = Vec::new();
    for scheme in found.schemes.iter().filter(|scheme| scheme.state == "on" && scheme.action == "pageout") {
        out.push(format!("a DAMON pageout scheme (kdamond {})", scheme.kdamond));
    }
    if found.damon_reclaim.get("enabled").is_some_and(|value| value == "Y") {
        out.push("damon_reclaim".to_owned());
    }
    // One that only watches (damon_stat) takes no page away.
    let threads = found.hidden_threads();
    if out.is_empty() && threads > 0 {
        out.push(format!(
            "perhaps DAMON, which has {threads} {} whose scheme cannot be seen",
            if threads == 1 { "thread" } else { "threads" }
        ));
    }
    out.dedup();
    out
}
