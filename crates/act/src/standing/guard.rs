//! Whether a change that has just been applied does harm: tasks that wait for memory, pages that come back, processes that are killed, writes that
//! zram refuses, a mount of the change that is full.
//!
//! Harm is what was not there before: rates over two seconds of watching against those of the second before the change, each above a least value
//! and more than twice as high; and the kernel's count of kills. Pages that come back count only where tasks wait for them: a scan of files
//! larger than RAM on a healthy machine refaults by the thousand, and nothing waits.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramline_kernel::stalls::{full_us, kills, refaults, refused_writes, used_share};
use ramline_kernel::{Root, guest, signals};
use ramline_plan::Step;

/// All tasks waiting for memory for more than this share of two seconds is a machine that does no work.
const MOST_WAITING: f64 = 0.4;
const SECOND: Duration = Duration::from_secs(1);

/// All tasks waiting for more than this share, where pages that had left come back: the change has pushed out what is in use.
const WAITING_FOR_PAGES: f64 = 0.2;
/// Pages a second that come back, from which they count: 4 MiB/s.
const COMING_BACK: f64 = 1000.0;
/// Pages that a zram device refuses within two seconds, from which its size or limit is wrong: single ones fail where memory is short for a moment.
const REFUSED: f64 = 64.0;
/// A mount of the change from this share on is full.
const FULL: f64 = 0.98;

/// What is counted.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    waited_us: Option<u64>,
    back: Option<u64>,
    refused: u64,
}

impl Look {
    fn now(root: &Root) -> Look {
        Look { at: Instant::now(), waited_us: full_us(root), back: refaults(root), refused: refused_writes(root) }
    }

    fn rates(&self, now: &Look) -> Rates {
        let span = now.at.duration_since(self.at);
        Rates {
            waiting: share(self.waited_us, now.waited_us, span),
            // Microseconds and a share give pages and a rate by the same arithmetic.
            back: share(self.back, now.back, span) * 1e6,
            refused: share(Some(self.refused), Some(now.refused), span) * 1e6,
        }
    }
}

/// Of one span.
#[derive(Debug, Clone, Copy, Default)]
struct Rates {
    /// Share of the time in which all tasks waited.
    waiting: f64,
    /// Pages a second that had left and were read again.
    back: f64,
    /// Pages a second that zram refused.
    refused: f64,
}

impl Rates {
    /// What is new since before, in words.
    fn harm(&self, before: &Rates) -> Option<String> {
        let percent = |share: f64| share * 100.0;
        let grown = |now: f64, then: f64, least: f64| now > least && now > then * 2.0;
        if grown(self.waiting, before.waiting, MOST_WAITING) {
            let (now, then) = (percent(self.waiting), percent(before.waiting));
            return Some(format!("all tasks waited for memory {now:.0} % of the time, {then:.0} % before"));
        }
        if grown(self.waiting, before.waiting, WAITING_FOR_PAGES) && grown(self.back, before.back, COMING_BACK) {
            return Some(format!(
                "{:.0} pages a second were needed again soon after they had been reclaimed, {:.0} before, and all tasks waited {:.0} % of the time",
                self.back,
                before.back,
                percent(self.waiting)
            ));
        }
        grown(self.refused, before.refused, REFUSED / 2.0)
            .then(|| format!("zram refused {:.0} pages a second, {:.0} before", self.refused, before.refused))
    }
}

/// The state before a change.
#[derive(Debug, Clone)]
pub struct Guard {
    kills: Option<u64>,
    rates: Rates,
    mounts: Vec<PathBuf>,
}

impl Guard {
    /// Looks for a second, before anything is changed; what the steps mount is watched as well.
    #[must_use]
    pub fn begin(root: &Root, steps: &[Step]) -> Guard {
        // What is read from now on for the change is there for its undo too: one that watches a machine thrash must not thrash with it. Without the
        // right to it the guard is as quick as the machine lets it be.
        guest::stay_resident().ok();
        let from = Look::now(root);
        std::thread::sleep(SECOND);
        let mounts = steps.iter().filter_map(|step| match step {
            Step::Mount { at, .. } => Some(PathBuf::from(at)),
            _ => None,
        });
        Guard { kills: kills(root), rates: from.rates(&Look::now(root)), mounts: mounts.collect() }
    }

    /// Watches for a while; the harm in words as soon as there is some. A signal ends the watching: the change is then undone too.
    #[must_use]
    pub fn watch(&self, root: &Root, span: Duration) -> Option<String> {
        let end = Instant::now() + span;
        let mut looks = vec![Look::now(root)];
        while Instant::now() < end {
            std::thread::sleep(SECOND.min(end.saturating_duration_since(Instant::now())));
            if signals::received().is_some() {
                return Some("it was interrupted while it was watched".to_owned());
            }
            if let (Some(before), Some(now)) = (self.kills, kills(root))
                && now > before
            {
                return Some(format!("the kernel killed {} processes for memory", now - before));
            }
            let full = |at: &&PathBuf| used_share(at).is_some_and(|share| share >= FULL);
            if let Some(at) = self.mounts.iter().find(full) {
                return Some(format!("{} is full", at.display()));
            }
            let now = Look::now(root);
            let from = looks.iter().rev().find(|look| now.at.duration_since(look.at) >= SECOND * 2);
            if let Some(harm) = from.and_then(|from| from.rates(&now).harm(&self.rates)) {
                return Some(harm);
            }
            looks.push(now);
        }
        None
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share of a few seconds")]
fn share(from: Option<u64>, to: Option<u64>, span: Duration) -> f64 {
    let grown = from.zip(to).and_then(|(from, to)| ramline_units::growth(from, to));
    grown.map_or(0.0, |us| us as f64 / 1e6 / span.as_secs_f64().max(1e-3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(full: u64, kills: u64) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc/pressure")).unwrap();
        let some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=5";
        std::fs::write(
            dir.path().join("proc/pressure/memory"),
            format!("{some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"),
        )
        .unwrap();
        std::fs::write(dir.path().join("proc/vmstat"), format!("nr_free_pages 1\noom_kill {kills}\n")).unwrap();
        let root = Root::new(dir.path());
        (dir, root)
    }

    fn guard(root: &Root, rates: Rates) -> Guard {
        Guard { kills: kills(root), rates, mounts: vec![] }
    }

    #[test]
    fn a_kill_after_the_change_is_harm_and_one_before_it_is_not() {
        let (_quiet, quiet) = tree(7, 3);
        let guard = guard(&quiet, Rates::default());
        assert_eq!(guard.watch(&quiet, Duration::from_millis(20)), None);
        let (_killed, killed) = tree(7, 4);
        assert!(guard.watch(&killed, Duration::from_millis(20)).unwrap().contains("killed 1"));
    }

    #[test]
    fn a_mount_of_the_change_that_is_full_is_harm_and_another_is_not() {
        let (_quiet, quiet) = tree(7, 3);
        let mounts = vec![PathBuf::from("/proc")];
        // /proc has no blocks, so that it is never full.
        assert_eq!(Guard { mounts, ..guard(&quiet, Rates::default()) }.watch(&quiet, Duration::from_millis(20)), None);
        assert!(used_share(std::path::Path::new("/")).is_some_and(|share| (0.0..=1.0).contains(&share)));
    }

    #[test]
    fn waiting_alone_counts_from_two_fifths_and_with_pages_that_come_back_from_a_fifth() {
        let calm = Rates::default();
        let rates = |waiting, back, refused| Rates { waiting, back, refused };
        assert_eq!(rates(0.4, 0.0, 0.0).harm(&calm), None);
        assert!(rates(0.41, 0.0, 0.0).harm(&calm).unwrap().contains("41 % of the time, 0 % before"));
        assert_eq!(rates(0.41, 0.0, 0.0).harm(&rates(0.21, 0.0, 0.0)), None, "it waited before");
        assert!(rates(0.21, 1001.0, 0.0).harm(&calm).unwrap().starts_with("1001 pages a second"));
        assert_eq!(rates(0.19, 90_000.0, 0.0).harm(&calm), None, "a scan of files larger than RAM");
        assert_eq!(rates(0.21, 1900.0, 0.0).harm(&rates(0.0, 1000.0, 0.0)), None, "they came back before");
    }

    #[test]
    fn pages_that_zram_refuses_are_harm_where_it_did_not_before() {
        let refused = |refused| Rates { refused, ..Rates::default() };
        assert!(refused(33.0).harm(&refused(0.0)).unwrap().contains("refused 33 pages"));
        assert_eq!((refused(32.0).harm(&refused(0.0)), refused(90.0).harm(&refused(50.0))), (None, None));
    }

    #[test]
    fn waiting_is_read_from_the_total_of_all_tasks() {
        let (_dir, root) = tree(2_500_000, 0);
        assert_eq!(share(Some(500_000), full_us(&root), Duration::from_secs(4)), 0.5);
        assert_eq!(share(None, full_us(&root), Duration::from_secs(4)), 0.0);
    }
}
