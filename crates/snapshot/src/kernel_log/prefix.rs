//! What stands in front of a message: the time, the level, the host, the program, in whatever order a tool put them.
//!
//! A prefix is taken off piece by piece until nothing is known any more, so that nested ones (a container's log of a syslog of dmesg) need no rule of
//! their own. Worked example: `Mar  1 00:46:00 host kernel: [   56.4] stress invoked oom-killer` is a date, a host, the program `kernel`, seconds since
//! boot, and the message.

use super::dates::{boot_time, calendar, klog, logged_at, word};
use super::stamp::Stamp;

/// Programs whose lines are the kernel's.
const KERNEL: [&str; 6] = ["kernel", "dmesg", "klogd", "kmsg", "printk", "Guest"];
/// No prefix has more pieces.
const MOST_PIECES: usize = 12;

/// A line without its prefix.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line<'a> {
    /// When it was logged.
    pub stamp: Option<Stamp>,
    /// The program that logged it, without its number; `None` where the prefix names none.
    pub program: Option<&'a str>,
    /// The task or processor that printed it (CONFIG_PRINTK_CALLER).
    pub caller: Option<&'a str>,
    /// The message.
    pub text: &'a str,
}

impl Line<'_> {
    /// It is, or may be, the kernel's own.
    pub fn is_kernel(&self) -> bool {
        self.program.is_none_or(|program| KERNEL.contains(&program) || program.ends_with("/kernel"))
    }
}

/// A line cut into its prefix and its message.
pub(super) fn line_of(text: &str) -> Line<'_> {
    let mut line = Line { text: unquoted(text), ..Line::default() };
    for _ in 0..MOST_PIECES {
        let before = line.text.len();
        bracket(&mut line);
        level(&mut line);
        kmsg(&mut line);
        date(&mut line);
        named(&mut line);
        if line.text.len() == before {
            break;
        }
    }
    // A hypervisor's or a relay's own words: the kernel's time is the last thing in front of the message.
    if let Some((stamp, rest)) = line.program.is_none().then(|| boot_time_inside(line.text)).flatten() {
        line.stamp = line.stamp.take().or(Some(stamp));
        line.text = rest;
        named(&mut line);
    }
    line
}

/// Without the `> ` of a mail that quotes a log, however often it was quoted.
fn unquoted(text: &str) -> &str {
    let mut rest = text;
    while let Some(quoted) = rest.trim_start().strip_prefix('>') {
        rest = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    rest
}

/// `[  123.456]`, `[ T123]`, `[Mon Nov 30 00:46:00 2026]`, `[  +0.002]`.
fn bracket(line: &mut Line<'_>) {
    let trimmed = line.text.trim_start_matches([' ', '\t', '>']);
    let Some((inside, rest)) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']')) else { return };
    let inner = inside.trim();
    let stamp = boot_time(inner).or_else(|| calendar(inner));
    let caller = inner
        .strip_prefix(['T', 'C'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let since_last = inner.strip_prefix('+').is_some_and(|digits| boot_time(digits).is_some());
    if stamp.is_none() && !caller && !since_last && !inner.starts_with("pod/") {
        return;
    }
    if caller {
        line.caller = Some(inner);
    }
    merge(line, stamp);
    // Of the message's own blanks only one is the prefix's.
    line.text = rest.strip_prefix(' ').unwrap_or(rest);
}

/// `kernel: ` or `systemd-oomd[659]: `: programs write into the kernel's log too, and its readers print who did.
fn named(line: &mut Line<'_>) {
    let (first, after) = word(line.text);
    if let Some(name) = program(first).filter(|name| first.ends_with("]:") || KERNEL.contains(name)) {
        line.program = Some(name);
        line.text = after;
    }
}

fn merge(line: &mut Line<'_>, stamp: Option<Stamp>) {
    let Some(stamp) = stamp else { return };
    match &mut line.stamp {
        Some(have) => {
            have.boot = have.boot.or(stamp.boot);
            if have.wall.is_none() {
                *have = Stamp { boot: have.boot, ..stamp };
            }
        }
        None => line.stamp = Some(stamp),
    }
}

/// The kernel's time somewhere in the first words.
fn boot_time_inside(text: &str) -> Option<(Stamp, &str)> {
    let head = text.get(..text.floor_char_boundary(120.min(text.len())))?;
    head.match_indices('[').find_map(|(at, _)| {
        let (inside, rest) = text.get(at + 1..)?.split_once(']')?;
        let (_, fraction) = inside.trim().split_once('.')?;
        // The kernel prints microseconds.
        let stamp = boot_time(inside.trim()).filter(|_| fraction.len() == 6)?;
        Some((stamp, rest.strip_prefix(' ').unwrap_or(rest)))
    })
}

/// `<6>` and `kern  :info  :` of dmesg -x.
fn level(line: &mut Line<'_>) {
    let trimmed = line.text.trim_start();
    if let Some((number, rest)) = trimmed.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        line.text = rest;
        return;
    }
    let Some((facility, rest)) = trimmed.split_once(':') else { return };
    let Some((level, rest)) = rest.split_once(':') else { return };
    if ["kern", "user", "daemon", "syslog", "auth"].contains(&facility.trim())
        && ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"].contains(&level.trim())
    {
        line.text = rest.strip_prefix(' ').unwrap_or(rest);
    }
}

/// `6,123,456789,-;message` of /dev/kmsg, with more fields in front of the semicolon where the kernel has them.
fn kmsg<'a>(line: &mut Line<'a>) {
    let Some((head, rest)) = line.text.split_once(';') else { return };
    let mut fields = head.split(',');
    let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (Some(_), Some(_), Some(micros)) = (number(), number(), number()) else { return };
    let seconds = std::time::Duration::from_micros(micros).as_secs_f64();
    merge(line, Some(Stamp::from_boot(&format!("{seconds:.6}"), seconds)));
    line.caller = head.split(',').find_map(|field| field.strip_prefix("caller=")).or(line.caller);
    line.text = rest;
}

/// A date and what a logger puts behind it: the host, and the program with its number.
fn date(line: &mut Line<'_>) {
    let trimmed = line.text.trim_start();
    let Some((stamp, rest)) = logged_at(trimmed) else { return };
    merge(line, Some(stamp));
    line.text = rest;
    // Behind the time of Kubernetes the message begins.
    if klog(trimmed).is_some() {
        return;
    }
    // A time alone, and a colon.
    if let Some(rest) = rest.strip_prefix(": ") {
        line.text = rest;
        return;
    }
    if let Some(rest) = container(rest) {
        line.text = rest;
        return;
    }
    let (first, after) = word(rest);
    let (second, behind) = word(after);
    // Without a host in front, a word with a colon may begin the message: only one with a number, or the kernel's name, is a program.
    let rest = if let Some(name) = program(first).filter(|name| first.ends_with("]:") || KERNEL.contains(name)) {
        line.program = Some(name);
        after
    } else if let Some(name) = program(second) {
        line.program = Some(name);
        behind
    } else if let Some(rest) = logcat(line, rest) {
        rest
    } else {
        return;
    };
    line.text = rest;
}

/// `kernel:`, `earlyoom[12]:`.
fn program(word: &str) -> Option<&str> {
    let name = word.strip_suffix(':')?;
    let name = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) => return None,
        None => name,
    };
    (!name.is_empty() && !name.contains(['=', '*', '(', '"'])).then_some(name)
}

/// `stdout F message` of a container's log.
fn container(text: &str) -> Option<&str> {
    ["stdout ", "stderr "].iter().find_map(|stream| {
        let rest = text.strip_prefix(stream)?;
        rest.strip_prefix("F ").or_else(|| rest.strip_prefix("P "))
    })
}

/// `  879   879 I lmkd    : message` of Android.
fn logcat<'a>(line: &mut Line<'a>, text: &'a str) -> Option<&'a str> {
    let (process, rest) = word(text);
    let (thread, rest) = word(rest);
    let (level, rest) = word(rest);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(process) && digits(thread) && level.len() == 1).then_some(())?;
    let (name, rest) = rest.split_once(": ").filter(|(name, _)| name.len() < 40)?;
    line.program = Some(name.trim());
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "leak invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0";

    #[test]
    fn every_prefix_leaves_the_message() {
        for prefix in [
            "",
            "[   12.345678] ",
            "[   12.345678][ T1778] ",
            "<4>[   12.345678] ",
            "[Mon Nov 30 00:46:00 2026] ",
            "[  +0.002367] ",
            "kern  :warn  : [   12.345678] ",
            "4,1968,12345678,-;",
            "> Nov 30 00:46:00 host kernel: ",
            "> > >> [   12.345678] ",
            "4,1968,12345678,c,caller=T12;",
            "Nov 30 00:46:00 host kernel: ",
            "Nov 30 00:46:00 host kernel: [   12.345678] ",
            "Nov 30 00:46:00.123456 host kernel: ",
            "2026-11-30T00:46:00+0100 host kernel: ",
            "2026-11-30T00:46:00.123456+01:00 host kernel: [   12.345678] ",
            "Mon 2026-11-30 00:46:00 UTC host kernel: ",
            "1772322360.123456 host kernel: ",
            "mars 01 00:46:00 host kernel: ",
            "янв 01 00:46:00 host kernel: ",
            "30 nov. 00:46:00 host kernel: ",
            "[四 11月 30 00:46:00 2026] ",
            "Nov 30 00:46:00: ",
            "[   12.345678] kernel: ",
            "2026-11-30T00:46:00.123456789Z stdout F Nov 30 00:46:00 host kernel: ",
            "[pod/name/main] 2026-11-30T00:46:00.123456789Z [   12.345678] ",
            "2026-11-30T00:46:00.123Z| vcpu-5 - Guest: <6>[   12.345678] ",
        ] {
            let text = format!("{prefix}{MESSAGE}");
            let line = line_of(&text);
            assert_eq!(line.text, MESSAGE, "{prefix}");
            assert!(line.is_kernel(), "{prefix}");
            assert_eq!(
                line.stamp.is_some(),
                !prefix.is_empty() && !prefix.contains('+') || prefix.contains("T00:"),
                "{prefix}"
            );
        }
    }

    #[test]
    fn rows_of_a_task_table_and_lines_of_other_programs_are_no_prefix() {
        let row = "[  893]     0   893    27572     1402   249856        0             0 531";
        assert_eq!(line_of(row).text, row);
        let other = line_of("Nov 30 00:46:00 host sshd[7]: Out of memory: Killed process 1 (init)");
        assert!(!other.is_kernel());
        let android = line_of("01-01 00:46:00.739   879   879 I lmkd    : Kill 'a.b' (591), uid 1");
        assert_eq!((android.program, android.text), (Some("lmkd"), "Kill 'a.b' (591), uid 1"));
    }
}
