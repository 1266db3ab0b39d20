//! Settings the reader has chosen: ramline does not judge them, it makes them last, watches what they do, and takes them back.

use super::desk::{Desk, Setting};
use super::line::{Draft, reason};

/// Pairs of which setting one makes the other 0.
const EXCLUSIVE: [(&str, &str); 4] = [
    ("dirty_bytes", "dirty_ratio"),
    ("dirty_ratio", "dirty_bytes"),
    ("dirty_background_bytes", "dirty_background_ratio"),
    ("dirty_background_ratio", "dirty_background_bytes"),
];

pub(super) fn plan(desk: &mut Desk<'_>) {
    let ask = desk.ask;
    for (key, then) in &ask.own {
        let name = key.strip_prefix("vm.").unwrap_or(key);
        let settings = desk.inputs.snapshot.settings.data();
        let value = |name: &str| settings.and_then(|settings| settings.get(name));
        let now = value(name);
        let why = reason("you asked for it", format!("--set {key}={then}"));
        let draft = Draft::of(key, now.map(|now| now.to_string()), why).set_by(desk.set_by(key));
        let line = match now {
            None => draft.not_known(format!("cat /proc/sys/vm/{name}")),
            Some(now) if now == *then => draft.keep(),
            Some(now) => {
                let instead = EXCLUSIVE.iter().find(|(own, _)| *own == name).map(|(_, other)| *other);
                let instead = instead.and_then(|other| Some((other, value(other)?)));
                let steps = desk.set(&[Setting { name, now, then: *then, instead }]);
                draft.change(then.to_string(), String::new(), "not judged: it is your own value".to_owned(), steps)
            }
        };
        desk.lines.push(line);
    }
}
