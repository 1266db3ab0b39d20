//! What a process, and the children it waited for, have done so far: from /proc/PID/stat.

use ramline_units::Nanos;

use crate::prelude::*;

/// One look at a process that need not be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Its number.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Start in clock ticks after boot: with the number, its identity.
    pub started: u64,
    /// Its name (`comm`).
    pub name: String,
    /// Processor time of its own, in steps of a clock tick.
    pub own: Nanos,
    /// Processor time of children that it waited for.
    pub waited: Nanos,
    /// Resident memory.
    pub rss: Bytes,
    /// Where its code and its stack begin: at random with each exec(2), and kept by fork(2), so that two with the same are one program.
    /// `None` where this user may not know.
    pub image: Option<(u64, u64)>,
}

/// Looks at one.
///
/// # Errors
/// When it has ended.
pub fn work(root: &Root, pid: u32) -> Result<Work> {
    let path = root.path(format!("/proc/{pid}/stat"));
    let text = read_text(&path)?;
    let hertz = rustix::param::clock_ticks_per_second();
    parse(&text, hertz, super::page_size()).ok_or_else(|| KernelError::malformed("read", &path, &text))
}

/// Fields as proc(5) numbers them; the name stands in parentheses and may hold anything.
fn parse(text: &str, hertz: u64, page: u64) -> Option<Work> {
    let (head, rest) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The first of them is field 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let time = |ticks: u64| Nanos(ticks.saturating_mul(1_000_000_000) / hertz.max(1));
    Some(Work {
        pid: pid.trim().parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        started: field(22)?,
        name: name.to_owned(),
        own: time(field(14)?.saturating_add(field(15)?)),
        waited: time(field(16)?.saturating_add(field(17)?)),
        rss: Bytes(field(24)?.saturating_mul(page)),
        // 1 and 0 stand for what is not shown.
        image: field(26).zip(field(28)).filter(|(code, stack)| *code > 1 && *stack > 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_process_and_of_the_children_it_waited_for() {
        let text = "12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 9 10 11 4096 5000 6000";
        let seen = parse(text, 100, 4096).unwrap();
        assert_eq!((seen.pid, seen.parent, seen.name.as_str(), seen.started), (12, 1, "a) b", 777));
        assert_eq!((seen.own, seen.waited), (Nanos(110_000_000), Nanos(150_000_000)));
        assert_eq!((seen.rss, seen.image), (Bytes(10 * 4096), Some((4096, 6000))));
        assert_eq!(parse("12 (x", 100, 4096), None);
    }
}
