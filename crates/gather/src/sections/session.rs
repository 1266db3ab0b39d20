//! A session of repeated readings of one machine, as an exporter and a live screen read them: what is read stays open, and what a machine is
//! is asked by the minute.
//!
//! Worked example: beside 200 control groups a reading takes 1,400 reads of files that are open, where without it they are opened each time.

use ramline_kernel::process::boottime;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::{Snapshot, Wanted};

use super::open::{AGAIN, Open, OpenFiles, OpenGroups};
use super::reader::Reader;
use super::{Walking, machine, read};
use crate::prelude::*;

/// A session of readings of this machine, or of a captured tree, whose files are not kept open.
#[derive(Debug)]
pub struct Session {
    root: Root,
    open: Open,
    machine: Option<(Instant, Machine)>,
}

impl Session {
    /// A session that has read nothing yet.
    #[must_use]
    pub fn new(root: &Root) -> Session {
        // The groups raise the limit of descriptors first.
        let groups = OpenGroups::new();
        Session { root: root.clone(), open: Open { files: OpenFiles::new(), groups }, machine: None }
    }

    /// Reads sections.
    pub fn snapshot(&mut self, want: Wanted) -> Snapshot {
        self.open.files.begin();
        let reader = Reader::with_open(&self.root, &self.open);
        let now = Instant::now();
        if self.machine.as_ref().is_none_or(|(at, _)| now.duration_since(*at) > AGAIN) {
            self.machine = Some((now, machine::machine(&reader)));
        }
        let known = self.machine.as_ref().map(|(_, machine)| machine.clone()).unwrap_or_default();
        let taken = if self.root.is_live() {
            Machine { uptime: Some(boottime()), taken_unix_ns: machine::unix_ns(), ..known }
        } else {
            known
        };
        read(&reader, Snapshot::new(taken), want, Walking::Never)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather;

    #[test]
    fn a_second_reading_has_what_the_first_had_and_is_of_its_own_moment() {
        const WANT: Wanted = Wanted { meminfo: true, vmstat: true, mounts: true, groups: true, ..Wanted::NOTHING };
        let mut session = Session::new(&Root::live());
        let first = session.snapshot(WANT);
        // Page faults of our own, so that there are some in between.
        drop(std::hint::black_box(vec![1_u8; 8 << 20]));
        let second = session.snapshot(WANT);
        assert!(second.machine.uptime > first.machine.uptime && second.machine.host == first.machine.host);
        assert_eq!(second.mem_total(), gather(&Root::live(), WANT).mem_total());
        let mounts = |seen: &Snapshot| seen.mounts.data().map(Vec::len);
        assert_eq!(mounts(&first), mounts(&second));
        let faults = |seen: &Snapshot| seen.vmstat.data().and_then(|vmstat| vmstat.pgfault);
        assert!(faults(&second) > faults(&first), "read anew");
        let known = |seen: &Snapshot| seen.groups.data().map(|groups| groups.version);
        assert_eq!(known(&first), known(&second));
    }
}
