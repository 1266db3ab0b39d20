//! The macro behind sections that are a list of named counters: one line a counter.

/// Declares a struct of optional fields filled by key, with every unknown key kept as text.
macro_rules! counters {
    ($(#[$meta:meta])* $name:ident of $unit:ty { $($(#[$doc:meta])* $field:ident = $key:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, ramline_units::JsonSchema)]
        #[serde(default)]
        pub struct $name {
            $($(#[$doc])*
            #[doc = concat!("`", $key, "`")]
            pub $field: Option<$unit>,)*
            /// Keys this version does not know, with their text: kept, never dropped.
            pub unknown: std::collections::BTreeMap<String, String>,
        }

        impl $name {
            /// Every key this version knows, in the order of the fields.
            pub const KEYS: &'static [&'static str] = &[$($key),*];

            /// The value of a key this version knows.
            #[must_use]
            pub fn get(&self, key: &str) -> Option<$unit> {
                match key { $($key => self.$field,)* _ => None }
            }

            /// Leaves a value out, as if its line were missing.
            pub fn forget(&mut self, key: &str) {
                match key { $($key => self.$field = None,)* _ => drop(self.unknown.remove(key)) }
            }

            /// Stores one value; an unknown key is kept as text.
            pub(crate) fn store(&mut self, key: &str, value: $unit, text: &str) {
                match key {
                    $($key => self.$field = Some(value),)*
                    _ => { self.unknown.insert(key.to_owned(), text.to_owned()); }
                }
            }
        }
    };
}

/// Adds each named field of one value to that of another; a sum ends at the end of the range.
macro_rules! add_each {
    ($sum:expr, $more:expr; $($field:ident),*) => {
        $($sum.$field = ramline_units::saturating_sum([$sum.$field, $more.$field]);)*
    };
}
