//! Lines that are JSON: `journalctl -o json`, and the log of a container.

use ramline_units::json;
use serde_json::Value;

use super::decode::text_of;
use super::stamp::Stamp;
use crate::prelude::*;

/// Fields of the journal and of a container's log.
#[derive(Debug, Default, Deserialize)]
struct Fields {
    #[serde(rename = "MESSAGE")]
    message: Option<Value>,
    #[serde(rename = "SYSLOG_IDENTIFIER")]
    identifier: Option<String>,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    realtime: Option<String>,
    log: Option<String>,
}

/// A message, its program and its time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JsonLine {
    /// The message: of a container's log a line with a prefix of its own.
    pub text: String,
    /// The program.
    pub program: Option<String>,
    /// When.
    pub stamp: Option<Stamp>,
}

/// Microseconds since 1970, as the journal has them.
pub(super) fn realtime(micros: &str) -> Option<Stamp> {
    let micros = micros.parse::<u64>().ok()?;
    Some(Stamp::from_epoch(std::time::Duration::from_micros(micros).as_secs_f64()))
}

/// A line of JSON; `None` where it is none, or holds no message.
pub(super) fn json_line(text: &str) -> Option<JsonLine> {
    let text = text.trim();
    if !text.starts_with('{') || !(text.contains("\"MESSAGE\"") || text.contains("\"log\"")) {
        return None;
    }
    let fields: Fields = json::parse(text).ok()?;
    let message = match fields.message {
        Some(Value::String(message)) => message,
        // What is no UTF-8 the journal writes as an array of bytes.
        Some(Value::Array(bytes)) => {
            let bytes = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
            text_of(&bytes.collect::<Vec<u8>>())
        }
        _ => fields.log?,
    };
    let stamp = fields.realtime.as_deref().and_then(realtime);
    Some(JsonLine { text: message, program: fields.identifier, stamp })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_journal_are_text_or_bytes() {
        let text =
            json_line(r#"{"__REALTIME_TIMESTAMP":"1772322360000000","SYSLOG_IDENTIFIER":"kernel","MESSAGE":"a\nb"}"#)
                .unwrap();
        assert_eq!((text.text.as_str(), text.program.as_deref()), ("a\nb", Some("kernel")));
        assert_eq!(text.stamp.unwrap().wall, Some(1_772_322_360.0));
        assert_eq!(json_line(r#"{"MESSAGE":[79,79,255]}"#).unwrap().text, "OO\u{ff}");
        assert_eq!(json_line(r#"{"log":"[  1.5] x\n","stream":"stdout"}"#).unwrap().text, "[  1.5] x\n");
        assert_eq!(json_line("{\"MESSAGE\": "), None);
    }
}
