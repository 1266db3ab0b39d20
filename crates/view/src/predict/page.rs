//! A forecast as one page: the answer, the table of the terminal, a chart of each figure.
//!
//! Worked example: two settings with a time each make a chart of two bars with their intervals.

use maud::html;

use super::Prediction;
use crate::prelude::*;
use ramline_sheet::format::size;
use ramline_sheet::html::render;
use ramline_sheet::html::shell::{self, Section, Shell};

/// The page of a forecast.
#[must_use]
pub fn prediction(prediction: &Prediction, ramline: &str) -> String {
    let forecast = &prediction.forecast;
    let sheet = prediction.sheet();
    let (answer, below) = sheet.split_answer();
    let all = [("result", "Result", below), ("charts", "Charts", prediction.charts())];
    let shown = all.into_iter().filter(|(.., sheet)| !sheet.is_empty());
    let mut limits: Vec<String> = forecast.settings.iter().map(|setting| size(setting.limit)).collect();
    limits.dedup();
    shell::whole(&Shell {
        title: format!("{} · ramline predict", forecast.experiment),
        header: html! {
            p.eyebrow { b { "ramline predict" } span { (forecast.experiment) } span { "in a group limited to " (limits.join(", ")) } }
            h1 { (answer.unwrap_or_default()) }
            p.question { "What would this load do under another setting? Simulated, not run." }
        },
        before: html! {},
        sections: shown.map(|(id, name, sheet)| Section { id, name, body: render::topic(id, name, &sheet) }).collect(),
        ramline,
    })
}

#[cfg(test)]
mod tests {
    use ramline_predict::forecast::{Figures, Forecast, Range, SettingForecast};
    use ramline_units::Bytes;

    use super::*;

    #[test]
    fn each_figure_is_a_chart_with_intervals_and_names_are_data() {
        let range = |median: f64| Some(Range { median, low: median / 2.0, high: median * 2.0 });
        let figures = Figures { round: range(1.0), disk_read: range(4096.0), zram: range(0.0), ..Figures::default() };
        let setting = |name: &str| SettingForecast {
            name: name.to_owned(),
            limit: Bytes::from_mib(100),
            forecast: Some(figures),
            ..SettingForecast::default()
        };
        let settings = vec![setting("swap:60"), setting("<b>")];
        let page = prediction(&Prediction::new(Forecast { settings, ..Forecast::default() }), "1");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("&lt;b&gt;"), "{page}");
        assert_eq!(page.matches("<figure").count(), 2, "time and what is read; nothing is drawn of zeros");
        assert!(page.contains("limited to 100.0") && page.contains("class=\"interval\""), "{page}");
    }
}
