//! The page of many hosts: the screen, and charts of what fits, of /tmp and of sizes.

use maud::html;

use super::readable;
use crate::prelude::*;
use ramline_evidence::{FleetReport, HostBin, HostSize};
use ramline_sheet::html::render;
use ramline_sheet::html::shell::{self, Section, Shell};
use ramline_sheet::{Bar, Bars};

const INTERVAL: &str =
    "The share among all hosts like these lies within the line with 95 % confidence, if these were drawn at random.";

fn share(name: String, share: Option<f64>, ends: Option<(f64, f64)>) -> Bar {
    let value = number::percent(share.unwrap_or_default());
    Bar { name, value, at: share, interval: ends, ..Bar::default() }
}

fn drawn(title: String, unit: &str, rows: Vec<Bar>, note: &str, sheet: &mut Sheet) {
    let bars = Bars { title, unit: unit.to_owned(), rows, note: note.to_owned(), in_table: true, ..Bars::default() };
    if !bars.is_flat() {
        sheet.bars(bars);
    }
}

/// Where a range begins.
fn least(size: &HostSize, bin: &HostBin) -> String {
    match size.name.as_str() {
        name if name.ends_with("_kib") => format!("{} or more", number::kilobytes(bin.from)),
        "up_s" => format!("{} days or more", number::trimmed(HostSize::days(bin.drawn().0))),
        _ => format!("{} or more", number::count(bin.from)),
    }
}

fn charts(report: &FleetReport) -> Sheet {
    let mut sheet = Sheet::new();
    let fits = report.models.iter().filter(|model| model.fits.share.is_some());
    let fits = fits.map(|model| share(readable(&model.name), model.fits.share, model.fits.low.zip(model.fits.high)));
    drawn("Hosts where /tmp is at most".to_owned(), "share", fits.collect(), INTERVAL, &mut sheet);
    let above = report.survival.iter();
    let above = above
        .map(|row| share(format!("{} or more", number::kilobytes(row.threshold)), row.share, row.low.zip(row.high)));
    drawn("Hosts that have in /tmp (survival curve)".to_owned(), "share", above.collect(), INTERVAL, &mut sheet);
    for size in &report.variables {
        let rows = size.bins.iter().map(|bin| Bar {
            name: least(size, bin),
            value: number::count(bin.hosts),
            at: Some(bin.drawn().1),
            ..Bar::default()
        });
        let title = format!("Hosts by {}", readable(&size.name));
        drawn(title, "hosts", rows.collect(), "Each bar reaches up to the next: twice its size at most.", &mut sheet);
    }
    sheet
}

/// It as one page.
#[must_use]
pub fn page(report: &FleetReport, ramline: &str) -> String {
    let sheet = report.sheet();
    let (answer, below) = sheet.split_answer();
    let all = [("result", "Result", below), ("charts", "Charts", charts(report))];
    let shown = all.into_iter().filter(|(.., sheet)| !sheet.is_empty());
    shell::whole(&Shell {
        title: format!("/tmp of {} · ramline fleet", number::things(report.hosts, "host")),
        header: html! {
            p.eyebrow { b { "ramline fleet" } span { (number::things(report.hosts, "host")) } @if report.synthetic { span { "made up" } } }
            h1 { (answer.unwrap_or_default()) }
            p.question { "Would /tmp fit into memory, on how many hosts not, and how sure is that?" }
        },
        before: html! {},
        sections: shown.map(|(id, name, sheet)| Section { id, name, body: render::topic(id, name, &sheet) }).collect(),
        ramline,
    })
}
