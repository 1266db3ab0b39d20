//! `ramline cache`: files in the page cache.

mod evict;
mod pin;
mod recording;
mod restore;
mod run;
mod save;
mod service;
mod stat;
mod top;
mod trace;
mod verb;
mod warm;
mod watch;

use self::verb::CacheVerb;
use crate::prelude::*;

/// Files in the page cache: show, evict and read them; which programs use them, and which evict them
#[derive(Debug, Args)]
pub struct Cache {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Stat(stat::Stat),
    Top(top::Top),
    Evict(evict::Evict),
    Warm(warm::Warm),
    Save(save::Save),
    Restore(restore::Restore),
    Run(run::Run),
    Pin(pin::Pin),
    Trace(trace::Trace),
    Watch(watch::Watch),
}

impl Cache {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is no running machine; those of the verb.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let (name, verb): (_, &dyn CacheVerb) = match &self.verb {
            Verb::Stat(verb) => ("stat", verb),
            Verb::Top(verb) => ("top", verb),
            Verb::Evict(verb) => ("evict", verb),
            Verb::Warm(verb) => ("warm", verb),
            Verb::Save(verb) => ("save", verb),
            Verb::Restore(verb) => ("restore", verb),
            Verb::Run(verb) => ("run", verb),
            Verb::Pin(verb) => ("pin", verb),
            Verb::Trace(verb) => ("trace", verb),
            Verb::Watch(verb) => ("watch", verb),
        };
        source.must_be_live(&format!("cache {name}"))?;
        verb.run(&source.kernel_root()?)
    }
}
