//! JSON as types, through one form for all: [`Value`].
//!
//! Each deserializer and serializer of `serde_json` that a type meets is compiled for it once more, and with those of text, bytes and values, pretty and not,
//! they were a seventh of the program. So a document becomes a [`Value`] first, and a type is made of that by [`read`]; where a value is needed, the text is
//! read. A struct is an object here, never an array of its fields, which halves what each takes.

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::{Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::{Error, Map, Value};

/// A type of its JSON form.
///
/// # Errors
/// It is not that form.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(Tree(value))
}

/// A type of its JSON text.
///
/// # Errors
/// It is no JSON, or another form.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).and_then(read)
}

/// As [`parse`], of text that may be anything.
///
/// # Errors
/// As [`parse`].
pub fn parse_bytes<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).and_then(read)
}

/// The JSON form of a type.
///
/// # Errors
/// It has none.
pub fn tree(value: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_string(value).and_then(|text| serde_json::from_str(&text))
}

/// JSON text with a line for each value.
///
/// # Errors
/// The type has no JSON form.
pub fn pretty(value: &impl Serialize) -> Result<String, Error> {
    Ok(indented(&serde_json::to_string(value)?))
}

/// JSON text without blanks, with them.
fn indented(text: &str) -> String {
    let (mut out, mut depth, mut quoted, mut escaped) = (String::with_capacity(text.len() * 2), 0_usize, false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        };
        match c {
            _ if quoted => {
                quoted = escaped || c != '"';
                escaped = !escaped && c == '\\';
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                if let Some(end) = chars.next_if(|next| "}]".contains(*next)) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                quoted = c == '"';
                out.push(c);
            }
        }
    }
    out
}

/// A value that a type is made of.
struct Tree(Value);

impl Tree {
    fn unexpected<'de, T>(self, visitor: &impl Visitor<'de>) -> Result<T, Error> {
        let found = match &self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => Unexpected::Unsigned(value),
                (None, Some(value)) => Unexpected::Signed(value),
                _ => Unexpected::Float(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        Err(serde::de::Error::invalid_type(found, visitor))
    }
}

/// What is a number, a text or a truth meets no objects and arrays, so that these are not compiled for it.
macro_rules! plain {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                Value::Bool(value) => visitor.visit_bool(value),
                Value::Number(number) => number.deserialize_any(visitor),
                Value::String(text) => visitor.visit_string(text),
                _ => self.unexpected(&visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Tree {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    plain! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_identifier
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            _ => self.unexpected(&visitor),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Array(items) = self.0 else { return self.unexpected(&visitor) };
        let many = items.len();
        let mut items = Items(items.into_iter());
        let value = visitor.visit_seq(&mut items)?;
        match items.0.len() {
            0 => Ok(value),
            left => {
                let few = format!("{} items", many - left);
                Err(serde::de::Error::invalid_length(many, &few.as_str()))
            }
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Object(fields) = self.0 else { return self.unexpected(&visitor) };
        visitor.visit_map(Fields::new(fields))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name, content: None }),
            Value::Object(fields) if fields.len() == 1 => {
                let mut fields = fields.into_iter();
                let (name, content) = fields.next().unwrap_or_default();
                visitor.visit_enum(Variant { name, content: Some(content) })
            }
            _ => self.unexpected(&visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf }
}

struct Items(std::vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|value| seed.deserialize(Tree(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields {
    left: serde_json::map::IntoIter,
    value: Option<Value>,
}

impl Fields {
    fn new(fields: Map<String, Value>) -> Fields {
        Fields { left: fields.into_iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Tree(self.value.take().unwrap_or_default()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// The name of a field: a text, or a number written as one.
struct Key(String);

macro_rules! written {
    ($($name:ident $visit:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_string(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    written! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(Variant { name: self.0, content: None })
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant {
    name: String,
    content: Option<Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content), Error> {
        let name: StringDeserializer<Error> = serde::de::IntoDeserializer::into_deserializer(self.name);
        Ok((seed.deserialize(name)?, Content(self.content)))
    }
}

struct Content(Option<Value>);

impl Content {
    fn tree(self) -> Tree {
        Tree(self.0.unwrap_or_default())
    }
}

impl<'de> VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0 {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(serde::de::Error::invalid_type(Unexpected::NewtypeVariant, &"a name alone")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        match self.0 {
            Some(value) => seed.deserialize(Tree(value)),
            None => Err(serde::de::Error::invalid_type(Unexpected::UnitVariant, &"a name with its value")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.tree().deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.tree().deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Sample {
        number: u64,
        below: i8,
        share: f64,
        text: String,
        nothing: Option<u32>,
        nested: Option<Box<Sample>>,
        many: Vec<(u16, bool)>,
        by_number: BTreeMap<u32, Kind>,
        by_kind: BTreeMap<Kind, Vec<u8>>,
        kinds: Vec<Kind>,
        wrapped: Wrapped,
        tagged: Option<Tagged>,
        #[serde(flatten)]
        others: BTreeMap<String, Value>,
    }

    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    struct Wrapped(Option<String>);

    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Alone,
        With(u8),
        Pair(u8, u8),
        Named { a: Option<u8> },
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        One { share: f32 },
    }

    fn sample() -> Sample {
        Sample {
            number: u64::MAX,
            below: -7,
            share: 0.1 + 0.2,
            text: "a \"b\" \\ {:,[ é \n".into(),
            many: vec![(1, true), (65_535, false)],
            by_number: [(7, Kind::Alone), (8, Kind::With(3))].into(),
            by_kind: [(Kind::Alone, vec![1, 2])].into(),
            kinds: vec![
                Kind::Alone,
                Kind::With(255),
                Kind::Pair(1, 2),
                Kind::Named { a: Some(1) },
                Kind::Named { a: None },
            ],
            wrapped: Wrapped(Some("w".into())),
            tagged: Some(Tagged::One { share: 0.5 }),
            others: [("more".to_owned(), serde_json::json!({"x": [1, null, {}], "y": []}))].into(),
            ..Sample::default()
        }
    }

    #[test]
    fn a_value_becomes_what_it_was_made_of() {
        let whole = Sample { nested: Some(Box::new(sample())), ..sample() };
        let value = serde_json::to_value(&whole).unwrap();
        assert_eq!(tree(&whole).unwrap(), value);
        assert_eq!(read::<Sample>(value.clone()).unwrap(), whole);
        assert_eq!(serde_json::from_value::<Sample>(value).unwrap(), whole);
        assert_eq!(parse::<Sample>(&pretty(&whole).unwrap()).unwrap(), whole);
        assert_eq!(parse::<Sample>("{}").unwrap(), Sample::default());
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let error = |text: &str| parse::<Sample>(text).unwrap_err().to_string();
        assert!(error(r#"{"number":"7"}"#).contains("string \"7\", expected u64"));
        assert!(error(r#"{"number":-1}"#).contains("integer `-1`, expected u64"));
        assert!(error(r#"{"below":300}"#).contains("integer `300`, expected i8"));
        assert!(
            error(r#"{"text":null}"#).contains("null, expected a string") || error(r#"{"text":null}"#).contains("unit")
        );
        assert!(error(r#"{"many":[[1,true,3]]}"#).contains("length 3"));
        assert!(error(r#"{"many":[[1]]}"#).contains("length 1"));
        assert!(error(r#"{"kinds":["other"]}"#).contains("unknown variant `other`"));
        assert!(error(r#"{"kinds":["with"]}"#).contains("unit variant"));
        assert!(error(r#"{"kinds":[{"alone":1}]}"#).contains("a name alone"));
        assert!(error(r#"{"by_number":{"x":"alone"}}"#).contains("string \"x\""));
        assert!(error("[7]").contains("sequence"), "a struct is no array of its fields");
        assert!(error("{").contains("EOF"));
    }

    #[test]
    fn what_is_indented_is_what_the_library_writes() {
        let value = serde_json::to_value(sample()).unwrap();
        assert_eq!(pretty(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(pretty(&serde_json::json!([])).unwrap(), "[]");
    }
}
