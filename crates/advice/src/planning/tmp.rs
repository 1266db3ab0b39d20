//! /tmp: left where it is, moved to RAM where it fits and short waits are asked for, or back to disk where it does not fit.
//!
//! A mount hides what is in /tmp now, sockets that programs use included: where something is in it the change takes effect at the next boot.
//! Where the kernel has quotas on tmpfs, one user can fill four fifths of it and not all.

use ramline_model::tmpfs::{self, Fit};
use ramline_plan::{Goal, PlanLine, Reason, Step, edit};
use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::mounts;

use super::desk::Desk;
use super::line::{Draft, reason};
use crate::prelude::*;

const TMP: &str = "/tmp";
/// Of the RAM: as systemd's own unit has it.
const SIZE: u64 = 2;
/// As systemd's own unit has it: enough for builds, and an end for a program that makes files without one.
const INODES: &str = "1m";
/// Of the size, for one user in percent: as systemd limits users at their login, since it does.
const USER_PERCENT: u64 = 80;
/// With another kernel an entry with quotas may fail, and that must not end in emergency mode: /tmp is on the disk then. systemd mounts such an
/// entry at any time unless the order is given.
const MAY_FAIL: &str = "nofail,x-systemd.before=local-fs.target";
const FSTAB: &str = "/etc/fstab";
const MASK: &str = "/etc/systemd/system/tmp.mount";

pub(super) fn plan(desk: &mut Desk<'_>) {
    let line = line(desk);
    desk.lines.extend(line);
}

fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let mounted = mounts::holding(snapshot.mounts.data()?, TMP)?;
    let in_ram = tmpfs::in_ram(&mounted.fs);
    let old = if in_ram {
        format!("tmpfs, {}", size_of(mounted))
    } else {
        format!("on disk ({} on {})", mounted.fs, mounted.at)
    };
    let draft = |why: Reason| Draft::new(TMP, Some(old.clone()), why).set_by(set_by(desk));
    let dir = snapshot.dirs.data().and_then(|dirs| dirs.iter().find(|dir| dir.path == TMP));
    let Some((dir, fit)) = dir.and_then(|dir| Some((dir, tmpfs::would_fit(dir, snapshot)?))) else {
        return Some(draft(reason("what is in it was not seen", "/tmp")).not_known("sudo ramline show tmpfs"));
    };
    if in_ram {
        in_ram_line(desk, draft(held(dir, &fit)), &fit, mounted.at == TMP)
    } else {
        on_disk_line(desk, draft(held(dir, &fit)), dir, &fit)
    }
}

fn size_of(mount: &mounts::Mount) -> String {
    mount.capacity.map_or("size not seen".to_owned(), |capacity| match capacity.size.0 {
        0 => "no limit".to_owned(),
        _ => capacity.size.to_string(),
    })
}

fn held(dir: &DirUse, fit: &Fit) -> Reason {
    let least = if fit.lower_bound { "at least " } else { "" };
    let text = format!("it holds {least}{} in {} files and directories", fit.need, dir.inodes);
    reason(text, "/tmp, walked")
}

/// Who mounts it.
fn set_by(desk: &Desk<'_>) -> Vec<String> {
    let tmp = &desk.set_up.tmp;
    let mut out: Vec<String> = tmp.enabled_by.clone();
    out.extend(tmp.masked.then(|| format!("{MASK} -> /dev/null")));
    let entries = edit::fstab::entries(desk.set_up.fstab.as_deref().unwrap_or_default()).unwrap_or_default();
    out.extend(entries.iter().filter(|entry| entry.at == TMP).map(|entry| format!("{FSTAB}:{}", entry.line)));
    out
}

fn breaks(fit: &Fit) -> String {
    let tight =
        fit.margins.iter().filter(|margin| margin.margin.is_negative()).map(|margin| look::limit_words(margin.model));
    let mut words: Vec<String> = tight.map(str::to_owned).collect();
    if fit.inode_margin < 0 {
        words.push("inodes".to_owned());
    }
    list(&words)
}

fn on_disk_line(desk: &mut Desk<'_>, draft: Draft, dir: &DirUse, fit: &Fit) -> Option<PlanLine> {
    let ram = desk.inputs.snapshot.mem_total()?;
    if desk.inputs.snapshot.machine.container.is_some() {
        return Some(draft.also([reason("in a container what mounts it is outside", "machine")]).keep());
    }
    if !fit.fits {
        return Some(draft.also([reason(format!("in RAM it would not fit: {}", breaks(fit)), "would-fit")]).keep());
    }
    if fit.lower_bound {
        return Some(
            draft.also([reason("parts of it could not be read", "/tmp")]).not_known("sudo ramline tune plan tmp"),
        );
    }
    if !matches!(desk.ask.goal, Goal::Latency | Goal::FlashWear) {
        let other = "in RAM it would fit and gain little: files that are read and deleted soon stay in the page cache anyway \
                     (moved: ramline tune plan tmp --goal flash-wear)";
        return Some(draft.also([reason(other, "would-fit")]).keep());
    }
    let size = Bytes((ram.0 / SIZE) >> 20 << 20);
    let per_user = per_user(desk, size, fit);
    let mut options = format!("mode=1777,nosuid,nodev,size={}M,nr_inodes={INODES}", size.0 >> 20);
    if let Some(limit) = per_user {
        options += &format!(",usrquota,usrquota_block_hardlimit={}M", limit.0 >> 20);
    }
    let hidden = dir.inodes.saturating_sub(1);
    let empty = hidden == 0;
    let steps = to_ram(desk, &options, empty || desk.ask.runtime_only);
    let users = per_user.map_or(String::new(), |limit| format!("{limit} a user, "));
    let when = if empty { "" } else { ", from the next boot" };
    let new = format!("tmpfs, {size}, {users}{INODES} inodes, nosuid, nodev{when}");
    let effect = "files in it are never written to the disk, and are gone after a reboot".to_owned();
    let hides = match (empty, desk.ask.runtime_only) {
        (true, _) => String::new(),
        (false, true) => format!(
            "; the {hidden} files in it now are hidden, sockets that programs use included: list them with find /tmp -xdev"
        ),
        (false, false) => format!(
            "; the {hidden} files in it now stay on the disk below the mount, hidden: list them with find /tmp -xdev"
        ),
    };
    let takes = format!("programs that fill it take up to {size} of RAM and swap from all others");
    let takes = match (per_user, desk.set_up.tmp.limits_users) {
        (Some(limit), _) if desk.ask.runtime_only => format!("{takes}, those of one user {limit}"),
        (Some(limit), _) => {
            format!("{takes}, those of one user {limit}; a kernel without quotas on tmpfs leaves /tmp on the disk")
        }
        (None, None) => format!("{takes}; planned as root, each user is limited where the kernel can"),
        (None, Some(_)) => takes,
    };
    let risk = format!("{takes}{hides}");
    Some(draft.change(new, effect, risk, steps))
}

/// What one user may have, where the kernel can limit it and what is in /tmp now would be allowed.
fn per_user(desk: &Desk<'_>, size: Bytes, fit: &Fit) -> Option<Bytes> {
    let limit = Bytes((size.0 / 100).saturating_mul(USER_PERCENT) >> 20 << 20);
    (desk.set_up.tmp.limits_users == Some(true) && fit.need <= limit).then_some(limit)
}

/// An entry in fstab, which systemd prefers to a unit of its own.
fn to_ram(desk: &mut Desk<'_>, options: &str, now: bool) -> Result<Vec<Step>, String> {
    let mount = Step::Mount { what: "tmpfs".into(), at: TMP.into(), fs: "tmpfs".into(), options: options.to_owned() };
    if desk.ask.runtime_only {
        return Ok(vec![mount]);
    }
    if desk.set_up.tmp.masked {
        return Err(format!(
            "{MASK} leads to /dev/null, which keeps /tmp on the disk; first: sudo systemctl unmask tmp.mount"
        ));
    }
    let fstab = desk.set_up.fstab.as_deref();
    let entries =
        edit::fstab::entries(fstab.unwrap_or_default()).map_err(|why| format!("{FSTAB} is left alone: {why}"))?;
    if let Some(entry) = entries.iter().find(|entry| entry.at == TMP) {
        return Err(format!("{FSTAB}:{} mounts {} at /tmp already; change it there", entry.line, entry.what));
    }
    let may_fail = if options.contains("usrquota") { format!(",{MAY_FAIL}") } else { String::new() };
    let entry = format!("tmpfs {TMP} tmpfs {options}{may_fail} 0 0");
    let edited = desk.edit(FSTAB, fstab, |text| Ok(edit::fstab::with_entry(text, &entry)))?;
    let mut steps = vec![Step::ReloadUnits, edited, Step::ReloadUnits];
    steps.extend(now.then_some(mount));
    Ok(steps)
}

fn in_ram_line(desk: &mut Desk<'_>, draft: Draft, fit: &Fit, own: bool) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let share = snapshot.mem_total().and_then(|ram| fit.need.share_of(ram)).unwrap_or_default();
    if !own || snapshot.machine.container.is_some() {
        return Some(draft.keep());
    }
    let short = super::need::swap_reason(desk.inputs);
    let asked = desk.ask.goal == Goal::Capacity && share >= LARGE;
    let why = match (short, fit.fits) {
        (Some(short), _) if share >= LARGE => short,
        (None, false) if share >= LARGE => reason(format!("it does not fit: {}", breaks(fit)), "would-fit"),
        _ if asked => reason(format!("it takes {} of RAM and swap", percent(share)), "--goal capacity"),
        _ => {
            let text = format!("it fits: {} of RAM", percent(share));
            return Some(draft.also([reason(text, "would-fit")]).keep());
        }
    };
    let steps = to_disk(desk);
    let effect = format!("{} of RAM and swap are free again", fit.need);
    let risk = "files in it are then written to the disk and stay after a reboot; what is in it at that boot is gone, as at every boot".to_owned();
    Some(draft.also([why]).change("on disk, from the next boot", effect, risk, steps))
}

/// From this share of RAM on it is worth the reboot.
const LARGE: f64 = 0.1;

fn to_disk(desk: &mut Desk<'_>) -> Result<Vec<Step>, String> {
    if desk.ask.runtime_only {
        return Err("programs use it, so it can be unmounted only at a boot".to_owned());
    }
    let fstab = desk.set_up.fstab.as_deref();
    let entries =
        edit::fstab::entries(fstab.unwrap_or_default()).map_err(|why| format!("{FSTAB} is left alone: {why}"))?;
    if let Some(entry) = entries.iter().find(|entry| entry.at == TMP) {
        let line = entry.line;
        let edited = desk.edit(FSTAB, fstab, |text| edit::fstab::without_entry(text.unwrap_or_default(), line))?;
        return Ok(vec![Step::ReloadUnits, edited, Step::ReloadUnits]);
    }
    if !desk.set_up.systemd || desk.set_up.tmp.file.is_none() {
        return Err("what mounts it was not found".to_owned());
    }
    let file = desk.set_up.tmp.file.as_deref().unwrap_or_default();
    if file == MASK {
        return Err(format!("{MASK} is a unit of its own: take it away by hand"));
    }
    let link = Step::Link { path: MASK.into(), before: None, after: Some("/dev/null".into()) };
    Ok(vec![Step::ReloadUnits, link, Step::ReloadUnits])
}
