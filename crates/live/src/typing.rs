//! What is typed on the last line: a filter, or a time of the record.

use crate::app::{App, Effect};
use crate::keys::Key;
use crate::page::Time;

/// What is typed on the last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typing {
    /// The filter, which works as it is typed.
    Filter,
    /// A time of the record, so far.
    Time(String),
}

impl App {
    /// A key while the filter is typed.
    pub(crate) fn type_filter(&mut self, key: Key) -> Effect {
        match key {
            Key::Enter => return self.filtered(),
            Key::Escape => {
                self.filter.clear();
                return self.filtered();
            }
            Key::Char(c) if !c.is_control() => self.filter.push(c),
            Key::Backspace => drop(self.filter.pop()),
            _ => {}
        }
        self.typing = Some(Typing::Filter);
        self.filtered()
    }

    /// A key while a time is typed.
    pub(crate) fn type_time(&mut self, mut text: String, key: Key) -> Effect {
        match key {
            Key::Enter if text.trim().is_empty() => return Effect::GoTo(Time::Now),
            Key::Enter => return Effect::GoTo(Time::At(text)),
            Key::Escape => return Effect::Draw,
            Key::Char(c) if !c.is_control() => text.push(c),
            Key::Backspace => drop(text.pop()),
            _ => {}
        }
        self.typing = Some(Typing::Time(text));
        Effect::Draw
    }
}
