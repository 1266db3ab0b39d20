//! The macro behind enums that are shown as words: one line a variant.

/// Declares an enum, and a method with the words of each variant.
macro_rules! worded {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $words:literal,)* }
     $(#[$method_doc:meta])* $method:ident) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            $(#[$method_doc])*
            #[must_use]
            $vis const fn $method(self) -> &'static str {
                match self { $($name::$variant => $words,)* }
            }
        }
    };
}
pub(crate) use worded;
