//! Memory nodes and whether they have processors, of this machine or of a copied tree.

use ramline_snapshot::machine::NodeMemory;

/// The memory nodes, where there are several: on most machines one directory is listed and nothing is read.
pub fn nodes(names: &dyn Fn(&str) -> Vec<String>, text: &dyn Fn(&str) -> Option<String>) -> Vec<NodeMemory> {
    const DIR: &str = "/sys/devices/system/node";
    let mut numbers: Vec<u32> = names(DIR).iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    numbers.sort_unstable();
    if numbers.len() < 2 {
        return Vec::new();
    }
    let node = |number: u32| {
        let of = |file: &str| text(&format!("{DIR}/node{number}/{file}"));
        let list = of("cpulist");
        let map = if list.is_none() { of("cpumap") } else { None };
        NodeMemory::from_texts(number, &of("meminfo")?, list.as_deref(), map.as_deref())
    };
    numbers.into_iter().filter_map(node).collect()
}
