//! The sentences of `show processes`.

use std::borrow::Cow;

use ramline_model::processes::{By, Matched, Spread, Who};

use ramline_sheet::text::{Paint, name, number};

/// What the columns mean.
pub const LEGEND: &str = "All columns are (now). uses: in RAM, a page that k processes map counts for a k-th in each (PSS), so rows add up; \
~: known only between bounds, which stand beside it where there is room and in --json. rss: what it maps, shared pages in each. own: no other process maps it, \
so its end would free it. costs: what the swapped pages take in RAM.";

/// What the mark means, where one is shown.
pub fn short_legend(who: &Who) -> Option<&'static str> {
    let open = who.rows.iter().any(|row| !row.holds.is_narrow());
    open.then_some("~: estimate; --deep gives exact numbers (slower)")
}

/// The head of the first column.
pub const fn heading(by: By) -> &'static str {
    match by {
        By::Program => "program",
        By::User => "user",
        By::Cgroup => "control group",
        By::Container => "container",
        By::Service => "service",
        By::Process => "process",
        By::Tree => "process and all it started",
    }
}

/// One sentence that answers the question.
pub fn first(who: &Who) -> String {
    if let Some(matched) = &who.matched {
        return asked_for(matched, who);
    }
    let Some(row) = who.largest() else {
        return "No process with memory of its own was seen.".to_owned();
    };
    let share = row.holds.value.share_of(who.whole.value).map(number::percent).unwrap_or_default();
    let kind = if row.anon >= row.shared { "anonymous" } else { "files" };
    format!(
        "{} uses most: {}{} of {} ({share}), mostly {kind}.",
        short(&called(who.by, &row.name)),
        about(&row.holds),
        row.holds.value,
        who.whole.value,
    )
}

/// A row's name; of a control group without most digits of long ids, as in `show cgroups`.
pub fn called(by: By, name: &str) -> Cow<'_, str> {
    if by == By::Cgroup { name::short_ids(name).into() } else { name.into() }
}

/// The end of a long name tells more: of a path it is the group.
fn short(name: &str) -> String {
    name::end(name, 40)
}

fn asked_for(matched: &Matched, who: &Who) -> String {
    let share = matched.holds.value.share_of(who.whole.value).map(number::percent).unwrap_or_default();
    let (verb, they) = if matched.processes == 1 { ("matches", "it uses") } else { ("match", "they use") };
    let swap = if matched.swap.0 == 0 { String::new() } else { format!(", and {} in swap", matched.swap) };
    match matched.processes {
        0 => format!("No process with memory of its own matches: {}.", matched.what),
        n => format!(
            "{} {verb} ({}): {they} {}{}, {share} of all{swap}.",
            number::things(n, "process"),
            short(&matched.what),
            about(&matched.holds),
            matched.holds.value,
        ),
    }
}

/// A word before a value that is known only between bounds.
fn about(spread: &Spread) -> &'static str {
    if spread.is_narrow() { "" } else { "about " }
}

/// Sums against the machine's own.
pub fn sums(who: &Who) -> Vec<(Paint, String)> {
    let mut out = Vec::new();
    let id = &who.identity;
    let anon = id.anon_sum;
    out.extend(id.anon_pages.zip(id.excess()).map(|(pages, excess)| {
        let apart = excess.magnitude();
        let verdict = match excess {
            _ if apart <= id.drift => "it closes.".to_owned(),
            _ if excess.is_negative() => format!("{apart} belong to processes that were not seen."),
            _ => format!("{excess} are counted more than once, because forks share pages until one of them writes."),
        };
        let sums = format!("anonymous: {anon} added up over processes, {pages} in the machine (AnonPages)");
        (Paint::Plain, format!("{sums}: {verdict}"))
    }));
    let files = id.shared_sum;
    out.extend(id.mapped.map(|mapped| {
        let sums = format!("{files} added up over processes, {mapped} in the machine (Mapped)");
        (Paint::Plain, format!("files and shared memory: {sums}."))
    }));
    let Spread { value, low, high, .. } = &who.whole;
    out.push(match who.processes {
        _ if who.complete && !who.closed => {
            let why = "processes began or ended while the others were read";
            (Paint::Plain, format!("All processes together use {low} to {high}: {why}."))
        }
        _ if who.complete => {
            let error = who.whole.error();
            let together = format!("{value} (AnonPages + Mapped), known without a walk to {error}");
            (Paint::Plain, format!("All processes together use {together}."))
        }
        0 => (Paint::Warn, "Not all processes were seen.".to_owned()),
        _ => (Paint::Warn, format!("Not all processes were seen: those that were use {low} to {high}.")),
    });
    out.extend((!who.swap.areas.is_empty()).then(|| (Paint::Plain, swap(who))));
    out
}

fn swap(who: &Who) -> String {
    let used = who.swap.used();
    let pool = who.swap.pool();
    if pool.0 == 0 {
        return format!("swap: {used} in use; it costs no RAM, no area is in zram.");
    }
    let how = if who.swap.placed {
        "the area of each page was read"
    } else {
        "without root which area holds a page is not known"
    };
    format!(
        "swap: {used} in use; zram keeps its part in {pool} of RAM (mem_used_total). A process's cost is the area's average, {how}."
    )
}

/// What was looked at, what it cost, and what was not seen.
pub fn read(who: &Who) -> Vec<(Paint, String)> {
    let mut out = Vec::new();
    let [processes, threads, zombies] =
        [(who.processes, "process"), (who.kernel_threads, "kernel thread"), (who.zombies, "zombie")]
            .map(|(n, what)| number::things(n, what));
    let cost = who.cost.map(|c| format!(" in {c}")).unwrap_or_default();
    out.push((Paint::Plain, format!("{processes} with memory, {threads}, {zombies}{cost}.")));
    out.push((Paint::Plain, walks(who)));
    let plain = |text: &str| (Paint::Plain, text.to_owned());
    let unlike = "Some forks turned out unlike those that were walked; for them only the certain bounds are given.";
    out.extend(who.unlike.then(|| plain(unlike)));
    out.extend(who.started_ended.zip(who.span).map(|((started, ended), span)| {
        let counts = format!("processes started: {started}, ended: {ended}");
        (Paint::Plain, format!("Growth is of anonymous memory, in RAM or swap, over {span}; {counts}."))
    }));
    let missed = &who.missed;
    let named = [
        (missed.vanished, "ended meanwhile"),
        (missed.unreached, "not reached in the time given"),
        (missed.denied, "refused to this user"),
        (missed.malformed, "made no sense"),
    ];
    let missing: Vec<String> =
        named.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number::count(*n))).collect();
    let warn = |text: &str| (Paint::Warn, text.to_owned());
    out.extend((!missing.is_empty()).then(|| (Paint::Warn, format!("Not read: {}.", missing.join(", ")))));
    let hidden = "/proc hides other users' processes here (hidepid); try: sudo ramline show processes";
    out.extend(missed.hidden.then(|| warn(hidden)));
    let nested = "This is a process namespace of its own (a container): processes outside it are not seen.";
    out.extend((missed.nested == Some(true)).then(|| warn(nested)));
    out
}

fn walks(who: &Who) -> String {
    let w = &who.walks;
    if [w.done, w.left_out, w.too_large, w.denied] == [0; 4] {
        return "Page tables: none walked, because none could change the answer by a hundredth, or none was asked for."
            .to_owned();
    }
    let mut text =
        format!("Page tables: {} of {} walked, {}", number::count(w.done), number::count(who.processes), w.cost);
    if let Some(budget) = w.budget {
        text.push_str(&format!(" of a budget of {budget} (added up over threads)"));
    }
    if who.alike > 0 {
        text.push_str(&format!("; {} are taken to be like a walked fork", number::count(who.alike)));
    }
    for (n, what) in [
        (w.left_out, "left out for the budget; try: --deep"),
        (w.too_large, "left out because they map more than 16 GiB; try: --deep"),
        (w.denied, "refused by the kernel"),
    ] {
        if n > 0 {
            text.push_str(&format!("; {} {what}", number::count(n)));
        }
    }
    format!("{text}.")
}
