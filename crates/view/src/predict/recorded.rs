//! The forecast of a recorded program: what it needs and whether anything helps, then each limit with each setting.
//!
//! What it is not: a round of something. Times are multiples of what the program takes with enough memory; counts are beyond those that it has then.

use ramline_predict::forecast::{Figures, Forecast, Range, SettingForecast, Verdict};
use ramline_predict::recorded::{AtLimit, LeastMemory, Outlook, Recorded};

use super::{Pick, Prediction, Text, ends, whole};
use crate::prelude::*;
use ramline_sheet::{Column, format};

/// What no recording knows, and how far such forecasts were off (docs/predict.md, "A recorded program").
const UNKNOWN: &str = "Not known: which touches were stores (from none to all were simulated), their order within an epoch, what the kernel holds for it, another input, \
                       timers, and a heap that sizes itself by its limit.";
const NO_READS: &str = "Not recorded: what it reads and writes with read(2) and write(2); an older ramline or a kernel before 6.12 made the recording.";
const SURE: &str = "How sure: machine and program are assumed. In 33 of 39 settings of five programs the end was as predicted; times were 8 % off in the median, counts 36 to 73 % (docs/accuracy.md). \
                    --verify runs the command and shows predicted beside measured.";

/// Of more limits than these the least is asked for, and not what each of them does.
const LIMITS: usize = 6;

/// Fewer epochs than these are no course of events: the last of each process is lost, and the first is of its start.
const FEW: u64 = 10;

/// In one sentence.
pub(super) fn answer(prediction: &Prediction, recorded: &Recorded) -> String {
    let (need, cached) = (recorded.need, recorded.cached);
    if prediction.by_limit.len() > LIMITS {
        let least: Vec<String> = prediction.least.iter().map(least).collect();
        return format!("It needs {}, and is as fast with: {}.", needs(recorded), least.join(", "));
    }
    let words = |at: &AtLimit| format!("with {} {}", at.limit, outlook(at));
    let below: Vec<&AtLimit> = prediction.by_limit.iter().filter(|at| at.limit < need.max(cached)).collect();
    // Of limits with which it is as fast the smallest says it all.
    let is_more = |at: &AtLimit| below.iter().any(|less| less.limit < at.limit && less.outlook == Outlook::Fits);
    let below: Vec<String> = below.iter().filter(|at| !is_more(at)).map(|at| words(at)).collect();
    match below.is_empty() {
        true => format!("It needs {}; less was not asked for.", needs(recorded)),
        false => format!("It needs {}; {}.", needs(recorded), below.join("; ")),
    }
}

/// What it maps, and what it reads.
fn needs(recorded: &Recorded) -> String {
    let (need, cached) = (recorded.need, recorded.cached);
    if cached > need { format!("{need}, {cached} to read next to nothing from disk twice") } else { need.to_string() }
}

/// `zram:lz4:60 at least 120.0 MiB`.
fn least(least: &LeastMemory) -> String {
    match least.limit {
        Some(limit) => format!("{limit} under {}", least.setting),
        None => format!("none of these limits under {}", least.setting),
    }
}

fn outlook(at: &AtLimit) -> String {
    let best = at.best.as_deref().unwrap_or("none");
    let times = at.slower.map_or_else(|| "-".to_owned(), format::times);
    match at.outlook {
        Outlook::Fits => "it is as fast, without swap".to_owned(),
        Outlook::Helped => format!("{best} makes it as fast"),
        Outlook::Eased => format!("{best} helps, {times} as long"),
        Outlook::Slow => format!("nothing helps, {times} as long"),
        Outlook::TooSmall => "no setting ends well".to_owned(),
    }
}

/// What the recording was.
fn description(recorded: &Recorded) -> String {
    let Recorded { name, cpu_s, seconds, epochs, resident, .. } = recorded;
    let name = crate::escape(name);
    let missing = match recorded.reclaimed {
        0 => String::new(),
        some => format!("; memory was reclaimed in {some} of them, so that touches are missing"),
    };
    let missing = match recorded.incomplete {
        0 => missing,
        some => format!("{missing}; part of the touches of {some} of them is missing"),
    };
    let short = if *epochs < FEW { "; it ran too briefly to say more than how it ends" } else { "" };
    format!(
        "Recorded: {name}, {cpu_s:.1} s of CPU time in {seconds:.1} s, {epochs} epochs, at most {resident} resident{missing}{short}."
    )
}

/// The whole screen, below its answer.
pub(super) fn sheet(sheet: &mut Sheet, prediction: &Prediction, recorded: &Recorded) {
    let forecast = &prediction.forecast;
    sheet.line(description(recorded));
    let of = |setting: &SettingForecast, pick: fn(&Figures) -> Option<Range>, text: fn(Range) -> String| {
        setting.forecast.as_ref().and_then(pick).map_or_else(|| "-".to_owned(), text)
    };
    let count = |setting: &SettingForecast, pick: fn(&Figures) -> Option<Range>| {
        if setting.forecast.is_some_and(|figures| figures.unknown_counts) {
            return "not known".to_owned();
        }
        of(setting, pick, middle)
    };
    for at in &prediction.by_limit {
        let here: Vec<&SettingForecast> =
            forecast.settings.iter().filter(|setting| setting.limit == at.limit).collect();
        if here.iter().all(|setting| setting.is_unaffected()) {
            sheet.line(format!("With {}: nothing is reclaimed, and no setting matters.", at.limit));
            continue;
        }
        let table = Table::from_rows(&here)
            .left("setting", |setting| setting.short_name())
            .left("ends", |setting| ends(setting.forecast.as_ref()))
            .right("times as long", |setting| {
                // One that is killed does not come to its end.
                of(setting, |figures| figures.slower.filter(|_| figures.verdict != Verdict::Killed), times)
            })
            .right("major faults", |setting| count(setting, |figures| figures.major))
            .right("swap-ins", |setting| count(setting, |figures| figures.swap_in))
            .right("file pages", |setting| count(setting, |figures| figures.refault_file))
            .column(Column::right("read").spare(), |setting| of(setting, |figures| figures.disk_read, size))
            .column(Column::right("written").spare(), |setting| of(setting, |figures| figures.disk_written, size))
            .column(Column::right("RAM of zram").spare(), |setting| of(setting, |figures| figures.zram, size));
        sheet.heading(format!("With {}", at.limit));
        sheet.table(table);
    }
    if forecast.settings.iter().any(|setting| setting.forecast.is_some_and(|figures| figures.unknown_counts)) {
        let epoch = recorded.typical_epoch;
        sheet.line(format!(
            "Not known: an epoch touches {epoch}, or pages leave RAM in the one in which they were touched. How it ends is predicted, counts are not; what is killed may thrash for long before."
        ));
    }
}

/// What the lab measured of the command itself, beside what was predicted.
pub(super) fn beside(sheet: &mut Sheet, forecast: &Forecast, figures: &[(&str, Pick, Text)]) {
    let settings: Vec<&SettingForecast> =
        forecast.settings.iter().filter(|setting| setting.measured.is_some()).collect();
    let Some(first) = settings.first() else { return };
    sheet.heading(format!("Predicted and measured with {}", first.limit));
    let table = Table::from_rows(&settings)
        .left("setting", |setting| setting.short_name())
        .left("predicted", |setting| ends(setting.forecast.as_ref()))
        .left("measured", |setting| ends(setting.measured.as_ref()))
        .right("runs", |setting| u64::from(setting.runs));
    sheet.table(table);
    let slower: (&str, Pick, Text) = ("Times as long as without a limit", |figures| figures.slower, times);
    for (at, (name, pick, text)) in std::iter::once(&slower).chain(figures).enumerate() {
        let of = |figures: Option<&Figures>| figures.and_then(pick);
        let show = |range: Option<Range>| range.map_or_else(|| "-".to_owned(), text);
        // What is not known are counts, and not the time.
        let is_known =
            |setting: &SettingForecast| at == 0 || setting.forecast.is_some_and(|figures| !figures.unknown_counts);
        let table = Table::from_rows(&settings)
            .left("setting", |setting| setting.short_name())
            .right("predicted", |setting| {
                if is_known(setting) { show(of(setting.forecast.as_ref())) } else { "not known".to_owned() }
            })
            .right("measured", |setting| show(of(setting.measured.as_ref())))
            .left("", |setting| {
                let both =
                    of(setting.forecast.as_ref()).zip(of(setting.measured.as_ref())).filter(|_| is_known(setting));
                both.map_or("", |(forecast, measured)| if forecast.holds(measured.median) { "" } else { "outside" })
            });
        sheet.heading(*name);
        sheet.table(table);
    }
}

/// What is said below it.
pub(super) fn sure(sheet: &mut Sheet, recorded: &Recorded) {
    sheet.line(UNKNOWN);
    if !recorded.reads {
        sheet.line(NO_READS);
    }
    sheet.line(SURE);
}

/// Ranges of counts are in the page and in the JSON document.
fn middle(range: Range) -> String {
    whole(range.median)
}

fn size(range: Range) -> String {
    format::measured_size(range.median)
}

/// `1.4 (1.1 to 2.0)`.
fn times(range: Range) -> String {
    let text = |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") };
    let (median, low, high) = (text(range.median), text(range.low), text(range.high));
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    fn setting(name: &str, limit: u64, slower: f64, verdict: Verdict) -> SettingForecast {
        let range = |value: f64| Some(Range { median: value, low: value, high: value });
        let unknown_counts = name == "swap:60";
        let killed = if verdict == Verdict::Killed { 1.0 } else { 0.0 };
        let figures = Figures {
            verdict,
            killed,
            slower: range(slower),
            major: range(700.0),
            swap_in: range(90.0),
            unknown_counts,
            ..Figures::default()
        };
        let limit = Bytes::from_mib(limit);
        SettingForecast {
            name: format!("{name} at {limit}"),
            limit,
            forecast: Some(figures),
            ..SettingForecast::default()
        }
    }

    fn said(settings: Vec<SettingForecast>) -> String {
        let need = Bytes::from_mib(200);
        let recorded = Some(Recorded { name: "make".to_owned(), epochs: 40, need, ..Recorded::default() });
        let text = Prediction::new(Forecast { settings, recorded, ..Forecast::default() }).text(&Style::default());
        text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_first_sentence_says_what_a_program_needs_and_what_helps_with_less() {
        let (fine, killed) = (Verdict::Fine, Verdict::Killed);
        let text = said(vec![
            setting("no-swap", 150, 1.0, killed),
            setting("zram:lz4:60", 150, 1.4, fine),
            setting("no-swap", 100, 1.0, killed),
            setting("zram:lz4:60", 100, 9.0, Verdict::Thrashing),
        ]);
        let first =
            "It needs 200.0 MiB; with 150.0 MiB zram:lz4:60 helps, 1.4× as long; with 100.0 MiB no setting ends well.";
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("Recorded: make,") && text.contains("Not known: which touches were stores"), "{text}");
    }

    #[test]
    fn a_count_that_is_not_known_is_no_number_and_one_that_is_killed_takes_no_time() {
        let text =
            said(vec![setting("no-swap", 150, 1.7, Verdict::Killed), setting("swap:60", 150, 1.4, Verdict::Fine)]);
        assert!(text.contains("swap:60 fine 1.40 not known not known"), "{text}");
        assert!(text.contains("no-swap killed - 700 90"), "{text}");
        assert!(
            text.contains("How it ends is predicted, counts are not; what is killed may thrash for long before."),
            "{text}"
        );
    }
}
