//! What a plan is made on: inputs, the lines so far, and the texts of files as the lines before leave them.
//!
//! Of one file each line makes an edit on top of those before it, so that both stand in it in the end.

use std::collections::BTreeMap;

use ramline_plan::edit::{LeftAlone, sysctl};
use ramline_plan::{Decision, PlanLine, Step};
use ramline_snapshot::setup::SetUp;

use super::ask::Ask;
use crate::Inputs;
pub(super) use crate::finding::Setting;

/// Where settings of the kernel are kept. The last but few of the names that others give their files; what sorts behind it wins over it.
pub(super) const SYSCTL: &str = "/etc/sysctl.d/99-zz-ramline.conf";

/// A plan that is being made.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub inputs: &'a Inputs<'a>,
    pub set_up: &'a SetUp,
    pub ask: &'a Ask,
    pub lines: Vec<PlanLine>,
    /// The algorithm of the zram that this plan sets up.
    pub zram: Option<String>,
    texts: Texts,
}

/// Of each file that is edited its text now, and as the lines so far leave it.
pub(super) type Texts = BTreeMap<String, (Option<String>, Option<String>)>;

impl<'a> Desk<'a> {
    pub fn new(inputs: &'a Inputs<'a>, set_up: &'a SetUp, ask: &'a Ask) -> Desk<'a> {
        Desk { inputs, set_up, ask, lines: Vec::new(), zram: None, texts: BTreeMap::new() }
    }

    /// The texts, to go back to with [`Desk::restore`].
    pub fn texts(&self) -> Texts {
        self.texts.clone()
    }

    /// Lines made since `texts` were dropped: only what these leave in files stands in them.
    pub fn restore(&mut self, texts: Texts, kept: &[PlanLine]) {
        self.texts = texts;
        for step in kept.iter().flat_map(|line| &line.steps) {
            if let Step::EditFile { path, before, after } = step {
                self.texts.entry(path.clone()).or_insert_with(|| (before.clone(), None)).1.clone_from(after);
            }
        }
    }

    /// An edit of a file whose text is `before` now.
    pub fn edit(
        &mut self,
        path: &str,
        before: Option<&str>,
        edit: impl FnOnce(Option<&str>) -> Result<String, LeftAlone>,
    ) -> Result<Step, String> {
        let held =
            self.texts.entry(path.to_owned()).or_insert_with(|| (before.map(str::to_owned), before.map(str::to_owned)));
        let after = edit(held.1.as_deref()).map_err(|why| format!("{path} is left alone: {why}"))?;
        held.1 = Some(after.clone());
        Ok(Step::EditFile { path: path.to_owned(), before: held.0.clone(), after: Some(after) })
    }

    /// Sets knobs now and at every boot.
    ///
    /// # Errors
    /// Another file or program would set one of them again behind ours; which.
    pub fn set(&mut self, settings: &[Setting<'_>]) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        for setting in settings {
            let keys = [Some(setting.name), setting.instead.map(|(name, _)| name)];
            for name in keys.into_iter().flatten().filter(|_| !self.ask.runtime_only) {
                self.overruled(&format!("vm.{name}"))?;
            }
        }
        for Setting { name, now, then, instead } in settings {
            let own = self.set_up.own.get(SYSCTL).cloned();
            let value = then.to_string();
            let key = format!("vm.{name}");
            steps.push(self.edit(SYSCTL, own.as_deref(), |text| sysctl::set(text, &key, &value))?);
            let path = |name: &str| format!("/proc/sys/vm/{name}");
            steps.push(match instead {
                None => Step::SetKnob { path: path(name), before: now.to_string(), after: value },
                Some((other, held)) => Step::SetOneOf {
                    path: path(name),
                    before: now.to_string(),
                    after: value,
                    other: path(other),
                    other_before: held.to_string(),
                },
            });
        }
        Ok(steps)
    }

    /// A line before changes this target.
    pub fn changes(&self, target: &str) -> bool {
        self.lines.iter().any(|line| line.target == target && line.decision == Decision::Change)
    }

    /// Who sets a knob, the one in force last: `/etc/sysctl.d/99-x.conf:3`.
    pub fn set_by(&self, key: &str) -> Vec<String> {
        let configured = self.inputs.snapshot.configured.data();
        let at = |setting: &ramline_snapshot::configured::Setting| {
            format!("{}:{} ({})", setting.file, setting.line, setting.value)
        };
        let mut out: Vec<String> = configured.into_iter().flat_map(|all| all.for_key(key)).map(at).collect();
        let (tuned, rules): (Vec<_>, Vec<_>) =
            self.set_up.others_of(key).partition(|setting| setting.file.ends_with("tuned.conf"));
        let tuned = tuned.into_iter().map(at);
        if self.set_up.tuned_yields {
            out.splice(0..0, tuned);
        } else {
            out.extend(tuned);
        }
        out.extend(rules.into_iter().map(at));
        out
    }

    /// Whether something else would set it behind our file.
    fn overruled(&self, key: &str) -> Result<(), String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let configured = self.inputs.snapshot.configured.data();
        let last = configured.and_then(|all| all.for_key(key).filter(|setting| setting.file != SYSCTL).last());
        if let Some(last) = last.filter(|last| last.file == "/etc/sysctl.conf" || name(&last.file) > name(SYSCTL)) {
            let fix = format!("change it there or take the line out: {}:{}", last.file, last.line);
            return Err(format!("{} sets {key} at boot behind any file of ramline's; {fix}", last.file));
        }
        let other = self.set_up.others_of(key).find(|setting| {
            let tuned = setting.file.ends_with("tuned.conf");
            !(tuned && self.set_up.tuned_yields)
        });
        match other {
            Some(other) => Err(format!(
                "{}:{} sets {key} behind sysctl.d; change it there, or for this boot alone: ramline tune plan vm --runtime-only",
                other.file, other.line
            )),
            None => Ok(()),
        }
    }
}
