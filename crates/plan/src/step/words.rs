//! A step in words: what its undo does, and the commands an administrator would type.

use ramline_units::quoted;

use super::{Step, priority_words};

impl Step {
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
            Step::PauseZram { made } => format!("start {} ({}: {})", made.swap(), made.device, made.words()),
            Step::RemakeZram { made } => format!("stop {}", made.swap()),
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
            Step::PauseZram { made } => {
                made.units.iter().rev().map(|unit| format!("systemctl stop {}", quoted(unit))).collect()
            }
            Step::RemakeZram { made } => vec![format!("systemctl start {}", quoted(made.swap()))],
            Step::Mount { what, at, fs, options } => {
                vec![format!("mount -t {fs} -o {} {} {}", quoted(options), quoted(what), quoted(at))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ServiceVerb;
    use super::*;

    #[test]
    fn what_is_read_as_shell_is_one_word_whatever_it_holds() {
        let step = Step::SetKnob { path: "/sys/a b".into(), before: "1".into(), after: "it's".into() };
        assert_eq!(step.shell(), [r"echo 'it'\''s' > '/sys/a b'"]);
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
