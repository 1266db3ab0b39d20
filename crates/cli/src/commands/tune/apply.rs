//! `ramline tune apply`: a plan is made, shown, agreed to, applied and read back; and undone by itself when it does harm or is not kept.

use ramline_act::StateDir;
use ramline_act::standing::{Guard, Request, Standing, Transaction};
use ramline_advice::planning::NOT_JUDGED;
use ramline_kernel::service;
use ramline_plan::{Plan, PlanLine, Revert, Step};
use ramline_view::Tense;

use super::back::refuse_half_done;
use super::changes::{all, left_out};
use super::{answers, unit};
use crate::prelude::*;

/// How a plan is applied.
#[derive(Debug, Args)]
pub struct How {
    /// Without asking
    #[arg(long)]
    pub yes: bool,
    /// Print what would be written, in order, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Undo it after this time (10m) unless `ramline tune keep` is run before
    #[arg(long, value_name = "TIME", value_parser = duration::parse_wait)]
    pub revert_after: Option<Duration>,
    /// Watch for this long and undo it when tasks begin to wait for memory or are killed (0s: do not watch)
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse_or_none)]
    pub guard: Duration,
}

/// Applies a plan; one for another machine than this (`live`) can only be listed, without what asks this one.
///
/// # Errors
/// Nobody agreed, something is in the way, or a step failed: then all is as before.
pub fn apply(plan: &Plan, how: &How, live: bool, shown: impl FnOnce() -> Result<()>) -> Result<u8> {
    let check = if live { unit::boot_check(plan, &Root::live()) } else { Ok(Vec::new()) };
    let unchecked = check.as_ref().err().cloned();
    let steps: Vec<Step> = check.unwrap_or_default().into_iter().chain(plan.steps()).collect();
    let revert = if live { lasting_revert(plan, how)? } else { None };
    if how.dry_run {
        if let Some(why) = &unchecked {
            stdio::tell(&format!("It would not be checked at each boot: {why}"));
        }
        // What this user cannot read only counts.
        let number = state::path().ok().and_then(|path| StateDir::open_existing(&path).ok().flatten());
        let number = number.map_or(Ok(1), |state| Standing::new(&state).next())?;
        let steps = Revert::around(revert.as_ref(), number, steps);
        output::text(&steps.iter().map(|(step, _)| step.line() + "\n").collect::<String>())?;
        answers::unchanged(plan).iter().for_each(|line| stdio::tell(line));
        // Without --dry-run the whole plan is shown before the question.
        let own = |line: &&PlanLine| line.why.first().is_some_and(|why| why.source.starts_with("--set"));
        for line in plan.changes().filter(own).filter(|line| line.harsh.is_none() && line.risk != NOT_JUDGED) {
            stdio::tell(&format!("{} {}: {}", line.target, line.new.as_deref().unwrap_or_default(), line.risk));
        }
        may_be_applied(plan, how)?;
        return Ok(answers::code(plan));
    }
    may_be_applied(plan, how)?;
    all()?.1.iter().for_each(|record| left_out(record));
    refuse_half_done()?;
    if steps.is_empty() {
        return answers::nothing(plan);
    }
    shown()?;
    let lines: Vec<String> = steps.iter().map(Step::line).collect();
    if !how.yes && !consent::agreed("This would be done, in this order:", &lines, "Apply it?")? {
        return Err(
            Failure::refused("nothing was changed: the answer was not yes\n  try: ramline tune apply --yes").into()
        );
    }
    let root = Root::live();
    let lock = state::lock(&root)?;
    // Another change may have been made while the question stood there.
    refuse_half_done()?;
    let what: Vec<String> =
        plan.changes().map(|line| format!("{} {}", line.target, line.new.as_deref().unwrap_or("away"))).collect();
    let request = Request {
        what: what.join(", "),
        why: plan.changes().filter_map(|line| Some(line.why.first()?.text.clone())).collect(),
        who: whom::asked(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        steps,
        timed: how.revert_after.is_some() && revert.is_none(),
        revert: revert.clone(),
    };
    let guard = Guard::begin(&root, &request.steps);
    let transaction = Transaction::new(&lock, &root, state::crash_after());
    let applied = transaction.apply(request, &mut |line| stdio::tell(line))?;
    let number = applied.number;
    let undone = |harm: String| -> Result<()> {
        let (changes, _) = Standing::new(lock.state()).list()?;
        if let Some(change) = changes.iter().find(|change| change.head.number == number) {
            transaction.undo(change, &harm, false, &mut |line| stdio::tell(line))?;
        }
        Err(Failure::rolled_back(format!("change {number} is undone: {harm}\n  try: ramline tune history")).into())
    };
    std::thread::scope(|scope| {
        // Beside the watching, which may end with this process, and which a program that starts slowly must not put off; it begins to count when that is
        // over, for an undo needs the lock.
        let passing = how.revert_after.filter(|_| revert.is_none());
        let timed = passing.map(|after| scope.spawn(move || timer(number, how.guard.saturating_add(after))));
        guard.watch(&root, how.guard).map_or(Ok(()), undone)?;
        match timed.map(std::thread::ScopedJoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => undone(format!("its timer could not be set: {error:#}")),
            Some(Err(_)) => undone("its timer could not be set".to_owned()),
        }
    })?;
    if let Some(after) = how.revert_after {
        stdio::tell(&format!(
            "Change {number} is undone in {} s{} unless it is kept: ramline tune keep {number}",
            after.as_secs(),
            if revert.is_some() { ", or as long after the next boot," } else { "" }
        ));
    }
    if let Some(why) = unchecked {
        stdio::tell(&format!("It is not checked at each boot: {why}"));
    }
    let mut lines = answers::changed(plan, Tense::Did);
    lines.extend(answers::unchanged(plan));
    lines.push(format!("Change {number} is in force. Undo it with: ramline tune undo {number}"));
    output::text(&(lines.join("\n") + "\n"))?;
    Ok(answers::code(plan))
}

/// Refuses a plan that cannot be applied here, and a value under which the machine may stand still where no timer would undo it.
fn may_be_applied(plan: &Plan, how: &How) -> Result<()> {
    if let Some(obstacle) = plan.obstacles.first() {
        return Err(Failure::refused(format!("the plan cannot be applied here: {obstacle}")).into());
    }
    let harsh = plan.changes().find_map(|line| Some((line, line.harsh.as_ref()?)));
    match harsh.filter(|_| how.revert_after.is_none()) {
        Some((line, why)) => {
            let new = line.new.as_deref().unwrap_or_default();
            let set = format!("--set {}={new} --runtime-only --revert-after 10m", line.target);
            let text = format!("{} {new} needs a timer that undoes it: {why}", line.target);
            Err(Failure::refused(format!("{text}\n  try: ramline tune apply {set}")).into())
        }
        None => Ok(()),
    }
}

/// The units that undo it in any boot; `None` where nothing of it outlives this one, and where no unit can: then this boot's timer is all.
fn lasting_revert(plan: &Plan, how: &How) -> Result<Option<Revert>> {
    let Some(after) = how.revert_after.filter(|_| !plan.runtime_only && service::has_systemd(&Root::live())) else {
        return Ok(None);
    };
    match unit::program() {
        // The timer starts before the guard watches, and an undo needs the lock that the guard holds.
        Ok(exe) => Ok(Some(Revert {
            after: how.guard.saturating_add(after),
            exe,
            state_dir: std::path::absolute(state::path()?)?.display().to_string(),
        })),
        Err(why) => {
            stdio::tell(&format!("A reboot ends the timer of --revert-after: {why}"));
            Ok(None)
        }
    }
}

/// Runs the undo later in this boot, whatever becomes of this process and its terminal.
fn timer(number: u64, after: Duration) -> Result<()> {
    let (exe, number, seconds) =
        (process::own_exe()?.display().to_string(), number.to_string(), after.as_secs().max(1).to_string());
    let state = format!("--setenv=RAMLINE_STATE_DIR={}", state::path()?.display());
    // What another program has changed meanwhile keeps the rest from nothing.
    let undo = ["tune", "undo", &*number, "--yes", "--unless-kept", "--leave-changed"];
    if service::has_systemd(&Root::live()) {
        let (unit, when) = (format!("--unit=ramline-revert-{number}"), format!("--on-active={seconds}"));
        let words = [&*unit, &*when, "--timer-property=AccuracySec=100ms", &*state, &*exe];
        service::call("systemd-run", &[&words[..], &undo[..]].concat())?;
        return Ok(());
    }
    let after = format!("{seconds}s");
    Ok(process::spawn_detached(&exe, &[&undo[..], &["--after", &after]].concat())?)
}
