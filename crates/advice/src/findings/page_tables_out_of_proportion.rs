//! Page tables out of proportion: what says where memory is takes more than its due.
//!
//! A page table takes 8 bytes for each page a process maps, for itself alone: at 4 KiB pages 0.2 % of the mapping. One area that a thousand
//! processes map (a database's shared buffers) is in RAM once and in a thousand page tables. 512 of them weigh as much as the area.
//! Huge pages of 2 MiB need 1/512 of that.
//!
//! What was swapped out keeps its entries, so swap in use counts as mapped. Tables of a process are whole pages, each for 2 MiB of addresses: many
//! processes that map much sparsely (phones, browsers) have many times what their memory needs once, and from the machine's sum that looks like one
//! area in many processes. So it is a warning where processes were seen that share one area, or where the tables are a tenth of RAM; else a note.
//!
//! Worked example: 253 processes that map 4 GiB each hold 8 MiB of tables: 2 GiB for 4 GiB of memory.

use ramline_model::unowned;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "page-tables-out-of-proportion",
    looks_for: "page tables that take far more than the memory they describe explains",
    explain: "hugepages",
    check,
    cost_if_wrong: "huge pages that are set aside and not used are lost to everything else (finding huge-pages-unused)",
    tune: Tune::No("how programs map memory is theirs to change"),
};

/// Of RAM: the warning level of Oracle's memstate too.
const LEAST_SHARE: f64 = 0.02;
/// Times what each mapped page needs once. Ten sharers of everything is more than programs and their libraries have: on a machine
/// with 1,500 processes and no large shared area it was 2 to 5.
const LEAST_TIMES: f64 = 10.0;
/// A table entry, on every architecture with 64 bits.
const ENTRY: f64 = 8.0;
/// A process counts as a sharer when it maps at least half as much shared memory as the one that maps most.
const SHARER: f64 = 0.5;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let meminfo = snapshot.meminfo.data()?;
    let (tables, total) = (meminfo.page_tables?, meminfo.mem_total?);
    // Without the use of swap the due is a lower bound, and a factor of it no ground for a warning.
    let swapped = meminfo.swap_used().unwrap_or_default();
    let swap_known = meminfo.swap_used().is_some() || meminfo.swap_total == Some(Bytes::ZERO);
    let mapped = meminfo.anon_pages? + meminfo.mapped? + swapped;
    #[expect(clippy::cast_precision_loss, reason = "a page size")]
    let due = mapped.as_f64() * ENTRY / snapshot.machine.page_size.0.max(1) as f64;
    let share = tables.share_of(total)?;
    if share < LEAST_SHARE || due <= 0.0 || tables.as_f64() < due * LEAST_TIMES {
        return None;
    }
    let times = tables.as_f64() / due;
    let sharers = sharers(snapshot);
    let mut grounds = vec![
        evidence("page tables", format!("{tables}, {} of {total}", percent(share)), "/proc/meminfo PageTables"),
        evidence("memory they describe", mapped.to_string(), "/proc/meminfo AnonPages + Mapped + swap in use"),
        evidence("times what mapping it once takes", format!("{times:.0}"), "8 bytes a page"),
    ];
    if let Some(sharers) = &sharers {
        let value = format!(
            "{} processes, {} each at most, {} of page tables together",
            sharers.count, sharers.each, sharers.tables
        );
        grounds.put(&format!("like {}", sharers.name), value, "/proc/PID/status VmPTE, RssShmem, RssFile");
    }
    let shared = sharers.as_ref().filter(|s| s.count >= 10 && s.tables.as_f64() >= tables.as_f64() / 2.0);
    let effect = match shared {
        Some(s) => format!(
            "with huge pages of 2 MiB the {} of the {} processes that share one area would be about {}: ask for them in the program (PostgreSQL: huge_pages = on with vm.nr_hugepages), or use fewer processes (a connection pool)",
            s.tables,
            s.count,
            Bytes(s.tables.0 / 512)
        ),
        None => format!(
            "{tables} hold no data: large mappings that are touched sparsely, or one area in many processes, make them. Which processes: grep VmPTE /proc/[0-9]*/status | sort -nk2 | tail"
        ),
    };
    Some(Draft {
        title: match shared {
            Some(s) => {
                format!("Page tables take {tables}, mostly {} processes like {} that map one area", s.count, s.name)
            }
            None => format!("Page tables take {tables}, {times:.0} times what mapping that memory once would"),
        },
        weight: if shared.is_some() || (share >= unowned::LARGE && swap_known) {
            Weight::Warning
        } else {
            Weight::Note
        },
        effect,
        evidence: grounds,
        confidence: if shared.is_some() { Confidence::High } else { Confidence::Medium },
        ..Draft::default()
    })
}

/// Processes that map about as much shared memory as the one that maps most.
struct Sharers {
    name: String,
    count: usize,
    each: Bytes,
    tables: Bytes,
}

fn sharers(snapshot: &Snapshot) -> Option<Sharers> {
    let list = &snapshot.processes.data()?.list;
    let shared = |p: &Process| p.rss_shmem.unwrap_or_default() + p.rss_file.unwrap_or_default();
    let most = list.iter().max_by_key(|p| shared(p))?;
    let each = shared(most);
    let alike: Vec<&Process> = list.iter().filter(|p| shared(p).as_f64() >= each.as_f64() * SHARER).collect();
    let tables = alike.iter().filter_map(|p| p.page_tables).sum();
    (each.0 > 0).then(|| Sharers { name: most.name.clone(), count: alike.len(), each, tables })
}
