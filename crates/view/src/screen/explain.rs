//! `explain TOPIC`: a question, this machine's numbers, the mechanism in plain words, one next command; and the list
//! of topics.
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
        page.bold("ramline explain TOPIC answers a question in this machine's numbers; NUMBER tells what a number is.");
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

/// The answer on one screen.
#[must_use]
pub fn explain(explanation: &Explanation, style: &Style) -> String {
    let mut page = Page::new(style);
    page.bold(&explanation.question);
    page.blank();
    page.line(&explanation.answer_short);
    if !explanation.numbers.is_empty() {
        page.heading("On this machine");
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
    page.blank();
    page.dim(&format!("Next: {}", explanation.next_command));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_advice::Evidence;

    #[test]
    fn a_question_is_answered_with_numbers_the_mechanism_and_one_command() {
        let explanation = Explanation {
            topic: "swap-in-use".into(),
            question: "Why is swap in use although memory is free?".into(),
            answer_short: "512.0 MiB were parked there; nothing moves.".into(),
            numbers: vec![Evidence {
                what: "swap-ins".into(),
                value: "0 pages/s over 2.0 s".into(),
                source: "/proc/vmstat pswpin".into(),
            }],
            mechanism: vec!["Pages nobody touches leave first.".into()],
            myth: Some("Swap in use means too little RAM.".into()),
            next_command: "ramline show swap --for 2s".into(),
        };
        assert_eq!(
            explain(&explanation, &Style::default()),
            "\
Why is swap in use although memory is free?

512.0 MiB were parked there; nothing moves.

On this machine
  swap-ins  0 pages/s over 2.0 s  /proc/vmstat pswpin

How it works
  - Pages nobody touches leave first.

Often said, and not so
  Swap in use means too little RAM.

Next: ramline show swap --for 2s
"
        );
    }
}
