//! What `lab list`, `lab describe` and `lab clean` say, as data and as text.

use crate::prelude::*;
use ramline_sheet::format::date_ms;

/// `lab list`: the experiments there are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentList {
    /// Version of this document.
    pub schema_version: u64,
    /// In the order of the table.
    pub experiments: Vec<ExperimentInfo>,
    /// Series that were made here, the oldest first.
    pub series: Vec<PastSeries>,
}

/// One series that was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PastSeries {
    /// What `lab report`, `lab compare` and `lab resume` take instead of the folder: 1 is the oldest there is.
    pub number: u64,
    /// Which experiment.
    pub experiment: String,
    /// When it was begun, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// Runs that have a record.
    pub runs: u64,
    /// Where its records are.
    pub folder: String,
}

/// `lab describe`: one experiment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentInfo {
    /// Version of this document; 0 inside a list.
    pub schema_version: u64,
    /// Its name on the command line and in records.
    pub name: String,
    /// What it answers.
    pub question: String,
    /// How it is done, in a few sentences.
    pub how: String,
    /// What it needs.
    pub needs: String,
    /// Its page, relative to the project.
    pub docs: String,
    /// What can be chosen.
    pub options: Vec<ExperimentOption>,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentOption {
    /// Its name, without the dashes.
    pub name: String,
    /// What it means.
    pub help: String,
    /// What is taken when it is not given; `None` where that depends on the machine.
    pub default: Option<String>,
}

/// `lab clean`: what an earlier run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cleaned {
    /// Version of this document.
    pub schema_version: u64,
    /// Removed now, in words.
    pub removed: Vec<String>,
    /// Left alone because it is in use or no longer what was made, in words.
    pub left_alone: Vec<String>,
    /// What could not be removed, and why.
    pub errors: Vec<String>,
}

/// Series shown; the older ones are in the document.
const NEWEST: usize = 20;

impl ExperimentList {
    fn made(&self, sheet: &mut Sheet) {
        let Some(last) = self.series.last() else { return };
        sheet.heading("Series made here");
        let newest = self.series.iter().rev().take(NEWEST).rev();
        let drawn = Table::from_rows(newest)
            .right("number", |one| one.number.to_string())
            .left("began", |one| date_ms(one.began_unix_ms))
            .left("experiment", |one| &one.experiment)
            .right("runs", |one| one.runs)
            // A number is enough to name a series.
            .column(Column::path("folder").at_least(40).spare(), |one| &one.folder);
        sheet.table(drawn);
        let older = number::beyond(self.series.len(), NEWEST);
        sheet.dim((older > 0).then(|| format!("{} older ones: ramline lab list --json", number::count(older))));
        let show = format!("Show one again: ramline lab report {}", last.number);
        let before =
            self.series.iter().rev().find(|one| one.experiment == last.experiment && one.number != last.number);
        let both = |one: &PastSeries| format!("; two side by side: ramline lab compare {} {}", one.number, last.number);
        sheet.dim(format!("{show}{}", before.map(both).unwrap_or_default()));
    }
}

impl Screen for ExperimentList {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.table(Table::from_rows(&self.experiments).left("", |one| &one.name).wrapped("", |one| &one.question));
        self.made(&mut sheet);
        sheet
    }
}

impl Screen for ExperimentInfo {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, &self.name);
        sheet.blank();
        sheet.line(&self.question);
        sheet.blank();
        sheet.line(&self.how);
        sheet.blank();
        sheet.point("Needs: ", &self.needs);
        sheet.point("Page:  ", &self.docs);
        sheet.heading("Options");
        let help = |option: &ExperimentOption| {
            let default = option.default.as_ref().map(|value| format!(" [{value}]")).unwrap_or_default();
            format!("{}{default}", option.help)
        };
        let options = Table::from_rows(&self.options).left("", |option| format!("--{}", option.name)).wrapped("", help);
        sheet.table(options.indented(2));
        sheet
    }
}

impl Screen for Cleaned {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        if self.removed.is_empty() && self.left_alone.is_empty() && self.errors.is_empty() {
            sheet.answer(Paint::Plain, "Nothing was left behind.");
        }
        self.removed.iter().for_each(|what| sheet.line(format!("removed {what}")));
        self.left_alone.iter().for_each(|what| sheet.line(format!("left alone: {what}")));
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    #[test]
    fn past_series_stand_by_number_below_the_experiments() {
        let one = |number: u64| PastSeries {
            number,
            experiment: "cold-warm".into(),
            began_unix_ms: 1_795_000_000_000 + number * 60_000,
            runs: 14,
            folder: format!("/var/lib/ramline/lab/cold-warm-{number}"),
        };
        let list = ExperimentList { series: (1..=22).map(one).collect(), ..ExperimentList::default() };
        let text = list.text(&Style::default());
        assert!(
            text.contains("    22  ") && text.contains("cold-warm     14  /var/lib/ramline/lab/cold-warm-22"),
            "{text}"
        );
        assert!(!text.contains("cold-warm-2\n") && text.contains("2 older ones"), "{text}");
        assert!(text.contains("ramline lab report 22; two side by side: ramline lab compare 21 22"), "{text}");
    }

    #[test]
    fn two_series_of_one_experiment_can_be_compared_and_one_alone_cannot() {
        let one = |number: u64, experiment: &str| PastSeries {
            number,
            experiment: experiment.into(),
            folder: format!("/var/lib/ramline/lab/{experiment}-{number}"),
            ..PastSeries::default()
        };
        let list = |series| ExperimentList { series, ..ExperimentList::default() }.text(&Style::default());
        assert!(!list(vec![one(1, "drop"), one(2, "knee")]).contains("compare"));
        assert!(list(vec![one(1, "knee"), one(2, "drop"), one(3, "knee")]).contains("lab compare 1 3"));
    }

    #[test]
    fn an_experiment_is_told_on_any_terminal_with_its_options_below() {
        let option = |name: &str, default: Option<&str>| ExperimentOption {
            name: name.into(),
            help: "A sentence that is long enough to go on on the next line of a narrow terminal".into(),
            default: default.map(Into::into),
        };
        let info = ExperimentInfo {
            name: "drop".into(),
            question: "What does it take?".into(),
            how: "a word ".repeat(40),
            needs: "root".into(),
            docs: "docs/experiments/drop.md".into(),
            options: vec![option("levels", Some("1,2,3")), option("dir", None)],
            ..ExperimentInfo::default()
        };
        let text = info.text(&Style { colour: false, width: 60 });
        assert!(text.starts_with("drop\n\nWhat does it take?\n\na word"), "{text}");
        assert!(text.contains("\n\nNeeds: root\nPage:  docs/experiments/drop.md\n\nOptions\n  --levels  A sentence"));
        assert!(text.contains("terminal [1,2,3]\n  --dir     A sentence"), "{text}");
        assert!(text.lines().all(|line| ramline_sheet::text::width(line) <= 60), "{text}");
    }

    #[test]
    fn what_was_removed_stands_line_by_line_and_nothing_is_said_to_be_nothing() {
        assert_eq!(Cleaned::default().text(&Style::default()), "Nothing was left behind.\n");
        let cleaned = Cleaned { removed: vec!["a\u{1b}".into()], left_alone: vec!["b".into()], ..Cleaned::default() };
        assert_eq!(cleaned.text(&Style::default()), "removed a\\u{1b}\nleft alone: b\n");
    }
}
