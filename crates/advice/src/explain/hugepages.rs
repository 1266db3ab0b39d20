//! `hugepages`: memory set aside as huge pages, and how much of it is unused.

use crate::findings;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "hugepages",
    area: Area::Owners,
    question: "How much is set aside as huge pages, and is it used?",
    wants: Wanted { hugepages: true, processes: true, ..LIGHT },
    answer,
    mechanism: &[
        "Huge pages (hugetlb) are a pool taken out of ordinary memory: at boot, or by vm.nr_hugepages. Only programs that ask for them by name get them (mmap with MAP_HUGETLB, hugetlbfs, shared memory with SHM_HUGETLB).",
        "The pool is never swapped, never reclaimed and lies outside free, available and the page cache, whether it is used or not. In a process it is not in RSS but in HugetlbPages.",
        "Reserved means promised to a mapping and not touched yet: such pages are still counted as free. Surplus pages were made beyond the pool on demand, up to vm.nr_overcommit_hugepages, and go back when they are freed.",
        "Making them later needs blocks in one piece; after some hours of use the kernel may find only a part. Lowering nr_hugepages gives unused pages back at once.",
    ],
    myth: "Reserving huge pages makes every program faster: only those that ask use them; for all others the RAM has become smaller.",
    to_do: "Nothing.",
    next: "ramline show memory",
};

/// One pool, from /sys or, for the default size alone, from /proc/meminfo.
struct Pool {
    page: Bytes,
    total: u64,
    free: u64,
    reserved: u64,
    surplus: u64,
    source: &'static str,
}

impl Pool {
    fn bytes(&self, pages: u64) -> Bytes {
        Bytes(self.page.0.saturating_mul(pages))
    }

    /// Neither used nor promised.
    const fn idle(&self) -> u64 {
        self.free.saturating_sub(self.reserved)
    }
}

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let pools = pools(inputs.snapshot);
    for pool in pools.iter().flatten() {
        let value = format!(
            "{} pages, {}: {} free, {} of these promised, {} beyond the pool",
            pool.total,
            pool.bytes(pool.total),
            pool.free,
            pool.reserved,
            pool.surplus
        );
        out.put(&format!("pages of {} (now)", pool.page), value, pool.source);
    }
    let held = out.meminfo(inputs, "all sizes together (now)", "Hugetlb");
    let share = held.zip(inputs.snapshot.mem_total()).and_then(|(held, ram)| held.share_of(ram));
    out.add("of RAM", share.map(percent), "Hugetlb / MemTotal");
    if pools.iter().flatten().any(|p| p.idle() > 0) {
        out.to_do =
            "Lower vm.nr_hugepages by the unused pages, unless a program is yet to start that needs them.".into();
    }
    // Where tables are out of proportion, huge pages are the way out, whether any are set aside or not.
    if let Some(tables) = findings::large_page_tables(inputs) {
        for ground in tables.evidence {
            out.put(&ground.what, ground.value, ground.source);
        }
        out.to_do = format!("{}.", capital(&tables.effect));
        return format!("{}. {}", tables.title, set_aside(inputs, pools.as_deref()));
    }
    set_aside(inputs, pools.as_deref())
}

fn set_aside(inputs: &Inputs<'_>, pools: Option<&[Pool]>) -> String {
    match pools {
        None => unseen(inputs, "meminfo"),
        Some(pools) => {
            let total: Bytes = pools.iter().map(|p| p.bytes(p.total)).sum();
            let idle: Bytes = pools.iter().map(|p| p.bytes(p.idle())).sum();
            match (total.0, idle.0) {
                (0, _) => "No huge pages are set aside here.".to_owned(),
                (_, 0) => format!("{total} is set aside as huge pages, all of it used or promised."),
                _ => format!(
                    "{total} is set aside as huge pages; {idle} of it is neither used nor promised. Nothing else can use that."
                ),
            }
        }
    }
}

fn pools(snapshot: &Snapshot) -> Option<Vec<Pool>> {
    if let Some(pools) = snapshot.hugepages.data().filter(|pools| !pools.is_empty()) {
        let source = "/sys/kernel/mm/hugepages";
        let pool = |p: &ramline_snapshot::hugepages::HugePool| Pool {
            page: p.page,
            total: p.total,
            free: p.free,
            reserved: p.reserved,
            surplus: p.surplus,
            source,
        };
        return Some(pools.iter().map(pool).collect());
    }
    let meminfo = snapshot.meminfo.data()?;
    let Some(page) = meminfo.hugepagesize else { return Some(Vec::new()) };
    let count = |key: &str| meminfo.count(key).unwrap_or(0);
    Some(vec![Pool {
        page,
        total: count("HugePages_Total"),
        free: count("HugePages_Free"),
        reserved: count("HugePages_Rsvd"),
        surplus: count("HugePages_Surp"),
        source: "/proc/meminfo HugePages_*",
    }])
}
