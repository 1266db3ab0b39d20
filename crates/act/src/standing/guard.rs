//! Whether a change that has just been applied does harm: tasks that wait for memory, processes that are killed.
//!
//! Harm is what was not there before: the share of time in which all tasks wait, over each second of watching, against that of the second before
//! the change; and the kernel's count of kills.

use std::time::{Duration, Instant};

use ramline_kernel::stalls::{full_us, kills};
use ramline_kernel::{Root, guest, signals};

/// All tasks waiting for memory for more than this share of two seconds is a machine that does no work.
const MOST_WAITING: f64 = 0.4;
const SECOND: Duration = Duration::from_secs(1);

/// The state before a change.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    kills: Option<u64>,
    waiting: f64,
}

impl Guard {
    /// Looks for a second, before anything is changed.
    #[must_use]
    pub fn begin(root: &Root) -> Guard {
        // What is read from now on for the change is there for its undo too: one that watches a machine thrash must not thrash with it. Without the
        // right to it the guard is as quick as the machine lets it be.
        guest::stay_resident().ok();
        let (from, began) = (full_us(root), Instant::now());
        std::thread::sleep(SECOND);
        Guard { kills: kills(root), waiting: share(from, full_us(root), began.elapsed()) }
    }

    /// Watches for a while; the harm in words as soon as there is some. A signal ends the watching: the change is then undone too.
    #[must_use]
    pub fn watch(&self, root: &Root, span: Duration) -> Option<String> {
        let end = Instant::now() + span;
        let mut looks = vec![(Instant::now(), full_us(root))];
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
            let (now, us) = (Instant::now(), full_us(root));
            let from =
                looks.iter().rev().find(|(at, _)| now.duration_since(*at) >= SECOND * 2).or(looks.first()).copied();
            if let Some((at, from)) = from {
                let waiting = share(from, us, now.duration_since(at));
                if now.duration_since(at) >= SECOND * 2 && waiting > MOST_WAITING && waiting > self.waiting * 2.0 {
                    let (waiting, before) = (waiting * 100.0, self.waiting * 100.0);
                    return Some(format!(
                        "all tasks waited for memory {waiting:.0} % of the time, {before:.0} % before"
                    ));
                }
            }
            looks.push((now, us));
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

    #[test]
    fn a_kill_after_the_change_is_harm_and_one_before_it_is_not() {
        let (_quiet, quiet) = tree(7, 3);
        let guard = Guard { kills: kills(&quiet), waiting: 0.0 };
        assert_eq!(guard.watch(&quiet, Duration::from_millis(20)), None);
        let (_killed, killed) = tree(7, 4);
        assert!(guard.watch(&killed, Duration::from_millis(20)).unwrap().contains("killed 1"));
    }

    #[test]
    fn waiting_is_read_from_the_total_of_all_tasks() {
        let (_dir, root) = tree(2_500_000, 0);
        assert_eq!(share(Some(500_000), full_us(&root), Duration::from_secs(4)), 0.5);
        assert_eq!(share(None, full_us(&root), Duration::from_secs(4)), 0.0);
    }
}
