//! A metric family: one name, what it means, and how it is filled.

use ramline_units::{Bytes, SignedBytes};

use crate::reading::Reading;

/// How a family behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As it is at the moment; may fall.
    Gauge,
    /// Grows since boot, or since its object was made; use `rate()`. Its samples end in `_total`.
    Counter,
    /// A fact as labels, with the value 1. Its samples end in `_info`.
    Info,
}

/// The base unit, which is the end of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, never KiB.
    Bytes,
    /// Seconds.
    Seconds,
    /// 0 to 1, or one quantity over another.
    Ratio,
    /// A number of things or events.
    None,
}

impl Unit {
    /// As it is written; empty for a number of things.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Seconds => "seconds",
            Unit::Ratio => "ratio",
            Unit::None => "",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The name without the ending of its kind.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in one line.
    pub help: &'static str,
    /// What `ramline explain` tells more about: a topic, or a number of a screen.
    pub explain: &'static str,
    pub(crate) fill: fn(&Reading<'_>, &mut Samples),
}

impl Family {
    /// The name of its samples.
    #[must_use]
    pub fn sample_name(&self) -> String {
        let ending = match self.kind {
            Kind::Gauge => "",
            Kind::Counter => "_total",
            Kind::Info => "_info",
        };
        format!("{}{ending}", self.name)
    }
}

/// Rows of a table: name, kind, unit, topic, help and how it is filled.
pub(crate) const fn family(
    name: &'static str,
    (kind, unit): (Kind, Unit),
    explain: &'static str,
    help: &'static str,
    fill: fn(&Reading<'_>, &mut Samples),
) -> Family {
    Family { name, kind, unit, help, explain, fill }
}

/// A sample's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Exact, whatever its size.
    Whole(u64),
    /// May be negative.
    Signed(i64),
    /// A share, a ratio or a time.
    Real(f64),
}

macro_rules! values {
    ($($type:ty => $make:expr),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Value {
                ($make)(value)
            }
        })*
    };
}

values! {
    u64 => Value::Whole,
    Bytes => |bytes: Bytes| Value::Whole(bytes.0),
    i64 => Value::Signed,
    i32 => |number: i32| Value::Signed(i64::from(number)),
    SignedBytes => |bytes: SignedBytes| Value::Signed(bytes.0),
    f64 => Value::Real,
    bool => |is: bool| Value::Whole(u64::from(is)),
}

/// A label: its name, which is ours, and its value, which may be anybody's.
pub type Label<'a> = (&'static str, &'a str);

/// Collects the samples of one family.
#[derive(Debug, Default)]
pub struct Samples {
    pub(crate) list: Vec<(Vec<(&'static str, String)>, Value)>,
}

impl Samples {
    /// The only one, where it is known.
    pub fn one(&mut self, value: Option<impl Into<Value>>) {
        self.with(&[], value);
    }

    /// One with labels, where it is known. A label without a value is none.
    pub fn with(&mut self, labels: &[Label<'_>], value: Option<impl Into<Value>>) {
        let Some(value) = value else { return };
        let labels = labels.iter().filter(|(_, value)| !value.is_empty());
        self.list.push((labels.map(|(name, value)| (*name, crate::label::bounded(value))).collect(), value.into()));
    }
}
