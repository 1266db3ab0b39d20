//! Old data of sysstat as history: the moments of its files, written as a recorder would have written them.

use std::path::Path;

use ramline_history::sadf::SadfHost;
use ramline_history::{Encoder, Head, Note, Texts, from_snapshot, note};
use ramline_kernel::KernelError;

use crate::place::{files, prepare};
use crate::recording::PROCESSORS;
use crate::store::{Limits, Store};
use crate::{RecordSummary, Result};

/// Writes the moments of one host into a directory without history.
///
/// # Errors
/// The directory has history already or cannot be used, or the disk is full: what is written then stays.
pub fn import(dir: &Path, host: SadfHost, limits: Limits, ramline: &str) -> Result<RecordSummary> {
    prepare(dir)?;
    if !files(dir)?.is_empty() {
        let rule = "what is imported goes into a directory of its own, and it has history already";
        return Err(KernelError::refused("import into", dir, rule, "")
            .hint("ramline history import FILE --history NEW_DIR")
            .into());
    }
    let head = Head { host: Some(host.name.clone()), ramline: ramline.to_owned(), ..Head::default() };
    let mut store = Store::open(dir, limits, head)?;
    let (mut encoder, mut texts, mut done) = (Encoder::default(), Texts::new(), RecordSummary::default());
    let mut boot = None;
    for mut moment in host.moments {
        let at = moment.at;
        let is_other = store.ready(at.wall_ms)?;
        let mut bytes = Vec::new();
        let boot_id = moment.snapshot.machine.boot_id.clone();
        if is_other || boot != boot_id {
            encoder.start_anew();
            let began =
                Note::Began { version: ramline.to_owned(), boot_id: boot_id.clone(), interval_ms: host.interval_ms };
            bytes = note(at, &began);
            boot = boot_id;
        }
        // Nothing is kept of the moment before.
        texts.clear();
        from_snapshot(&mut moment.snapshot, &mut texts)?;
        texts.insert(PROCESSORS.to_owned(), serde_json::to_string(&moment.processors)?);
        bytes.extend(encoder.frame(at, &texts));
        store.append(at.wall_ms, &bytes)?;
        done.frames += 1;
        done.bytes += bytes.len() as u64;
    }
    store.sync()?;
    Ok(done)
}
