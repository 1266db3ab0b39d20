//! `explain TOPIC`: the answer, the numbers that decide, what to do; with `--more` all numbers and how it works; and the
//! list of topics.
//!
//! What it is not: the answers (`ramline-advice`).

use ramline_advice::{Area, Explanation, TOPICS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::text::{Column, Page, Style, Table};

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

    /// The list, under a heading for every area.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        page.bold(
            "ramline explain TOPIC answers a question in this machine's numbers; NUMBER explains a number of a screen.",
        );
        let mut left = self.topics.as_slice();
        while let Some(first) = left.first() {
            let (area, rest) = left.split_at(left.iter().take_while(|t| t.area == first.area).count());
            page.heading(first.area.words());
            let mut table = Table::new(vec![Column::left(""), Column::wrapped("")]).indented(2);
            for topic in area {
                table.row([topic.topic.as_str().into(), topic.question.as_str().into()]);
            }
            page.table(&table);
            left = rest;
        }
        page.blank();
        page.dim("Next: ramline explain used, or a number by its name: ramline explain 'page tables'");
        page.finish()
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

/// The answer first, the numbers that decide, what to do: at most [`SHORT`] lines at 80 columns. The rest is in [`explain_more`].
#[must_use]
pub fn explain(explanation: &Explanation, style: &Style) -> String {
    let draw = |numbers: usize| {
        let mut page = Page::new(style);
        answer(&mut page, &explanation.answer_short);
        if numbers > 0 {
            page.blank();
            let mut table = Table::new(vec![Column::wrapped(""), Column::wrapped("")]).indented(2);
            for number in explanation.numbers.iter().take(numbers) {
                table.row([number.what.as_str().into(), number.value.as_str().into()]);
            }
            page.table(&table);
        }
        end(&mut page, explanation);
        page.dim(&format!("More: ramline explain {} --more", explanation.topic));
        page.finish()
    };
    let mut last = String::new();
    for numbers in (0..=DECIDING.min(explanation.numbers.len())).rev() {
        last = draw(numbers);
        if last.lines().count() <= SHORT {
            break;
        }
    }
    last
}

/// The whole answer: all numbers with their sources, how it works, what is often said and not so.
#[must_use]
pub fn explain_more(explanation: &Explanation, style: &Style) -> String {
    let mut page = Page::new(style);
    answer(&mut page, &explanation.answer_short);
    page.heading(&explanation.question);
    if !explanation.numbers.is_empty() {
        let mut table = Table::new(vec![Column::wrapped(""), Column::wrapped(""), Column::wrapped("")]).indented(2);
        for number in &explanation.numbers {
            table.row([number.what.as_str().into(), number.value.as_str().into(), number.source.as_str().into()]);
        }
        page.table(&table);
    }
    if !explanation.mechanism.is_empty() {
        page.heading("How it works");
        for sentence in &explanation.mechanism {
            page.point("  - ", sentence);
        }
    }
    if let Some(myth) = &explanation.myth {
        page.heading("Often said, and not so");
        page.point("  ", myth);
    }
    end(&mut page, explanation);
    page.finish()
}

/// A word such as `No.` stands with the sentence behind it.
const WORD: usize = 12;

/// The first sentence stands out: it is what most people read.
fn answer(page: &mut Page<'_>, text: &str) {
    let end = text.match_indices(". ").map(|(at, _)| at + 1).find(|at| *at > WORD);
    let (first, rest) = text.split_at(end.unwrap_or(text.len()));
    page.bold(first);
    if !rest.is_empty() {
        page.line(rest.trim_start());
    }
}

fn end(page: &mut Page<'_>, explanation: &Explanation) {
    page.blank();
    if !explanation.to_do.is_empty() {
        page.point("What to do: ", &explanation.to_do);
    }
    page.dim(&format!("Next: {}", explanation.next_command));
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
