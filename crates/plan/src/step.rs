//! One change of the machine, with the state before and after it.

mod words;

use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

/// What is asked of a unit of systemd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceVerb {
    /// It is not active, and shall be.
    Start,
    /// It is active, and shall not be.
    Stop,
}

impl ServiceVerb {
    /// As systemctl calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ServiceVerb::Start => "start",
            ServiceVerb::Stop => "stop",
        }
    }

    /// What undoes it.
    #[must_use]
    pub const fn reversed(self) -> ServiceVerb {
        match self {
            ServiceVerb::Start => ServiceVerb::Stop,
            ServiceVerb::Stop => ServiceVerb::Start,
        }
    }
}

/// A zram device as swap that units of another program make, in one of two states: as it was, or as it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeZram {
    /// `zram0`.
    pub device: String,
    /// What makes it, in the order in which it is started: `systemd-zram-setup@zram0.service`, `dev-zram0.swap`.
    pub units: Vec<String>,
    /// Its size, uncompressed.
    pub size: Bytes,
    /// Its priority, where the change is about that.
    pub priority: Option<i32>,
}

/// One change. Paths are those of the machine, from its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A text file as a whole: `None` is a file that is not there. It is written only where it reads as `before`.
    EditFile {
        /// The file.
        path: String,
        /// As it was read when the plan was made.
        before: Option<String>,
        /// As it will read.
        after: Option<String>,
    },
    /// A directory that is not there yet; undone when nothing else is in it.
    MakeDirectory {
        /// The directory.
        path: String,
    },
    /// A symbolic link, such as switches a unit on.
    Link {
        /// The link.
        path: String,
        /// What it leads to; `None` where there is none.
        before: Option<String>,
        /// What it will lead to; `None` removes it.
        after: Option<String>,
    },
    /// A knob of the kernel, until the next boot.
    SetKnob {
        /// The file.
        path: String,
        /// Its value when the plan was made.
        before: String,
        /// Its value afterwards.
        after: String,
    },
    /// A knob that makes another one 0 when it is set, as `dirty_bytes` does `dirty_ratio`: undone by setting the one that was in force.
    SetOneOf {
        /// The file.
        path: String,
        /// Its value when the plan was made: 0 where the other one was in force.
        before: String,
        /// Its value afterwards.
        after: String,
        /// The file of the other knob.
        other: String,
        /// Its value when the plan was made.
        other_before: String,
    },
    /// A kernel module that is not loaded yet.
    LoadModule {
        /// Its name.
        name: String,
    },
    /// A swap file without holes, with a swap header; removed with what is in it when undone.
    MakeSwapFile {
        /// The file.
        path: String,
        /// Its size.
        size: Bytes,
    },
    /// A swap area that is off.
    SwapOn {
        /// Device or file.
        path: String,
        /// Its priority; `None` leaves it to the kernel.
        priority: Option<i32>,
    },
    /// A swap area that is on: its pages go to RAM and to the other areas first.
    SwapOff {
        /// Device or file.
        path: String,
        /// Its priority, for switching it on again.
        priority: Option<i32>,
    },
    /// A zram device without a size: it gets algorithm, limit and size, and is reset when undone.
    SizeZram {
        /// `zram0`.
        device: String,
        /// Its compressor; `None` leaves it to the kernel.
        algorithm: Option<String>,
        /// Its size, uncompressed.
        size: Bytes,
    },
    /// A swap header on a zram device; it goes with the device.
    FormatZram {
        /// `zram0`.
        device: String,
    },
    /// systemd reads its units again. Stands before and behind edits of units: harmless twice, needed once in either direction.
    ReloadUnits,
    /// udev reads its rules again.
    ReloadRules,
    /// A unit is started or stopped.
    Service {
        /// Its name.
        unit: String,
        /// Which.
        verb: ServiceVerb,
    },
    /// A unit of another program is no longer switched on at boot: the link that does so is taken away, and put back when undone.
    DisableUnit {
        /// Its name.
        unit: String,
        /// The link.
        link: String,
        /// What it leads to.
        target: String,
    },
    /// A zram device that another program has sized and that is no longer in use gives its memory back. That program sizes it again when
    /// its unit is started, so nothing is undone.
    ResetZram {
        /// `zram0`.
        device: String,
    },
    /// A zram device is stopped by the units that make it, which reset it, before what they make it of changes. Undone, they make it again as it was; so it stands
    /// in front of the edits, and [`Step::RemakeZram`] behind them.
    PauseZram {
        /// As it was.
        made: MadeZram,
    },
    /// The units make it again. Undone, they are stopped, before the edits are put back.
    RemakeZram {
        /// As it is to be.
        made: MadeZram,
    },
    /// A file system is mounted where none is, or over what is there.
    Mount {
        /// What.
        what: String,
        /// Where.
        at: String,
        /// Its kind.
        fs: String,
        /// Its options, as mount(8) takes them.
        options: String,
    },
}

impl MadeZram {
    /// The last of its units, which needs the others.
    #[must_use]
    pub fn swap(&self) -> &str {
        self.units.last().map_or("", String::as_str)
    }

    fn words(&self) -> String {
        format!("{}{}", self.size, self.priority.map_or(String::new(), |priority| format!(", priority {priority}")))
    }
}

impl Step {
    /// The object in a few words: `file /etc/fstab`.
    #[must_use]
    pub fn object(&self) -> String {
        match self {
            Step::EditFile { path, .. } => format!("file {path}"),
            Step::MakeDirectory { path } => format!("directory {path}"),
            Step::Link { path, .. } => format!("link {path}"),
            Step::SetKnob { path, .. } | Step::SetOneOf { path, .. } => format!("knob {path}"),
            Step::LoadModule { name } => format!("module {name}"),
            Step::MakeSwapFile { path, .. } => format!("swap file {path}"),
            Step::SwapOn { path, .. } | Step::SwapOff { path, .. } => format!("swap area {path}"),
            Step::SizeZram { device, .. } | Step::FormatZram { device } | Step::ResetZram { device } => {
                format!("zram device {device}")
            }
            Step::PauseZram { made } | Step::RemakeZram { made } => format!("zram device {}", made.device),
            Step::ReloadUnits => "units of systemd".to_owned(),
            Step::ReloadRules => "rules of udev".to_owned(),
            Step::Service { unit, .. } => format!("unit {unit}"),
            Step::DisableUnit { unit, link, .. } => format!("unit {unit}, switched on by {link}"),
            Step::Mount { at, .. } => format!("mount {at}"),
        }
    }

    /// A knob of the kernel, which acts as soon as it is written.
    #[must_use]
    pub const fn is_knob(&self) -> bool {
        matches!(self, Step::SetKnob { .. } | Step::SetOneOf { .. })
    }

    /// The setting of a knob as files name it (`vm.swappiness`), with its old and new value.
    #[must_use]
    pub fn sysctl(&self) -> Option<(String, &str, &str)> {
        let (Step::SetKnob { path, before, after } | Step::SetOneOf { path, before, after, .. }) = self else {
            return None;
        };
        Some((path.strip_prefix("/proc/sys/")?.replace('/', "."), before, after))
    }

    /// It is still there after a reboot.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        matches!(
            self,
            Step::EditFile { .. }
                | Step::MakeDirectory { .. }
                | Step::Link { .. }
                | Step::MakeSwapFile { .. }
                | Step::DisableUnit { .. }
        )
    }

    /// Its effect in one line, as `--dry-run` and the record of writes print it.
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Step::EditFile { path, before, after } => match (before, after) {
                (None, _) => format!("create {path}"),
                (_, None) => format!("remove {path}"),
                _ => format!("replace {path}"),
            },
            Step::MakeDirectory { path } => format!("create {path}/"),
            Step::Link { path, after: Some(after), .. } => format!("link {path} -> {after}"),
            Step::Link { path, after: None, .. } => format!("unlink {path}"),
            Step::SetKnob { path, before, after } => format!("write {path}: {before} -> {after}"),
            Step::SetOneOf { path, before, after, other, other_before } => {
                format!("write {path}: {before} -> {after} ({other}: {other_before} -> 0)")
            }
            Step::LoadModule { name } => format!("load module {name}"),
            Step::MakeSwapFile { path, size } => format!("create swap file {path} of {size}"),
            Step::SwapOn { path, priority } => format!("swapon {path}{}", priority_words(*priority)),
            Step::SwapOff { path, .. } => format!("swapoff {path}"),
            Step::SizeZram { device, algorithm, size } => {
                format!("size {device}: {size}, {}", algorithm.as_deref().unwrap_or("the kernel's own algorithm"))
            }
            Step::FormatZram { device } => format!("mkswap /dev/{device}"),
            Step::ReloadUnits => "reload units of systemd".to_owned(),
            Step::ReloadRules => "reload rules of udev".to_owned(),
            Step::Service { unit, verb } => format!("{} {unit}", verb.word()),
            Step::DisableUnit { unit, link, .. } => format!("disable {unit} (unlink {link})"),
            Step::ResetZram { device } => format!("reset {device}"),
            Step::PauseZram { made } => format!("stop {}", made.swap()),
            Step::RemakeZram { made } => format!("start {} ({}: {})", made.swap(), made.device, made.words()),
            Step::Mount { what, at, fs, options } => format!("mount {what} at {at} ({fs}, {options})"),
        }
    }
}

fn priority_words(priority: Option<i32>) -> String {
    priority.map_or(String::new(), |priority| format!(" at priority {priority}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_named_by_what_it_does_to_the_file() {
        let edit = |before: Option<&str>, after: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            Step::EditFile { path: "/etc/x".into(), before: text(before), after: text(after) }.line()
        };
        assert_eq!(edit(None, Some("a")), "create /etc/x");
        assert_eq!(edit(Some("a"), Some("b")), "replace /etc/x");
        assert_eq!(edit(Some("a"), None), "remove /etc/x");
    }
}
