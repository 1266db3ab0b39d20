//! `explain TOPIC`: the answer, the numbers that decide, what to do; with `--more` all numbers and how it works; and the
//! list of topics.

use ramline_advice::{Area, Explanation, TOPICS};

use crate::prelude::*;
use ramline_sheet::{Depth, Style};

/// The topics that can be explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopicList {
    /// Version of this document.
    pub schema_version: u64,
    /// Every topic, by area, the general ones first.
    pub topics: Vec<TopicLine>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopicLine {
    /// Its name: `ramline explain NAME`.
    pub topic: String,
    /// What it is about.
    pub area: Area,
    /// The question it answers.
    pub question: String,
}

impl TopicList {
    /// All of them.
    #[must_use]
    pub fn new() -> Self {
        let line = |topic: &ramline_advice::Topic| TopicLine {
            topic: topic.id.to_owned(),
            area: topic.area,
            question: topic.question.to_owned(),
        };
        TopicList { schema_version: SCHEMA_VERSION, topics: TOPICS.iter().map(line).collect() }
    }
}

impl Screen for TopicList {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(
            Paint::Bold,
            "ramline explain TOPIC answers a question in this machine's numbers; NUMBER explains a number of a screen.",
        );
        for area in self.topics.chunk_by(|one, next| one.area == next.area) {
            area.iter().take(1).for_each(|first| sheet.heading(first.area.words()));
            sheet.table(Table::from_rows(area).left("", |it| &it.topic).wrapped("", |it| &it.question).indented(2));
        }
        sheet.next("ramline explain used, or a number by its name: ramline explain 'page tables'");
        sheet
    }
}

impl Default for TopicList {
    fn default() -> Self {
        TopicList::new()
    }
}

/// Lines of the short answer: it fits on a terminal of 24 with the prompt.
pub const SHORT: usize = 20;
/// Numbers of the short answer: those that decide.
const DECIDING: usize = 5;

/// The answer first, the numbers that decide, what to do; on request all numbers with their sources, how it works, and what is
/// often said and not so.
#[must_use]
pub fn sheet(explanation: &Explanation) -> Sheet {
    let mut sheet = Sheet::new();
    answer(&mut sheet, &explanation.answer_short);
    let mut deciding = Sheet::new();
    deciding.blank();
    let numbers = explanation.numbers.iter().take(DECIDING).map(|number| (&number.what, &number.value));
    deciding.table(Table::pairs(numbers).indented(2).shrinks());
    sheet.digest(deciding, &explanation.question, |full| {
        let table = Table::from_rows(&explanation.numbers).wrapped("", |it| &it.what).wrapped("", |it| &it.value);
        full.table(table.wrapped("", |it| &it.source).indented(2));
    });
    sheet.more("How it works", |more| {
        explanation.mechanism.iter().for_each(|sentence| more.point("  - ", sentence));
    });
    sheet.more("Often said, and not so", |more| {
        explanation.myth.iter().for_each(|myth| more.point("  ", myth));
    });
    sheet.blank();
    sheet.point("What to do: ", Some(&explanation.to_do).filter(|text| !text.is_empty()));
    sheet.next(&explanation.next_command);
    sheet.ask(&format!("More: ramline explain {} --more", explanation.topic));
    sheet
}

/// The answer, the numbers that decide, what to do: at most [`SHORT`] lines at 80 columns. The rest is in [`explain_more`].
#[must_use]
pub fn explain(explanation: &Explanation, style: &Style) -> String {
    sheet(explanation).text_within(style, Depth::Brief, SHORT)
}

/// The whole answer: all numbers with their sources, how it works, what is often said and not so.
#[must_use]
pub fn explain_more(explanation: &Explanation, style: &Style) -> String {
    sheet(explanation).text(style, Depth::All)
}

/// A word such as `No.` stands with the sentence behind it.
const WORD: usize = 12;

/// The first sentence stands out: it is what most people read.
fn answer(sheet: &mut Sheet, text: &str) {
    let end = text.match_indices(". ").map(|(at, _)| at).find(|at| *at >= WORD);
    let Some(at) = end else { return sheet.answer(Paint::Bold, text) };
    sheet.answer(Paint::Bold, &text[..=at]);
    sheet.line(Some(text[at..].trim_start_matches(". ")).filter(|rest| !rest.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_advice::Evidence;

    fn example() -> Explanation {
        Explanation {
            topic: "swap-in-use".into(),
            question: "Why is swap in use although memory is free?".into(),
            answer_short: "512.0 MiB were put there some time ago. No task waits for them.".into(),
            numbers: vec![Evidence {
                what: "swap-ins".into(),
                value: "0 pages/s over 2.0 s".into(),
                source: "/proc/vmstat pswpin".into(),
            }],
            mechanism: vec!["Pages that are not used leave first.".into()],
            myth: Some("Swap in use means too little RAM.".into()),
            to_do: "Nothing.".into(),
            next_command: "ramline show swap --for 2s".into(),
        }
    }

    #[test]
    fn the_answer_leads_and_the_rest_is_behind_more() {
        assert_eq!(
            explain(&example(), &Style::default()),
            "\
512.0 MiB were put there some time ago.
No task waits for them.

  swap-ins  0 pages/s over 2.0 s

What to do: Nothing.
Next: ramline show swap --for 2s
More: ramline explain swap-in-use --more
"
        );
    }

    #[test]
    fn more_has_the_question_the_sources_the_mechanism_and_the_myth() {
        assert_eq!(
            explain_more(&example(), &Style::default()),
            "\
512.0 MiB were put there some time ago.
No task waits for them.

Why is swap in use although memory is free?
  swap-ins  0 pages/s over 2.0 s  /proc/vmstat pswpin

How it works
  - Pages that are not used leave first.

Often said, and not so
  Swap in use means too little RAM.

What to do: Nothing.

Next: ramline show swap --for 2s
"
        );
    }

    #[test]
    fn the_short_answer_keeps_to_twenty_lines_however_long_its_numbers_are() {
        let long = Evidence { what: "a name ".repeat(30), value: "a value ".repeat(30), source: "s".into() };
        let many = Explanation { numbers: vec![long; 9], ..example() };
        for width in [60, 80, 120, 200] {
            assert!(explain(&many, &Style { colour: false, width }).lines().count() <= SHORT, "{width}");
        }
    }
}
