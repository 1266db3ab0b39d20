//! `ramline explain`: a question, answered with this machine's numbers.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use ramline_advice::{Inputs, explain, topic_named};
use ramline_snapshot::{Wanted, Window};
use ramline_view::screen::TopicList;

use crate::commands::show;
use crate::duration;
use crate::exit::{self, Failure};
use crate::output::{Format, Versioned};
use crate::source::Source;

/// Answer a question about this machine's memory, in its own numbers
#[derive(Debug, Args)]
pub struct Explain {
    /// The topic; without one the topics are listed
    topic: Option<String>,
    /// List the topics by area, with their questions
    #[arg(long)]
    list: bool,
    /// Watch for this long, so that rates can be told (2s, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

impl Explain {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such topic, or the source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let Some(topic) = self.topic.as_deref().filter(|_| !self.list) else {
            self.format.print(&TopicList::new(), TopicList::text)?;
            return Ok(exit::DONE);
        };
        let wants = topic_named(topic).map_or(Wanted::NOTHING, |topic| topic.wants);
        let (before, after) = source.window(wants, self.span)?;
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let inputs = Inputs { snapshot: &after, window, tiers: None, runs: &[] };
        let answer = explain(topic, &inputs).map_err(|e| Failure::new(exit::USAGE, e.to_string()))?;
        self.format
            .print(&Versioned::new(&answer), |document, style| ramline_view::screen::explain(document.data(), style))?;
        Ok(show::code(&after))
    }
}
