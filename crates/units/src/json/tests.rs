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
