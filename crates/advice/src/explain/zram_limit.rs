//! `zram-limit`: disksize against mem_limit.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "zram-limit",
    area: Area::Compressed,
    question: "What are zram's two sizes, and what happens at the limit?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "disksize is how much can be stored, counted uncompressed: it is what swapon and free show. mem_limit caps the RAM the compressed pages take.",
        "At the limit a write fails. The kernel had chosen the slot already and does not try the next area: the page stays, is scanned again, and fails again, while swap still looks half empty.",
        "A smaller disksize bounds the RAM as well, without errors: a full area passes new pages to the next one.",
    ],
    myth: "mem_limit protects RAM: it turns memory pressure into I/O errors.",
    to_do: "Leave mem_limit at 0 and set a smaller disksize instead.",
    next: "ramline show zram",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let zram = inputs.snapshot.zram.data();
    let devices = zram.map(|z| z.devices.as_slice()).unwrap_or_default();
    let sized = zram.map(|_| devices.iter().filter(|device| device.initialised).count());
    out.add("zram devices with a size", sized, "/sys/block/zram*/initstate");
    let mut short = None;
    for device in devices.iter().filter(|device| device.initialised) {
        let Some(mm) = &device.mm else { continue };
        let dir = format!("/sys/block/{}", device.name);
        let mut line = |what: &str, value: String, source: &str| {
            out.put(&format!("{}: {what}", device.name), value, format!("{dir}/{source}"));
        };
        line(
            "disksize: limit of what is stored, uncompressed",
            format!("{}, {} stored", device.disksize, mm.orig_data_size),
            "disksize; mm_stat, field 1",
        );
        let limit = mm.mem_limit.map_or("not reported".to_owned(), |limit| limit.to_string());
        line(
            "mem_limit: limit of the RAM used, compressed",
            format!("{limit}; {} used, {} at most so far", mm.mem_used_total, mm.mem_used_max),
            "mm_stat, fields 3 to 5",
        );
        if let Some(io) = device.io {
            line("failed writes", format!("{} since the device was made", io.failed_writes), "io_stat, field 2");
        }
        let share = mm.mem_limit.and_then(|l| mm.mem_used_total.share_of(l.bytes()?));
        short = short.or(Some(match share {
            Some(share) => format!(
                "{} has used {} of its mem_limit of {limit}. At the limit its writes fail.",
                device.name,
                percent(share)
            ),
            None => format!("{} has no mem_limit: it uses RAM until its {} is stored.", device.name, device.disksize),
        }));
    }
    short.unwrap_or_else(|| {
        if zram.is_some() { "There is no zram device in use here.".into() } else { unseen(inputs, "zram") }
    })
}
