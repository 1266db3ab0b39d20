//! `cache run`: what a command that was kept apart has read, and what is left of it.

use ramline_snapshot::cache::{Apart, Ran};

use crate::prelude::*;

impl Screen for Ran {
    fn sheet(&self) -> Sheet {
        let (mut sheet, done) = (Sheet::new(), self);
        sheet.answer(Paint::Bold, answer(self));
        sheet.line(bound(self));
        if let Some(cached) = done.cached {
            let left = done.left.unwrap_or(Bytes::ZERO);
            sheet.line(if done.kept {
                format!("{left} of what it brought in are in the page cache still (--keep).")
            } else if left == Bytes::ZERO {
                format!("The {cached} of page cache it had at its end were given back.")
            } else {
                format!("Of the {cached} of page cache it had at its end {left} stay: dirty, or in use by others.")
            });
        } else if done.apart == Apart::Scope {
            sheet.line("What it brought in and is still in the page cache cannot be counted here.");
        }
        if done.oom_kills > 0 {
            let killed = number::things(done.oom_kills, "process");
            sheet.warn(format!("The limit left no memory, and the kernel ended {killed} of it. Try: a larger --limit"));
        }
        let left = || number::things(done.ended, "process");
        let left =
            (done.ended > 0).then(|| format!("It left {} running; they were ended with its control group.", left()));
        sheet.warn(left);
        sheet
    }
}

fn answer(done: &Ran) -> String {
    let (name, end) = (done.command.first().map_or("", String::as_str), end(done));
    format!("{name} {end} after {}; it read {} from disks and wrote {}.", done.wall, done.read, done.written)
}

fn end(done: &Ran) -> String {
    match (done.status, done.signal) {
        (Some(0), _) => "ended".to_owned(),
        (Some(status), _) => format!("ended with exit status {status}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn bound(done: &Ran) -> String {
    let apart = match done.apart {
        Apart::Group => "a control group of its own",
        Apart::Scope => "a scope of systemd",
    };
    let raised = match done.raised_to {
        Some(most) if most > done.limit => format!(", raised up to {most} as its own memory grew"),
        _ => String::new(),
    };
    let peak = done.peak.map(|peak| format!("; it had {peak} at most")).unwrap_or_default();
    format!("Kept apart in {apart}: {} for it and what it reads{raised}{peak}.", done.limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_units::Nanos;

    #[test]
    fn it_says_what_was_read_and_what_is_left() {
        let done = Ran {
            command: vec!["tar".to_owned()],
            limit: Bytes::from_mib(128),
            raised_to: Some(Bytes::from_mib(200)),
            status: Some(2),
            wall: Nanos(2_000_000_000),
            read: Bytes::from_gib(1),
            peak: Some(Bytes::from_mib(190)),
            cached: Some(Bytes::from_mib(100)),
            left: Some(Bytes::ZERO),
            ..Ran::default()
        };
        let text = done.text(&Style { colour: false, width: 100 });
        assert!(text.starts_with("tar ended with exit status 2 after 2.0 s; it read 1.0 GiB from disks"), "{text}");
        assert!(text.contains("128.0 MiB for it and what it reads, raised up to 200.0 MiB"), "{text}");
        assert!(text.contains("The 100.0 MiB of page cache it had at its end were given back."), "{text}");
    }
}
