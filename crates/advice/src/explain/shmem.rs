//! `shmem`: what shared memory is made of, and what keeps it in RAM.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "shmem",
    area: Area::Files,
    question: "What is shared memory made of, and what keeps it?",
    wants: Wanted { mounts: true, shmem: true, ..LIGHT },
    answer,
    mechanism: &[
        "Shared memory is files without a disk: tmpfs mounts, System V segments, memfd, shared anonymous mappings and graphics objects are all of one kind inside the kernel, counted as Shmem.",
        "It has no place to be read again from, so it cannot be dropped. It goes to swap, or stays.",
        "It outlives its maker: a file in /dev/shm or a System V segment stays after the process ended, until it is removed. A deleted file stays while a process has it open.",
        "In a process it shows as RssShmem, in full in every process that maps it. The part in swap is missing from VmSwap of /proc/PID/status; Swap in smaps counts what of it is mapped.",
    ],
    myth: "It is cache, so the kernel drops it when needed: Cached and buff/cache include it, but not a page of it can be dropped.",
    to_do: "Look for old files in /dev/shm and tmpfs mounts and delete them; ramline show tmpfs as root names the owners.",
    next: "ramline show tmpfs",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let meminfo = snapshot.meminfo.data();
    let mounts = tmpfs::from_snapshot(snapshot);
    let shmem = out.meminfo(inputs, "in RAM (now)", "Shmem");
    let share = shmem.zip(snapshot.mem_total()).and_then(|(shmem, ram)| shmem.share_of(ram));
    out.add("of RAM", share.map(percent), "Shmem / MemTotal");
    let value = mounts.as_ref().map(|m| m.used);
    out.add("in tmpfs mounts, swapped part included (now)", value, "statfs of each mount, added up");
    let segments = snapshot.shmem.data().map(|s| &s.segments);
    let (resident, swapped) = segments.map_or((None, None), |list| {
        (Some(list.iter().map(|s| s.resident).sum::<Bytes>()), Some(list.iter().map(|s| s.swapped).sum::<Bytes>()))
    });
    out.add(
        "in System V segments",
        segments.zip(resident).zip(swapped).map(|((list, resident), swapped)| {
            format!("{resident} in RAM and {swapped} in swap, {} segments", list.len())
        }),
        "/proc/sysvipc/shm rss, swap",
    );
    let value = mounts.as_ref().and_then(|m| m.elsewhere);
    out.add("in no mount seen here", value, "Shmem less the mounts: segments, memfd, deleted files, graphics");
    out.meminfo(inputs, "in huge pages", "ShmemHugePages");
    out.meminfo(inputs, "swap it could go to", "SwapFree");
    match (shmem, &mounts) {
        (None, _) => unseen(inputs, "meminfo"),
        (Some(shmem), None) => {
            format!("{shmem} of RAM is shared memory. The mounts were not seen, so it cannot be split.")
        }
        (Some(shmem), Some(mounts)) => {
            let elsewhere = mounts.elsewhere.map(ramline_model::SignedBytes::or_zero).unwrap_or_default();
            let whose = if elsewhere.0 > mounts.used.0 {
                format!("{elsewhere} of it is in no mount (memfd, segments, deleted files)")
            } else {
                format!("files in tmpfs take {}", mounts.used)
            };
            let swap = match meminfo.and_then(|m| m.swap_free) {
                Some(Bytes(0)) | None => "Without free swap it stays until it is deleted",
                Some(_) => "It can go to swap, and is never dropped",
            };
            format!("{shmem} of RAM is shared memory: {whose}. {swap}.")
        }
    }
}
