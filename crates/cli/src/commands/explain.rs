//! `ramline explain`: a question, answered with this machine's numbers, or a kill, from a log.

mod kill;
mod stalled;

use ramline_advice::{Inputs, Topic, explain, topic_named, topic_of_question};
use ramline_view::figure::{self, FoundNumber};
use ramline_view::screen::TopicList;

use crate::commands::show;
use crate::past::Past;
use crate::prelude::*;

/// Answer a question about this machine's memory, in its own numbers
#[derive(Debug, Args)]
pub struct Explain {
    /// A topic, a question ('why is my box slow'), or a number of a screen or report by its name there ('page tables')
    /// or its path in the JSON (ledger.leftover); without it the topics are listed
    #[arg(value_name = "TOPIC|NUMBER")]
    topic: Option<String>,
    /// With the topic 'kill': a kernel log or journal in any format, or - for standard input [default: the log of this machine]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// List the topics by area, with their questions
    #[arg(long)]
    list: bool,
    /// All numbers with their sources, how it works, and common errors
    #[arg(long, conflicts_with = "list")]
    more: bool,
    /// Watch for this long: with it rates are known (2s, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    past: Past,
}

impl Explain {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such topic, or the source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let Some(topic) = self.topic.as_deref().filter(|_| !self.list) else {
            self.format.screen(&TopicList::new())?;
            return Ok(exit::DONE);
        };
        if topic == kill::TOPIC {
            return kill::run(self.file.as_deref(), &self.past, self.format, source);
        }
        ensure!(
            self.file.is_none(),
            Failure::usage(format!(
                "a FILE belongs to 'explain kill', not to 'explain {}'\n  try: ramline explain kill FILE",
                ramline_view::escape(topic)
            ))
        );
        let source = &self.past.source(source, self.span, self.format)?;
        match topic_named(topic) {
            Some(topic) => self.topic(topic, source),
            None => match figure::find(topic) {
                Ok(found) => self.number(&found, source),
                Err(unknown) => match topic_of_question(topic) {
                    Some(topic) => self.topic(topic, source),
                    None => Err(Failure::usage(unknown.to_string()).into()),
                },
            },
        }
    }

    fn topic(&self, topic: &Topic, source: &Source) -> Result<u8> {
        let (before, after) = source.window(topic.wants, self.span)?;
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let tiers = remembered::tiers(source);
        let inputs = Inputs { snapshot: &after, window, tiers: tiers.as_ref(), runs: &[] };
        let answer = explain(topic.id, &inputs).map_err(|e| Failure::usage(e.to_string()))?;
        let screen = if self.more { ramline_view::screen::explain_more } else { ramline_view::screen::explain };
        self.format.print(&Versioned::new(&answer), |style| screen(&answer, style))?;
        Ok(show::code(&after))
    }

    fn number(&self, found: &FoundNumber, source: &Source) -> Result<u8> {
        let (before, after) = source.window(found.wants(), self.span)?;
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        self.format.screen(&found.figure(&after, window.as_ref()))?;
        Ok(show::code(&after))
    }
}
