//! Many hosts: the document that ramline-fleet makes of a store, and what it says.
//!
//! ```
//! use ramline_evidence::FleetReport;
//! use ramline_sheet::text::Style;
//! use ramline_view::Screen;
//! assert!(FleetReport::default().text(&Style::default()).starts_with("No host is known."));
//! ```

use crate::prelude::*;
use ramline_evidence::{FleetReport, HostGroup, HostShare, HostSize, HostsBeyond};

mod page;

pub use page::page;

/// Hosts named in a sentence.
const NAMED: usize = 5;

fn answer(report: &FleetReport) -> (Paint, String) {
    let Some(model) = report.answer().filter(|_| report.hosts > 0) else {
        return (Paint::Plain, "No host is known.".to_owned());
    };
    let (fits, fails) = (&model.fits, model.fails.hosts);
    if fits.of == 0 {
        return (
            Paint::Plain,
            format!("Of {} it is not known whether /tmp would fit.", number::things(report.hosts, "host")),
        );
    }
    let not = match fails {
        0 => "none where it would not".to_owned(),
        n => format!("on {} it would not", number::count(n)),
    };
    let unknown = match model.unknown {
        0 => String::new(),
        n => format!("; of {} more it is not known", number::count(n)),
    };
    let memory = if report.by_free_alone() { "free" } else { "available" };
    let text = format!(
        "/tmp would fit into {memory} memory and free swap on {} of {}, {}; {not}{unknown}.",
        number::count(fits.hosts),
        number::things(fits.of, "host"),
        with_interval(fits.share, fits.low, fits.high)
    );
    let paint = match (fails, model.unknown) {
        (0, 0) => Paint::Good,
        (0, _) => Paint::Plain,
        _ => Paint::Warn,
    };
    (paint, text)
}

/// Which days and hosts count, and by what they are judged.
fn counted(report: &FleetReport) -> Option<String> {
    let mut said = Vec::new();
    if let (Some(since), Some(until)) = (&report.since, &report.until) {
        let before = match report.last_seen_before {
            0 => String::new(),
            hosts => format!("; {} last seen before that and not counted", number::things(hosts, "host")),
        };
        said.push(format!("Days from {since} to {until}{before}."));
    }
    if report.judged_by_free > 0 && !report.by_free_alone() {
        said.push(format!(
            "{} judged by free memory: available memory is unknown there.",
            number::things(report.judged_by_free, "host")
        ));
    }
    if report.machine_unknown > 0 {
        said.push(format!(
            "{} without a machine identity: one under two names counts twice.",
            number::things(report.machine_unknown, "host")
        ));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// What to do, and on which hosts: memory that is lacking comes before /tmp.
fn actions(report: &FleetReport) -> Vec<String> {
    let mut out = report.actions.clone();
    let Some(model) = report.answer().filter(|_| report.hosts > 0) else { return out };
    let worst = report.breaks.iter().take(NAMED);
    let named = worst.map(|host| format!("{} (lacks {})", host.host, number::kilobytes(host.lacks_kib)));
    let named = named.collect::<Vec<_>>().join(", ");
    if model.fails.hosts > 0 {
        let hosts = number::things(model.fails.hosts, "host");
        let more = number::beyond(usize::try_from(model.fails.hosts).unwrap_or(usize::MAX), NAMED);
        let more = if more > 0 { format!(" and {} more", number::count(more)) } else { String::new() };
        out.push(format!("Keep /tmp on disk, or add RAM or swap, on {hosts}: {named}{more}. All of them: ramline fleet query margins STORE"));
    }
    if model.fits.hosts > report.in_ram {
        out.push(format!(
            "Move /tmp into memory in waves on hosts where it fits: ramline fleet rollout STORE ({} fit)",
            number::count(model.fits.hosts)
        ));
    }
    if model.unknown > 0 {
        let hosts = number::things(model.unknown, "host");
        out.push(format!("Find the unknown sizes of {hosts}: ramline fleet collect STORE --ssh HOSTS"));
    }
    out
}

/// Hosts by role or by source.
fn grouped(title: &str, of: &str, groups: &[HostGroup], sheet: &mut Sheet) {
    if groups.is_empty() {
        return;
    }
    let table = Table::from_rows(groups)
        .left(of, |group| if group.name.is_empty() { "none" } else { group.name.as_str() })
        .right("hosts", |group| group.hosts)
        .right("fits", |group| group.fits)
        .right("does not", |group| group.fails)
        .right("unknown", |group| group.unknown)
        .right("/tmp unknown", |group| group.tmp_unknown)
        .column(Column::name("newest day").spare(), |group| group.last_day.as_deref().unwrap_or_default());
    sheet.headed_table(title, table);
}

fn breaking(report: &FleetReport, sheet: &mut Sheet) {
    if report.breaks.is_empty() {
        return;
    }
    let table = Table::from_rows(&report.breaks)
        .column(Column::name("host"), |host| host.host.as_str())
        .right("in /tmp", |host| number::kilobytes(host.tmp_kib))
        .right("available", |host| host.available_kib.map_or("unknown".to_owned(), number::kilobytes))
        .column(Column::right("free").spare(), |host| number::kilobytes(host.free_kib))
        .right("free swap", |host| number::kilobytes(host.swap_free_kib))
        .right("lacks", |host| number::kilobytes(host.lacks_kib))
        .column(Column::name("on").spare(), |host| host.day.as_deref().unwrap_or_default());
    sheet.headed_table("Hosts it would break, and what they lack", table);
    let more = number::beyond(usize::try_from(report.break_count).unwrap_or(usize::MAX), report.breaks.len());
    sheet.dim((more > 0).then(|| format!("and {} more", number::count(more))));
}

fn fits(report: &FleetReport, sheet: &mut Sheet) {
    let table = Table::from_rows(&report.models)
        .left("/tmp is at most", |model| readable(&model.name))
        .right("fits", |model| model.fits.hosts)
        .right("does not", |model| model.fails.hosts)
        .right("not known", |model| model.unknown)
        .right("share that fits (95 % interval)", |model| share_text(&model.fits));
    sheet.headed_table("Would it fit?", table);
    sheet.dim((report.in_ram > 0).then(|| {
        format!("{} with /tmp in RAM already: what lies there has its room.", number::things(report.in_ram, "host"))
    }));
    let table = Table::from_rows(&report.upgrade)
        .wrapped("in /tmp is", |way| way.what.as_str())
        .right("hosts", |way| way.fails.hosts)
        .right("not known", |way| way.unknown)
        .right("share (95 % interval)", |way| share_text(&way.fails));
    sheet.headed_table("What would break if /tmp became a tmpfs, as newer systems make it", table);
    let table = Table::from_rows(&report.rules)
        .left("If /tmp were in RAM on hosts with more than", |rule| number::kilobytes(rule.more_than_kib))
        .right("share of hosts", |rule| share_text(&rule.on))
        .right("hosts where it would not fit", |rule| rule.fails.hosts)
        .right("in percent", |rule| share_text(&rule.fails));
    sheet.headed_table("If /tmp were in RAM by default", table);
}

fn sizes(report: &FleetReport, sheet: &mut Sheet) {
    let shown = |row: &HostSize, value: Option<f64>| match value {
        None => "unknown".to_owned(),
        Some(value) if row.name.ends_with("_kib") => number::kilobytes_of(value),
        Some(value) if row.name == "up_s" => format!("{} days", number::trimmed(HostSize::days(value))),
        Some(value) => number::trimmed(value),
    };
    let table = Table::from_rows(&report.variables)
        .left("", |row| readable(&row.name))
        .right("hosts", |row| row.hosts)
        .right("least", |row| shown(row, row.min))
        .right("median", |row| shown(row, row.median))
        .right("mean", |row| shown(row, row.mean))
        .right("most", |row| shown(row, row.max))
        .column(Column::right("most often").spare(), |row| shown(row, row.mode))
        .column(Column::right("not known").spare(), |row| row.unknown);
    sheet.headed_table("Sizes", table);
    sheet.dim((report.without_swap > 0).then(|| {
        format!("{} without swap: the row of swap total is of the others.", number::things(report.without_swap, "host"))
    }));
    sheet.dim((report.virtual_machines.of > 0).then(|| {
        format!(
            "{} of {} are virtual machines.",
            number::count(report.virtual_machines.hosts),
            number::things(report.virtual_machines.of, "host")
        )
    }));
    let table = Table::from_rows(&report.shares)
        .left("hosts with", beyond)
        .right("hosts", |row| row.hosts)
        .right("of", |row| row.of)
        .right("share (95 % interval)", |row| with_interval(row.share, row.low, row.high));
    sheet.headed_table("Above and below", table);
}

impl Screen for FleetReport {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let (paint, answer) = answer(self);
        sheet.answer(paint, answer);
        sheet.warn(self.synthetic.then_some("These hosts are made up."));
        let days = (self.days > 1).then(|| {
            format!(
                "Each size is that of a host's worst of up to {}; it fits where it fits on all of them that are known.",
                number::things(self.days, "day")
            )
        });
        sheet.line(days);
        sheet.line(counted(self));
        let refused = self.lines.filter(|lines| lines.refused > 0);
        sheet.warn(refused.map(|lines| {
            format!("{} of {} were refused.", number::count(lines.refused), number::things(lines.read, "line"))
        }));
        let actions = actions(self);
        if !actions.is_empty() {
            sheet.headed_points("What to do", actions);
        }
        breaking(self, &mut sheet);
        grouped("By role", "role", &self.roles, &mut sheet);
        grouped("By source of the data", "source", &self.sources, &mut sheet);
        fits(self, &mut sheet);
        sizes(self, &mut sheet);
        if self.hosts > 0 {
            let clean = self.clean_hosts_for_one_in_a_thousand;
            let text = format!(
                "To say \"fewer than one in a thousand\" takes {} hosts without one that breaks.",
                number::count(clean)
            );
            sheet.headed_points("What it does not say", self.caveats.iter().cloned().chain([text]));
        }
        sheet
    }
}

/// `tmp_kib` is `/tmp`, `half_of_ram` is `half of RAM`.
fn readable(name: &str) -> String {
    match name {
        "tmp_kib" => "/tmp".to_owned(),
        "tmp_inodes" => "inodes of /tmp".to_owned(),
        "up_s" => "uptime".to_owned(),
        "half_of_ram_above_3_gb" => "half of RAM, above 3 GB".to_owned(),
        _ => name.trim_end_matches("_kib").replace('_', " ").replace("ram", "RAM"),
    }
}

fn beyond(row: &HostsBeyond) -> String {
    match (row.side.as_str(), row.threshold) {
        ("above", 0) => readable(&row.variable),
        (side, kib) => format!("{} {side} {}", readable(&row.variable), number::kilobytes(kib)),
    }
}

fn share_text(share: &HostShare) -> String {
    with_interval(share.share, share.low, share.high)
}

/// `99.2 % (98.0 to 99.8 %)`.
fn with_interval(share: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let Some(share) = share else { return "unknown".to_owned() };
    let ends = low
        .zip(high)
        .map(|(low, high)| format!(" ({} to {})", number::percent(low).trim_end_matches(" %"), number::percent(high)));
    format!("{}{}", number::percent(share), ends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use ramline_evidence::{BrokenHost, FitModel, HostBin};

    use super::*;

    fn report() -> FleetReport {
        let share = |hosts, share| HostShare { hosts, of: 10, share: Some(share), low: Some(0.3), high: Some(0.95) };
        let model = |name: &str| FitModel {
            name: name.to_owned(),
            fits: share(8, 0.8),
            fails: share(2, 0.2),
            ..FitModel::default()
        };
        let under = |threshold, part| HostsBeyond {
            variable: "tmp_kib".to_owned(),
            side: "under".to_owned(),
            threshold,
            hosts: 5,
            of: 10,
            share: Some(part),
            low: Some(0.2),
            high: Some(0.8),
        };
        FleetReport {
            hosts: 10,
            models: vec![model("half_of_ram"), model("free_and_swap")],
            last_seen_before: 3,
            since: Some("2026-11-01".to_owned()),
            until: Some("2026-11-29".to_owned()),
            survival: vec![HostsBeyond { side: "at least".to_owned(), ..under(1024, 0.5) }],
            variables: vec![HostSize {
                name: "tmp_kib".to_owned(),
                bins: vec![HostBin { from: 4, to: 7, hosts: 6 }, HostBin { from: 1024, to: 2047, hosts: 4 }],
                ..HostSize::default()
            }],
            roles: vec![HostGroup { name: "web".to_owned(), hosts: 10, fits: 8, fails: 2, ..HostGroup::default() }],
            shares: vec![under(1000, 0.5)],
            breaks: vec![BrokenHost {
                host: "<b>".to_owned(),
                tmp_kib: 13_000_000,
                lacks_kib: 1500,
                ..BrokenHost::default()
            }],
            break_count: 2,
            actions: vec!["Add memory to 1 host, or move load away: db1 (3 kills).".to_owned()],
            ..FleetReport::default()
        }
    }

    #[test]
    fn the_answer_counts_those_that_fit_and_the_hosts_that_break_are_named() {
        let text = report().text(&ramline_sheet::text::Style::default());
        let answer = "/tmp would fit into free memory and free swap on 8 of 10 hosts, 80.0 % (30.0 to 95.0 %); on 2 it would not.";
        assert!(text.replace('\n', " ").starts_with(answer), "{text}");
        assert!(text.contains("By role") && text.contains("web"), "{text}");
        assert!(text.replace('\n', " ").contains("<b> (lacks 1.5 MB)"), "the worst hosts are named: {text}");
        assert!(text.contains("13 GB") && text.contains("1.5 MB") && text.contains("and 1 more"), "{text}");
    }

    #[test]
    fn a_warm_server_is_judged_by_what_is_available() {
        let mut warm = report();
        let share = |hosts, share| HostShare { hosts, of: 10, share: Some(share), low: Some(0.7), high: Some(1.0) };
        warm.judged = Some(FitModel { fits: share(10, 1.0), fails: share(0, 0.0), ..FitModel::default() });
        warm.judged_by_free = 2;
        let text = warm.text(&ramline_sheet::text::Style::default()).replace('\n', " ");
        assert!(text.starts_with("/tmp would fit into available memory and free swap on 10 of 10 hosts"), "{text}");
        assert!(text.contains("2 hosts judged by free memory"), "{text}");
        assert!(text.contains("Days from 2026-11-01 to 2026-11-29; 3 hosts last seen before"), "{text}");
    }

    #[test]
    fn where_nothing_is_known_nothing_fits() {
        let mut unknown = report();
        unknown.models.iter_mut().for_each(|model| {
            (model.fits, model.fails, model.unknown) = (HostShare::default(), HostShare::default(), 10)
        });
        let text = unknown.text(&ramline_sheet::text::Style::default());
        assert!(
            text.starts_with("Of 10 hosts it is not known whether /tmp would fit.") && text.contains("unknown"),
            "{text}"
        );
    }

    #[test]
    fn a_page_has_intervals_and_names_are_data() {
        let page = page(&report(), "1");
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.contains("&lt;b&gt;") && page.contains("class=\"interval\""),
            "{page}"
        );
        assert_eq!(page.matches("<figure").count(), 3, "who fits, how much is in /tmp, and hosts by size");
        let at = |text: &str| page.find(text);
        let (todo, lacking, broken, fits) =
            (at("What to do"), at("db1 (3 kills)"), at("Keep /tmp on disk"), at("Would it fit?"));
        assert!(todo.is_some() && todo < lacking && lacking < broken && broken < fits, "first what to do");
    }
}
