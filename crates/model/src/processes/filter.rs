//! Which processes are asked for: by id, by name, by user.
//!
//! Worked example: names `post` and `java` of user `www` take the processes of `www` whose name or program has `post` or `java` in it.
//! Not an estimate over fewer processes; what one holds follows from all that share with it.

use super::by::{self, By};
use super::row::Spread;
use crate::prelude::*;

/// What is asked for; empty, everything is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// These ids.
    pub pids: Vec<u32>,
    /// Processes of these users, by name or number.
    pub users: Vec<String>,
    /// Processes with one of these in their name or their program's; ids and names add up.
    pub names: Vec<String>,
}

/// The processes that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Matched {
    /// What was asked for: `user www, name post`.
    pub what: String,
    /// How many are like that and have memory of their own.
    pub processes: u64,
    /// What they hold in RAM together.
    pub holds: Spread,
    /// What of them is in swap.
    pub swap: Bytes,
}

impl Filter {
    /// Everything is asked for.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.pids.is_empty() && self.users.is_empty() && self.names.is_empty()
    }

    /// This process is asked for.
    #[must_use]
    pub fn takes(&self, all: &Processes, p: &Process) -> bool {
        let is_user = |user: &String| user.parse() == Ok(p.uid) || all.users.get(&p.uid) == Some(user);
        let has_name = |name: &String| p.name.contains(name) || by::name(all, p, By::Program).contains(name);
        let any = self.pids.is_empty() && self.names.is_empty();
        (self.users.is_empty() || self.users.iter().any(is_user))
            && (any || self.pids.contains(&p.pid) || self.names.iter().any(has_name))
    }

    /// The processes of one program, by the name that rows of programs have.
    #[must_use]
    pub fn program(all: &Processes, name: &str) -> Filter {
        let of = |p: &&Process| by::name(all, p, By::Program) == name;
        Filter { pids: all.list.iter().filter(of).map(|p| p.pid).collect(), ..Filter::default() }
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let one = |what: &str, given: &[String]| (!given.is_empty()).then(|| format!("{what} {}", given.join(" or ")));
        let pids: Vec<String> = self.pids.iter().map(u32::to_string).collect();
        let all = [one("user", &self.users), one("name", &self.names), one("process", &pids)];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
