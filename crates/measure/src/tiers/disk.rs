//! Disks, past the page cache: the one under the chosen directory, and the reads that `areas` uses as well.
//!
//! Not a drive at its best: one request at a time: what a fault on a file or a swapped page waits for.
//! Caches of the drive and of a hypervisor cannot be excluded; the notes name them.

use ramline_kernel::place::{self, Place};
use ramline_kernel::scratch;
use ramline_units::growth;

use super::existing;
use super::run::{BLOCK, PIECE, Run, Tier, TierOptions, TiersError};
use super::timing::TimingPlan;
use crate::prelude::*;

/// The scratch file, when there is room and time for all of it.
pub const SCRATCH: Bytes = Bytes::from_mib(256);
/// Writing stops after this time; what has been written by then is used.
const WRITE_TIME: Duration = Duration::from_millis(2000);
/// A slow disk still gets this much.
const LEAST_SCRATCH: u64 = 16 << 20;

/// A file to read from, without direct I/O until it is switched on.
pub struct Source {
    pub file: File,
    pub path: PathBuf,
    pub size: Bytes,
    /// Ours and without a name: nobody else can shorten it, so it can be mapped.
    pub own: bool,
}

pub fn measure(run: &mut Run<'_>) -> Result<(), TiersError> {
    let id = format!("disk:{}", run.options.dir.display());
    let result = measure_as(run, &id);
    run.or_skip(&id, result)
}

fn measure_as(run: &mut Run<'_>, id: &str) -> Result<(), TiersError> {
    let options = run.options;
    let dir = scratch_dir(options);
    let place = place::describe(&dir)?;
    place.refuse_unless_disk("measure the disk under")?;
    let source = if options.quick { existing_source(options)? } else { write_scratch(run, &dir, &place)? };
    let result = read_source(run, id, &source, &place);
    let switched = scratch::set_direct(&source.file, &source.path, false);
    run.scratch = switched.is_ok().then_some(source);
    result
}

fn read_source(run: &mut Run<'_>, id: &str, source: &Source, place: &Place) -> Result<(), TiersError> {
    scratch::set_direct(&source.file, &source.path, true)?;
    let of =
        if source.own { "a scratch file written just before".to_owned() } else { source.path.display().to_string() };
    let device = place.device.clone().unwrap_or_else(|| "an unknown device".to_owned());
    let millis = (run.millis(1200, 500), run.millis(800, 300));
    let Reads { mut tier, reached } =
        random_and_sequential(run, place.device.as_deref(), source.size, millis, &|buffer: &mut Buffer, offset| {
            source
                .file
                .read_exact_at(buffer.bytes_mut(), offset)
                .map_err(|error| KernelError::io(format!("read at {offset} of"), &source.path, error))
        })?;
    refuse_unless_reached(reached, &source.path, "device")?;
    tier.id = id.to_owned();
    tier.label = format!("disk under {} ({device}, {})", run.options.dir.display(), place.fs_type);
    tier.method =
        format!("direct reads of random 4 KiB in {} of {of}, one at a time; 1 MiB at a time in order", source.size);
    tier.notes = disk_notes(run, &device, place.rotational, source.own);
    run.add(tier);
    Ok(())
}

/// What the reads of one place gave.
pub struct Reads {
    pub tier: Tier,
    /// Share of the requests that reached the device, at most 1; `None` where the device does not count.
    pub reached: Option<f64>,
}

/// Fewer than this and most of what was timed is the file system answering for blocks never written.
const REACHED: f64 = 0.9;

/// Also for swap areas: everything but the names. `millis`: for the random and for the sequential reads.
pub fn random_and_sequential(
    run: &Run<'_>,
    disk: Option<&str>,
    size: Bytes,
    millis: (u64, u64),
    read: &dyn Fn(&mut Buffer, u64) -> Result<(), KernelError>,
) -> Result<Reads, TiersError> {
    let count = || disk.and_then(|disk| requests::reads_completed(&run.options.root, disk));
    let before = count();
    let blocks = size.0 / BLOCK;
    let mut random = SplitMix64::new(run.options.seed);
    let mut page = Buffer::new(usize::try_from(BLOCK).unwrap_or(4096))?;
    let series = run.time(TimingPlan::within_ms(millis.0), 1, |_| read(&mut page, random.below(blocks) * BLOCK))?;
    let asked = series.latency().map_or(0, |latency| latency.n);
    let reached = reached(before, count(), asked);
    let mut piece = Buffer::new(usize::try_from(PIECE).unwrap_or(1 << 20))?;
    let throughput =
        run.sequential(size.0, millis.1, "direct reads of 1 MiB in order", |offset| read(&mut piece, offset))?;
    Ok(Reads { tier: Tier { series: Some(series), throughput, ..Tier::default() }, reached })
}

#[expect(clippy::cast_precision_loss, reason = "counts of a second's requests")]
/// Of so many requests the share that the device saw between two readings of its counter; `None` where it does not count.
pub fn reached(before: Option<u64>, after: Option<u64>, asked: u64) -> Option<f64> {
    let seen = growth(before?, after?)?;
    Some(if asked == 0 { 1.0 } else { (seen as f64 / asked as f64).min(1.0) })
}

/// Refused when the device (`what`) did not see most of the requests.
pub fn refuse_unless_reached(reached: Option<f64>, path: impl AsRef<Path>, what: &str) -> Result<(), KernelError> {
    let Some(share) = reached.filter(|share| *share < REACHED) else { return Ok(()) };
    let rule = format!("at least 90 % of the requests must reach the {what}; blocks that were never written do not");
    Err(KernelError::refused("believe the reads of", path.as_ref(), rule, format!("{:.0} % did", share * 100.0)))
}

pub fn disk_notes(run: &Run<'_>, device: &str, rotational: Option<bool>, fresh: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if hardware::read(&run.options.root).hypervisor.is_some() {
        // virtio_blk names its disks vda, vdb and so on.
        let kind = if device.starts_with("vd") { " (virtio)" } else { "" };
        notes
            .push(format!("{device}{kind} belongs to a virtual machine: the hypervisor may answer from its own cache"));
    }
    if fresh {
        notes.push("the data was written just before: the drive's own cache may still hold it".to_owned());
    }
    if rotational == Some(true) {
        notes.push("the device reports itself as a hard disk: within a small file seeks are shorter than real ones, and below 1 ms something else answers".to_owned());
    }
    notes
}

/// A directory where files without a name can be made, on the same file system as the directory to measure.
pub fn scratch_dir(options: &TierOptions) -> PathBuf {
    let number = |dir: &Path| place::describe(dir).ok().map(|place| place.device_number);
    if options.dir == Path::new("/") {
        let root = number(&options.dir);
        let candidates = ["/var/tmp", "/tmp", "/"].map(Path::new);
        let usable = |dir: &&Path| number(dir) == root && scratch::unnamed_file(dir).is_ok();
        if let Some(dir) = candidates.into_iter().find(usable) {
            return dir.to_owned();
        }
    }
    options.dir.clone()
}

fn existing_source(options: &TierOptions) -> Result<Source, TiersError> {
    let none = || {
        let numbers = format!("none above {} was found in a short search", existing::LEAST);
        let rule = "a quick run writes nothing and needs a file that is there";
        KernelError::refused("read a large file on the disk under", &options.dir, rule, numbers)
            .hint("ramline measure tiers")
    };
    let (file, path, size) = existing::largest(&options.dir).ok_or_else(none)?;
    let size = Bytes(size.0 / BLOCK * BLOCK);
    Ok(Source { file, path, size, own: false })
}

/// Writes random data past the page cache, 1 MiB at a time, until it is large enough or the time is over.
fn write_scratch(run: &mut Run<'_>, dir: &Path, place: &Place) -> Result<Source, TiersError> {
    let tried = "write a scratch file in";
    let wanted = SCRATCH.0.min(place.available.0 / 8 / PIECE * PIECE);
    if wanted < LEAST_SCRATCH {
        let numbers = format!("{} available", place.available);
        return Err(KernelError::refused(tried, dir, "eight times 16 MiB must be free", numbers).into());
    }
    let file = scratch::unnamed_file(dir)?;
    scratch::set_direct(&file, dir, true)?;
    let mut buffer = Buffer::new(usize::try_from(PIECE).unwrap_or(1 << 20))?;
    let mut random = SplitMix64::new(run.options.seed);
    buffer.bytes_mut().chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.next_u64().to_le_bytes()));
    let start = Instant::now();
    let mut size = 0;
    while size < wanted && (size < LEAST_SCRATCH || start.elapsed() < WRITE_TIME) {
        run.go_on()?;
        // No two blocks alike, for file systems and hypervisors that store equal blocks once.
        buffer
            .bytes_mut()
            .chunks_exact_mut(4096)
            .for_each(|block| block[..8].copy_from_slice(&random.next_u64().to_le_bytes()));
        file.write_all_at(buffer.bytes(), size).map_err(|error| KernelError::io(tried, dir, error))?;
        size += PIECE;
        run.written += Bytes(PIECE);
    }
    file.sync_data().map_err(|error| KernelError::io("sync the scratch file in", dir, error))?;
    Ok(Source { file, path: dir.join("(scratch file without a name)"), size: Bytes(size), own: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(seen: u64) -> Option<f64> {
        reached(Some(0), Some(seen), 1000)
    }

    #[test]
    fn reads_of_blocks_never_written_are_not_believed() {
        let error = refuse_unless_reached(share(5), Path::new("/swapfile"), "device").unwrap_err();
        assert!(error.is_refused() && error.to_string().contains("0 % did"), "{error}");
        assert!(refuse_unless_reached(share(899), Path::new("/swapfile"), "device").is_err());
        assert!(refuse_unless_reached(share(900), Path::new("/swapfile"), "device").is_ok());
    }

    #[test]
    fn others_may_read_as_well_and_a_device_that_does_not_count_is_believed() {
        assert!(refuse_unless_reached(share(5000), Path::new("/swapfile"), "device").is_ok());
        assert!(refuse_unless_reached(None, Path::new("/swapfile"), "device").is_ok());
    }
}
