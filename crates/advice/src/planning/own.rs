//! Settings the reader has chosen: ramline does not judge them, it makes them last, watches what they do, and takes them back.

use ramline_model::settings::bounds::refused;

use super::desk::{Desk, Setting};
use super::harsh;
use super::line::{Draft, reason};
use crate::slip::slip;

/// The risk of a value of the reader's own that takes little, or of which nothing is known.
pub const NOT_JUDGED: &str = "not judged: it is your own value";

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
        let value = |name: &str| settings.and_then(|settings| settings.get(name).or_else(|| settings.other(name)));
        let now = value(name);
        let draft = |why: String, source: &str| {
            Draft::new(key, now.map(|now| now.to_string()), reason(why, source)).set_by(desk.set_by(key))
        };
        let asked = || draft("you asked for it".to_owned(), &format!("--set {key}={then}"));
        let path = format!("/proc/sys/vm/{name}");
        let line = match now {
            None => match settings.and_then(|settings| settings.unknown.get(name)) {
                Some(text) if !text.is_empty() => {
                    let why =
                        format!("it holds more than one number ({}), and --set sets one", text.replace('\t', " "));
                    asked().change(then.to_string(), String::new(), String::new(), Err(why))
                }
                Some(_) => {
                    let why = "its value cannot be read, so it could not be put back".to_owned();
                    asked().change(then.to_string(), String::new(), String::new(), Err(why))
                }
                None => asked().not_known(format!("cat {path}")),
            },
            Some(now) if now == *then => draft(format!("it is {now} already"), &path).keep(),
            Some(now) => {
                let instead = EXCLUSIVE.iter().find(|(own, _)| *own == name).map(|(_, other)| *other);
                let instead = instead.and_then(|other| Some((other, value(other)?)));
                let draft = asked();
                let steps = desk.set(&[Setting { name, now, then: *then, instead }]);
                let left = harsh::left_for_programs(desk.inputs.snapshot, name, *then);
                let risk = match &left {
                    Some(left) if left.is_harsh => format!("{}; the machine may stand still", left.words),
                    Some(left) => left.words.clone(),
                    None => NOT_JUDGED.to_owned(),
                };
                let steps = match refused(name, *then, desk.inputs.snapshot.machine.page_size) {
                    Some(why) => Err(why),
                    None => steps,
                };
                let mut line = draft.change(then.to_string(), String::new(), risk, steps);
                line.harsh = left.filter(|left| left.is_harsh).map(|left| left.words);
                line
            }
        };
        desk.lines.push(line);
    }
}

/// Of the settings there are the one whose name is nearest to what was typed.
#[must_use]
pub fn nearest_setting<'a>(typed: &str, names: &'a [String]) -> Option<&'a str> {
    let near = names.iter().filter_map(|name| Some((slip(typed, name)?, name.as_str())));
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_that_of_a_slip_and_nothing_is_near_to_another_word() {
        let names = ["swappiness", "page-cluster", "dirty_ratio", "dirty_bytes"].map(str::to_owned);
        assert_eq!(nearest_setting("swapiness", &names), Some("swappiness"));
        assert_eq!(nearest_setting("page_cluster", &names), Some("page-cluster"));
        assert_eq!(nearest_setting("dirty_byte", &names), Some("dirty_bytes"));
        assert_eq!(nearest_setting("xyzzy", &names), None);
    }
}
