//! What standard output and standard error can show: colours, columns, characters; by the option, the environment and what they are.
//!
//! What it is not: printing; `output` does that. The rules, in this order:
//! - colour: `--color`, then NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR, then CLICOLOR=0 and TERM=dumb, then whether it is a terminal;
//! - columns: those of the terminal, else COLUMNS, else 100; from 60 to 200;
//! - ASCII alone: TERM=dumb, and a locale that was named and is not UTF-8.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU8, Ordering};

use clap::ValueEnum;
use ramline_view::text::Style;

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR says otherwise
    #[default]
    Auto,
    /// Also in a pipe, for less -R
    Always,
    /// Nowhere
    Never,
}

static CHOSEN: AtomicU8 = AtomicU8::new(0);

impl Colour {
    /// What `--color` said holds for all that is printed.
    pub fn for_all_commands(self) {
        CHOSEN.store(self as u8, Ordering::Relaxed);
    }

    fn chosen() -> Colour {
        match CHOSEN.load(Ordering::Relaxed) {
            1 => Colour::Always,
            2 => Colour::Never,
            _ => Colour::Auto,
        }
    }
}

/// Colours and columns of standard output.
pub fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let size = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
    Style { colour: colour(Colour::chosen(), &variable, terminal), width: columns(size, &variable) }
}

/// ASCII is all that may be printed.
pub fn is_plain() -> bool {
    plain(&variable)
}

/// Lines of standard output, where a screen can be drawn over the one before.
pub fn height_to_redraw() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0));
    size.filter(|lines| *lines > 1 && io::stdout().is_terminal() && !is_dumb(&variable))
}

/// Why no live screen can be drawn and steered: what it needs, in words; `None` where one can.
pub fn why_not_live() -> Option<&'static str> {
    match () {
        () if !io::stdout().is_terminal() => Some("standard output is no terminal"),
        () if !io::stdin().is_terminal() => Some("standard input is no terminal, so there are no keys"),
        () if is_dumb(&variable) => Some("this terminal cannot move its cursor (TERM=dumb)"),
        () => None,
    }
}

/// A line of standard error can be drawn over the one before.
pub fn can_draw_progress() -> bool {
    io::stderr().is_terminal() && !is_dumb(&variable)
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

fn is_dumb(get: Variables<'_>) -> bool {
    get("TERM").is_some_and(|term| term == "dumb")
}

fn colour(chosen: Colour, get: Variables<'_>, terminal: bool) -> bool {
    let forced = |name| get(name).is_some_and(|value| value != "0");
    match chosen {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if get("NO_COLOR").is_some() => false,
        Colour::Auto if forced("CLICOLOR_FORCE") || forced("FORCE_COLOR") => true,
        Colour::Auto => terminal && !is_dumb(get) && get("CLICOLOR").is_none_or(|value| value != "0"),
    }
}

fn columns(terminal: Option<u16>, get: Variables<'_>) -> usize {
    let told = || get("COLUMNS").and_then(|value| value.trim().parse().ok());
    terminal.map(usize::from).filter(|columns| *columns > 0).or_else(told).unwrap_or(100).clamp(60, 200)
}

/// Without any locale most terminals show UTF-8 all the same, and names in a pipe should stay what they are.
fn plain(get: Variables<'_>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(get);
    let is_utf8 = |locale: &String| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    is_dumb(get) || locale.is_some_and(|locale| !is_utf8(&locale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_option_comes_before_no_color_and_that_before_what_forces() {
        let auto = |set: &[(&str, &str)], terminal| colour(Colour::Auto, &with(set), terminal);
        assert!(auto(&[], true) && !auto(&[], false));
        assert!(auto(&[("CLICOLOR_FORCE", "1")], false) && auto(&[("FORCE_COLOR", "3")], false));
        assert!(!auto(&[("FORCE_COLOR", "0")], false) && !auto(&[("CLICOLOR", "0")], true));
        assert!(!auto(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], true));
        assert!(!auto(&[("TERM", "dumb")], true));
        assert!(colour(Colour::Always, &with(&[("NO_COLOR", "1")]), false));
        assert!(!colour(Colour::Never, &with(&[("FORCE_COLOR", "1")]), true));
    }

    #[test]
    fn columns_are_the_terminals_then_those_of_columns_within_bounds() {
        assert_eq!(columns(Some(132), &with(&[("COLUMNS", "70")])), 132);
        assert_eq!(columns(None, &with(&[("COLUMNS", "70")])), 70);
        assert_eq!((columns(Some(20), &with(&[])), columns(Some(500), &with(&[]))), (60, 200));
        for odd in ["", "x", "-3"] {
            assert_eq!(columns(None, &with(&[("COLUMNS", odd)])), 100, "{odd:?}");
        }
        assert_eq!(columns(Some(0), &with(&[])), 100);
    }

    #[test]
    fn a_locale_that_is_not_utf8_and_a_dumb_terminal_get_ascii() {
        for (set, is) in [
            (&[("LC_ALL", "C")][..], true),
            (&[("LC_ALL", "POSIX"), ("LANG", "de_DE.UTF-8")], true),
            (&[("LANG", "de_DE.ISO-8859-1")], true),
            (&[("TERM", "dumb"), ("LANG", "C.UTF-8")], true),
            (&[("LC_ALL", "C.UTF-8")], false),
            (&[("LC_CTYPE", "en_US.utf8"), ("LANG", "C")], false),
            (&[], false),
        ] {
            assert_eq!(plain(&with(set)), is, "{set:?}");
        }
    }
}
