//! Swap areas: what reading a swapped page back would cost.
//!
//! Nothing is swapped: areas are only read, past the page cache and by root, and what is read is never looked at. A zram
//! device in use and an area that holds too few pages get the row of the tier they are on, named as such.

use ramline_kernel::direct::Direct;
use ramline_kernel::{swap, zram};
use ramline_snapshot::swaps::SwapArea;

use super::disk::{Reads, disk_notes, random_and_sequential, refuse_unless_reached};
use super::run::{BLOCK, Run, TiersError};
use crate::prelude::*;

/// Areas beyond these are named and left out.
const MOST_AREAS: usize = 3;

pub fn measure(run: &mut Run<'_>) -> Result<(), TiersError> {
    let areas = swap::areas(&run.options.root)?;
    if areas.is_empty() {
        run.skip("swap: no swap area is on");
    }
    let mut measured = 0;
    for area in areas {
        let id = format!("swap:{}", area.path);
        if let Some(number) = area.zram_number() {
            zram_area(run, &id, &area, number);
        } else if measured == MOST_AREAS {
            run.skip(format!("{id}: only {MOST_AREAS} areas are measured"));
        } else {
            measured += 1;
            let result = swap_area(run, &id, &area);
            let denied = matches!(&result, Err(TiersError::Kernel(error)) if error.is_denied());
            run.or_skip(&if denied { format!("{id}: not visible to this user") } else { id }, result)?;
        }
    }
    Ok(())
}

fn swap_area(run: &mut Run<'_>, id: &str, area: &SwapArea) -> Result<(), TiersError> {
    let direct = Direct::open(Path::new(&area.path))?;
    let size = Bytes(direct.size().0 / BLOCK * BLOCK);
    if size == Bytes::ZERO {
        let rule = "it must hold at least one page";
        return Err(KernelError::refused("read the swap area", &area.path, rule, "0 bytes").into());
    }
    let disk = requests::disk_of(&run.options.root, Path::new(&area.path));
    let millis = (run.millis(600, 300), run.millis(300, 150));
    let Reads { mut tier, reached } =
        random_and_sequential(run, disk.as_deref(), size, millis, &|buffer, offset| direct.read_at(buffer, offset))?;
    if let Err(error) = refuse_unless_reached(reached, Path::new(&area.path), "device") {
        return take_over(run, id, area, disk.as_deref()).ok_or_else(|| error.into());
    }
    tier.id = id.to_owned();
    tier.label = format!("swap area {} (priority {})", area.path, area.priority);
    tier.method = format!(
        "direct reads of random 4 KiB in the {size} of the area, one at a time; 1 MiB at a time in order; nothing written"
    );
    tier.notes = disk_notes(run, disk.as_deref().unwrap_or("this device"), None, false);
    run.add(tier);
    Ok(())
}

/// An area without data on the disk that was measured costs what that disk costs. `None` when no such disk was measured.
fn take_over(run: &mut Run<'_>, id: &str, area: &SwapArea, disk: Option<&str>) -> Option<()> {
    let same = requests::disk_of(&run.options.root, &run.options.dir).filter(|under| disk == Some(under.as_str()))?;
    let measured = run.report.disk()?.tier.clone();
    let why = format!("the area is on the same disk ({same}) and holds too few pages to be read itself");
    copy_row(run, &measured, id, area, &why)
}

/// A zram device in use is left alone: it costs what its algorithm cost on the scratch device or in user space.
fn zram_area(run: &mut Run<'_>, id: &str, area: &SwapArea, number: u32) {
    let selected =
        zram::Device::open(&run.options.root, number).algorithms().ok().and_then(|names| names.into_iter().next());
    let Some(algorithm) = selected else { return run.skip(format!("{id}: its algorithm cannot be read")) };
    let why = format!("a device in use is left alone; its algorithm is {algorithm}, the data here is generated");
    if copy_row(run, &format!("zram-{algorithm}"), id, area, &why).is_none() {
        return run
            .skip(format!("{id}: a device in use is left alone, and its algorithm {algorithm} was not measured"));
    }
    copy_row(run, &format!("zram-{algorithm}/write"), &format!("swap-write:{}", area.path), area, &why);
}

/// The row of another tier under the name of an area, named as such; `None` when there is none.
fn copy_row(run: &mut Run<'_>, from: &str, id: &str, area: &SwapArea, why: &str) -> Option<()> {
    let measured = run.report.tier(from)?;
    let row = TierMeasurement {
        tier: id.to_owned(),
        label: format!("swap area {} (as {from})", area.path),
        method: format!("taken over from {from}: {why}"),
        // They are counted where they were measured.
        batches: None,
        ..measured.clone()
    };
    run.report.tiers.push(row);
    Some(())
}
