//! A load in several amounts of RAM: settings down, limits across, so that what more RAM would do is read along a row.
//!
//! What it is not: a choice of a limit. Worked example: `swap:60 | 0.55 s | 0.31 s` below `400.0 MiB | 480.0 MiB`; a setting that is killed
//! says so in its place and is never left out.

use ramline_predict::forecast::{Figures, Forecast, SettingForecast, Verdict};

use super::{Pick, Text, seconds};
use crate::prelude::*;
use ramline_sheet::{Along, Column, Curve, Panel, Panels, format};

/// The limits, from the least on.
pub(super) fn limits(forecast: &Forecast) -> Vec<Bytes> {
    let mut all: Vec<Bytes> = forecast.settings.iter().map(|setting| setting.limit).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What more RAM does, with the best setting of the least and of the largest limit; `None` of one limit.
pub(super) fn answer(forecast: &Forecast) -> Option<String> {
    let limits = limits(forecast);
    let (least, most) = (*limits.first()?, *limits.last()?);
    if least == most {
        return None;
    }
    let words = |limit: Bytes| match best(forecast, limit) {
        Some(took) => format!("{} with {limit}", short(took)),
        None => format!("no setting ends well with {limit}"),
    };
    Some(match (best(forecast, least), best(forecast, most)) {
        (None, None) => format!("No setting ends well in all simulations, neither with {least} nor with {most}."),
        (None, Some(_)) => format!("A round takes {}; {}.", words(most), words(least)),
        (Some(_), None) => format!("A round takes {}; {}.", words(least), words(most)),
        (Some(_), Some(_)) => format!("A round takes {}, {}, each under its best setting.", words(most), words(least)),
    })
}

/// The shortest median of the settings of a limit that end well.
fn best(forecast: &Forecast, limit: Bytes) -> Option<f64> {
    let here = forecast.settings.iter().filter(|setting| setting.limit == limit && setting.ends_well());
    here.filter_map(|setting| Some(setting.round()?.median)).min_by(f64::total_cmp)
}

fn short(took: f64) -> String {
    let one = ramline_predict::forecast::Range { median: took, low: took, high: took };
    seconds(one)
}

/// Its name without the limit.
fn plain(setting: &SettingForecast) -> &str {
    setting.name.strip_suffix(&format!(" at {}", setting.limit)).unwrap_or(&setting.name)
}

fn names(forecast: &Forecast) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for setting in &forecast.settings {
        if !all.contains(&plain(setting)) {
            all.push(plain(setting));
        }
    }
    all
}

fn at<'a>(forecast: &'a Forecast, name: &str, limit: Bytes) -> Option<&'a SettingForecast> {
    forecast.settings.iter().find(|setting| setting.limit == limit && plain(setting) == name)
}

/// A table for each figure that is more than 0 somewhere, and first how each setting ends where not all end well.
pub(super) fn tables(sheet: &mut Sheet, forecast: &Forecast, figures: &[(&str, Pick, Text)]) {
    let limits = limits(forecast);
    for (title, pick, text) in figures {
        let is_any =
            |setting: &SettingForecast| setting.forecast.as_ref().and_then(*pick).is_some_and(|range| range.high > 0.0);
        if !forecast.settings.iter().any(is_any) {
            continue;
        }
        let cell = |limit: Bytes, name: &str| cell(at(forecast, name, limit), *pick, *text);
        sheet.heading(format!("{title}, by the limit"));
        let table = Table::from_rows(names(forecast)).left("setting", |name| name).columns(
            limits.iter().copied(),
            |limit| Column::right(&limit.to_string()),
            |limit, name| cell(*limit, name),
        );
        sheet.table(table);
    }
    let fastest = |limit: Bytes| {
        let here: Vec<&SettingForecast> = forecast.settings.iter().filter(|setting| setting.limit == limit).collect();
        let (wins, _) = forecast.wins(&here);
        let words = match (forecast.fastest_of(&here), wins.as_slice()) {
            (Some(best), _) => plain(best).to_owned(),
            (None, []) => "none ends well".to_owned(),
            (None, [(only, _)]) => format!("only {} ends well", plain(only)),
            (None, _) => "no clear winner".to_owned(),
        };
        format!("{limit}: {words}")
    };
    sheet.line(format!(
        "Fastest by the limit: {}.",
        limits.iter().map(|limit| fastest(*limit)).collect::<Vec<_>>().join("; ")
    ));
}

/// `0.31 s`, `killed`, `5.00 s, thrashing`: medians, since ranges have no room beside each other (the JSON document has them).
fn cell(setting: Option<&SettingForecast>, pick: Pick, text: Text) -> String {
    let Some(figures) = setting.and_then(|setting| setting.forecast.as_ref()) else {
        return "not simulated".to_owned();
    };
    let value = pick(figures).map(|mut range| {
        (range.low, range.high) = (range.median, range.median);
        text(range)
    });
    match (ending(figures), value) {
        (Some("killed"), _) | (_, None) => ending(figures).unwrap_or("-").to_owned(),
        (Some(how), Some(value)) => format!("{value}, {how}"),
        (None, Some(value)) => value,
    }
}

fn ending(figures: &Figures) -> Option<&'static str> {
    match figures.verdict {
        Verdict::Fine if figures.killed > 0.0 => Some("some killed"),
        Verdict::Fine => None,
        Verdict::Thrashing => Some("thrashing"),
        Verdict::Killed => Some("killed"),
    }
}

/// A figure over RAM, one small chart a setting; a limit at which it is killed has no point and says so.
pub(super) fn chart(sheet: &mut Sheet, forecast: &Forecast, title: &str, pick: Pick, text: Text) {
    let limits = limits(forecast);
    let panel = |name: &str| {
        let of =
            |limit: &Bytes| at(forecast, name, *limit)?.forecast.filter(|figures| figures.verdict != Verdict::Killed);
        let points =
            limits.iter().filter_map(|limit| Some((format::axis(*limit), pick(&of(limit)?)?.median))).collect();
        let values: Vec<String> = limits
            .iter()
            .map(|limit| format!("{} with {}", cell(at(forecast, name, *limit), pick, text), format::size(*limit)))
            .collect();
        Panel {
            name: name.to_owned(),
            value: values.join(", "),
            curves: vec![(Curve::First, points)],
            ..Panel::default()
        }
    };
    let panels = names(forecast).into_iter().map(panel).collect();
    let unit = if title.starts_with("Time") {
        "s"
    } else if title.contains("Part") {
        "share"
    } else if title.contains("pages") || title.contains("faults") || title.contains("Swap-ins") {
        "a round"
    } else {
        "bytes"
    };
    let all = Panels {
        title: format!("{title}, by RAM"),
        along: Along::Ram,
        unit: unit.to_owned(),
        panels,
        note: "From the least limit to the largest.".to_owned(),
        ..Panels::default()
    };
    if !all.is_flat() {
        sheet.panels(all);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prediction;
    use super::*;
    use ramline_predict::forecast::Range;
    use ramline_sheet::text::Style;

    fn setting(name: &str, mib: u64, took: f64, verdict: Verdict) -> SettingForecast {
        let range = |median: f64| Some(Range { median, low: median * 0.9, high: median * 1.1 });
        let killed = f64::from(u8::from(verdict == Verdict::Killed));
        let figures = Figures { verdict, killed, round: range(took), major: range(100.0), ..Figures::default() };
        let limit = Bytes::from_mib(mib);
        SettingForecast {
            name: format!("{name} at {limit}"),
            limit,
            forecast: Some(figures),
            rounds: vec![took; 32],
            ..SettingForecast::default()
        }
    }

    #[test]
    fn what_more_ram_does_is_read_along_a_row_and_a_killed_setting_is_not_left_out() {
        let settings = vec![
            setting("no-swap text", 400, 1.0, Verdict::Killed),
            setting("zram:180 text", 400, 0.6, Verdict::Fine),
            setting("no-swap text", 480, 0.3, Verdict::Fine),
            setting("zram:180 text", 480, 0.4, Verdict::Fine),
        ];
        let prediction = Prediction::new(Forecast { settings, ..Forecast::default() });
        let text = prediction.text(&Style { colour: false, width: 100 }).replace('\u{a0}', " ");
        assert!(
            text.starts_with(
                "A round takes 0.30 s with 480.0 MiB, 0.60 s with 400.0 MiB, each under its best setting.\n"
            ),
            "{text}"
        );
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert!(rows.contains(&vec!["setting", "400.0 MiB", "480.0 MiB"]), "{text}");
        assert!(rows.contains(&vec!["no-swap text", "killed", "0.30 s"]), "{text}");
        assert!(rows.contains(&vec!["zram:180 text", "0.60 s", "0.40 s"]), "{text}");
        assert!(text.contains("400.0 MiB: only zram:180 text ends well; 480.0 MiB: no-swap text."), "{text}");
        assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= 100), "{text}");
        let page = crate::html::prediction(&prediction, "1");
        assert!(page.contains("Time of a round, by RAM") && page.contains("killed with 400.0"), "{page}");
    }
}
