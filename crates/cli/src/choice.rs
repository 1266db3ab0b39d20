//! Choices of the pure crates as values of the command line: their word and their line in the help, once.
//!
//! What it is not: a parser. The pure crates do not know of command lines, so the words stand here.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A value that can be chosen on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<T>(pub T);

/// What can be chosen. Written by [`choices`], which does not compile when a value is forgotten.
pub trait Choices: Copy + Send + Sync + 'static {
    /// All of them, in the order of the help.
    const ALL: &'static [Choice<Self>];

    /// Other words that are understood, `(word, other)`: earlier ones, and those of other tools.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    /// Word and help of one; `None` where an option of its own stands for it.
    fn words(self) -> Option<(&'static str, &'static str)>;
}

impl<T: Choices> ValueEnum for Choice<T> {
    fn value_variants<'a>() -> &'a [Self] {
        T::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (word, help) = self.0.words()?;
        let value =
            PossibleValue::new(word).aliases(T::ALIASES.iter().filter(|(of, _)| *of == word).map(|(_, alias)| *alias));
        Some(if help.is_empty() { value } else { value.help(help) })
    }
}

/// `choices!(By { Kind: "kind", "its help"; ... })`; what follows `without` has an option of its own.
macro_rules! choices {
    ($of:ty { $($value:ident: $word:literal, $help:literal);+ $(;)? } $(without $($other:ident),+)? $(also $($of_word:literal: $alias:literal),+)?) => {
        impl $crate::choice::Choices for $of {
            const ALL: &'static [$crate::choice::Choice<Self>] = &[$($crate::choice::Choice(<$of>::$value)),+];
            $(const ALIASES: &'static [(&'static str, &'static str)] = &[$(($of_word, $alias)),+];)?

            fn words(self) -> Option<(&'static str, &'static str)> {
                match self {
                    $(<$of>::$value => Some(($word, $help)),)+
                    $($(<$of>::$other => None,)+)?
                }
            }
        }
    };
}
pub(crate) use choices;
