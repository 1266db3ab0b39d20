//! One change of the machine, with the state before and after it.

use ramline_units::{Bytes, JsonSchema, quoted};
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
            Step::Mount { what, at, fs, options } => format!("mount {what} at {at} ({fs}, {options})"),
        }
    }

    /// What its undo does, in one line; `None` where there is nothing to do.
    #[must_use]
    pub fn undo_line(&self) -> Option<String> {
        Some(match self {
            Step::EditFile { path, before: None, .. } => format!("remove {path}"),
            Step::EditFile { path, .. } => format!("put back {path}"),
            Step::MakeDirectory { path } => format!("remove {path}/"),
            Step::Link { path, before: None, .. } => format!("unlink {path}"),
            Step::Link { path, before: Some(before), .. } => format!("link {path} -> {before}"),
            Step::SetKnob { path, before, after } => format!("write {path}: {after} -> {before}"),
            Step::SetOneOf { path, before, after, other, other_before } => match before.as_str() {
                "0" => format!("write {other}: 0 -> {other_before} ({path}: {after} -> 0)"),
                _ => format!("write {path}: {after} -> {before}"),
            },
            Step::LoadModule { name } => format!("unload module {name}"),
            Step::MakeSwapFile { path, size } => format!("remove swap file {path} of {size}"),
            Step::SwapOn { path, .. } => format!("swapoff {path}"),
            Step::SwapOff { path, priority } => format!("swapon {path}{}", priority_words(*priority)),
            Step::SizeZram { device, .. } => format!("reset {device}"),
            // The header goes with the device, and a device of another program is sized by that program.
            Step::FormatZram { .. } | Step::ResetZram { .. } => return None,
            Step::ReloadUnits | Step::ReloadRules => self.line(),
            Step::Service { unit, verb } => format!("{} {unit}", verb.reversed().word()),
            Step::DisableUnit { unit, link, .. } => format!("enable {unit} (link {link})"),
            Step::Mount { at, .. } => format!("unmount {at}"),
        })
    }

    /// The commands an administrator would type, for reading: nothing runs them.
    #[must_use]
    pub fn shell(&self) -> Vec<String> {
        match self {
            Step::EditFile { path, after: Some(after), .. } => {
                let mut lines = vec![format!("cat > {} << 'EOF'", quoted(path))];
                lines.extend(after.lines().map(str::to_owned));
                lines.push("EOF".to_owned());
                lines
            }
            Step::EditFile { path, after: None, .. } | Step::Link { path, after: None, .. } => {
                vec![format!("rm {}", quoted(path))]
            }
            Step::MakeDirectory { path } => vec![format!("mkdir {}", quoted(path))],
            Step::Link { path, after: Some(after), .. } => vec![format!("ln -sfn {} {}", quoted(after), quoted(path))],
            Step::SetKnob { path, after, .. } | Step::SetOneOf { path, after, .. } => {
                vec![format!("echo {} > {}", quoted(after), quoted(path))]
            }
            Step::LoadModule { name } => vec![format!("modprobe {}", quoted(name))],
            Step::MakeSwapFile { path, size } => vec![
                format!("dd if=/dev/zero of={} bs=1M count={}", quoted(path), size.0 / (1 << 20)),
                format!("chmod 600 {0} && mkswap {0}", quoted(path)),
            ],
            Step::SwapOn { path, priority } => {
                let priority = priority.map_or(String::new(), |priority| format!("--priority {priority} "));
                vec![format!("swapon {priority}{}", quoted(path))]
            }
            Step::SwapOff { path, .. } => vec![format!("swapoff {}", quoted(path))],
            Step::SizeZram { device, algorithm, size } => {
                let chosen = algorithm.iter().map(|name| format!("echo {name} > /sys/block/{device}/comp_algorithm"));
                chosen.chain([format!("echo {} > /sys/block/{device}/disksize", size.0)]).collect()
            }
            Step::FormatZram { device } => vec![format!("mkswap /dev/{device}")],
            Step::ReloadUnits => vec!["systemctl daemon-reload".to_owned()],
            Step::ReloadRules => vec!["udevadm control --reload".to_owned()],
            Step::Service { unit, verb } => vec![format!("systemctl {} {}", verb.word(), quoted(unit))],
            Step::DisableUnit { unit, .. } => vec![format!("systemctl disable {}", quoted(unit))],
            Step::ResetZram { device } => vec![format!("echo 1 > /sys/block/{device}/reset")],
            Step::Mount { what, at, fs, options } => {
                vec![format!("mount -t {fs} -o {} {} {}", quoted(options), quoted(what), quoted(at))]
            }
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
    fn what_is_read_as_shell_is_one_word_whatever_it_holds() {
        let step = Step::SetKnob { path: "/sys/a b".into(), before: "1".into(), after: "it's".into() };
        assert_eq!(step.shell(), [r"echo 'it'\''s' > '/sys/a b'"]);
    }

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

    #[test]
    fn an_undo_is_named_by_what_it_does() {
        let file = |before: Option<&str>, after: Option<&str>| Step::EditFile {
            path: "/f".into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let knob = |before: &str| Step::SetOneOf {
            path: "/b".into(),
            before: before.into(),
            after: "9".into(),
            other: "/r".into(),
            other_before: "20".into(),
        };
        let service = |verb| Step::Service { unit: "a.service".into(), verb };
        let area = || "/dev/zram0".to_owned();
        for (step, words) in [
            (file(None, Some("a")), Some("remove /f")),
            (file(Some("a"), Some("b")), Some("put back /f")),
            (file(Some("a"), None), Some("put back /f")),
            (
                Step::SetKnob { path: "/k".into(), before: "60".into(), after: "120".into() },
                Some("write /k: 120 -> 60"),
            ),
            (knob("0"), Some("write /r: 0 -> 20 (/b: 9 -> 0)")),
            (knob("4"), Some("write /b: 9 -> 4")),
            (service(ServiceVerb::Start), Some("stop a.service")),
            (service(ServiceVerb::Stop), Some("start a.service")),
            (Step::SwapOn { path: area(), priority: Some(5) }, Some("swapoff /dev/zram0")),
            (Step::SwapOff { path: area(), priority: Some(5) }, Some("swapon /dev/zram0 at priority 5")),
            (Step::FormatZram { device: "zram0".into() }, None),
        ] {
            assert_eq!(step.undo_line().as_deref(), words, "{step:?}");
        }
    }
}
