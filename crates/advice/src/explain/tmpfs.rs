//! `tmpfs`: what lies in RAM as files, and whether /tmp would fit.

use ramline_model::tmpfs::{Fit, Model, TmpfsMount, would_fit};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "tmpfs",
    area: Area::Files,
    question: "How much is in tmpfs, and would /tmp fit?",
    wants: Wanted { mounts: true, dirs: true, ..LIGHT },
    answer,
    mechanism: &[
        "tmpfs keeps files as shared memory. They are never dropped like cache: they stay in RAM or go to swap, so without swap they take memory until they are deleted.",
        "The size of a mount is a limit, not a reservation: half of RAM by default, and several mounts together may exceed the RAM.",
        "A user may have a quota as a third limit beside bytes and inodes (mount option usrquota): at it writes fail with \"Disk quota exceeded\", whatever df shows.",
        "What of a directory is in the page cache already needs no further RAM in tmpfs, but can then no longer be dropped; so it is not subtracted.",
        "What is in tmpfs is gone after a reboot.",
        "fsync protects nothing there: there is nothing behind it.",
    ],
    myth: "/tmp in tmpfs is always faster: what is in the page cache is already as fast, and is written later anyway.",
    to_do: "Set size= and nr_inodes= of each mount to what it needs; delete what is no longer used.",
    next: "ramline show tmpfs",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let state = tmpfs::from_snapshot(inputs.snapshot);
    for mount in state.iter().flat_map(|s| &s.mounts).filter(|m| m.fs == "tmpfs" && !placeholder(m)) {
        if let Some((used, size)) = mount.used.zip(mount.size) {
            out.put(&format!("tmpfs on {}", mount.at), format!("{used} of {size}"), "statfs");
        }
    }
    out.add("in tmpfs, together (now)", state.as_ref().map(|s| s.used), "sum");
    let value = state.as_ref().and_then(|s| s.elsewhere);
    out.add("shared memory in no mount seen here", value, "/proc/meminfo Shmem less the sum");
    let tmp = inputs.snapshot.dirs.data().and_then(|dirs| dirs.iter().find(|dir| dir.path == "/tmp"));
    let fit = tmp.and_then(|dir| would_fit(dir, inputs.snapshot));
    if let Some(fit) = &fit {
        let value = Some(format!("{} and {} inodes", fit.need, fit.inodes));
        out.add("/tmp would need", value, "walk of /tmp, rounded up to pages");
        out.add("of it in the page cache already", fit.cached, "cachestat or mincore");
        for margin in &fit.margins {
            let value = format!("{}, margin {}", margin.limit, margin.margin);
            out.put(&format!("against {}", look::limit_words(margin.model)), value, "/proc/meminfo");
        }
        out.add(
            if fit.already_tmpfs { "inodes of its tmpfs" } else { "inodes of a default tmpfs" },
            (fit.inode_limit < u64::MAX).then(|| format!("{}, margin {}", fit.inode_limit, fit.inode_margin)),
            if fit.already_tmpfs { "statfs" } else { "one for every two pages of RAM" },
        );
    }
    out.first(&["in tmpfs, together", "/tmp would need"]);
    if let Some(gone) = out.mechanism.get_mut(4).filter(|_| inputs.snapshot.swaps.data().is_some_and(|a| !a.is_empty()))
    {
        *gone = "What is in tmpfs is gone after a reboot, and reaches the swap device unencrypted.".into();
    }
    match (&fit, &state) {
        (Some(fit), _) => sentence(fit),
        (None, Some(state)) => format!("{} is in tmpfs here. /tmp was not walked.", state.used),
        (None, None) => unseen(inputs, "mounts"),
    }
}

/// Container runtimes mount empty ones of a page over what is to be hidden.
fn placeholder(mount: &TmpfsMount) -> bool {
    mount.size.and_then(Limit::bytes).is_some_and(|size| size < Bytes::from_mib(1))
}

fn sentence(fit: &Fit) -> String {
    let least = if fit.lower_bound { "at least " } else { "" };
    if fit.already_tmpfs {
        return format!("/tmp is in tmpfs already and uses {least}{}.", fit.need);
    }
    if fit.fits {
        return format!("/tmp would fit into tmpfs: it needs {least}{}, within every limit.", fit.need);
    }
    format!(
        "/tmp would not fit into tmpfs within every limit: it needs {least}{}. The first to break is {}.",
        fit.need,
        look::limit_words(fit.breaks_first.unwrap_or(Model::HalfOfRam))
    )
}
