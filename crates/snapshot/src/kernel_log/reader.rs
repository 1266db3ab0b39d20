//! A log of any length, read in pieces: lines, bounded in length, and records of the journal's export format.

use super::build::Builder;
use super::decode::{text_of, unescaped};
use super::json_line::{json_line, realtime};
use super::prefix::line_of;
use super::report::LogEvent;
use super::stamp::Stamp;
use crate::prelude::*;

/// A line is no longer: a record of the kernel has 1 KiB, of the journal as JSON some times that. What is beyond is dropped and counted.
const LONGEST: usize = 64 << 10;
/// Fields by which a record of the export format is known.
const EXPORT_FIELDS: [&str; 4] = ["__CURSOR=", "__REALTIME_TIMESTAMP=", "MESSAGE=", "SYSLOG_IDENTIFIER="];

/// So much of a log is read before its order is known.
const HEAD: usize = 128 << 10;
/// A log whose newest line stands first is turned around in memory: so much of it, the newest.
const TURNED: usize = 16 << 20;

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KernelLog {
    /// In the order of the log.
    pub events: Vec<LogEvent>,
    /// Lines.
    pub lines: u64,
    /// Lines that were longer than any such line, and were read only so far.
    pub cut_lines: u64,
    /// Events before these, of a log with very many.
    pub earlier: u64,
    /// The time of the last line that had one.
    pub ends: Option<Stamp>,
    /// The newest line stands first.
    pub newest_first: bool,
}

/// Reads a log piece by piece.
#[derive(Debug, Default)]
pub struct LogReader {
    line: Vec<u8>,
    skipping: bool,
    builder: Builder,
    log: KernelLog,
    export: Option<Export>,
    binary: Option<Binary>,
    order: Order,
}

/// Lines that wait until it is known whether the newest stands first.
#[derive(Debug)]
enum Order {
    Unknown { lines: Vec<String>, bytes: usize },
    OldestFirst,
    NewestFirst { lines: Vec<String>, bytes: usize },
}

impl Default for Order {
    fn default() -> Self {
        Order::Unknown { lines: Vec::new(), bytes: 0 }
    }
}

/// A record of the export format.
#[derive(Debug, Default)]
struct Export {
    message: Option<String>,
    program: Option<String>,
    stamp: Option<Stamp>,
}

/// A field of it that holds line feeds: its length in eight bytes, then its bytes.
#[derive(Debug, Default)]
struct Binary {
    is_message: bool,
    header: Vec<u8>,
    left: Option<u64>,
    bytes: Vec<u8>,
}

impl LogReader {
    /// The next bytes of the log.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.binary.is_some() {
                bytes = self.feed_binary(bytes);
                continue;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let room = LONGEST.saturating_sub(self.line.len());
            if piece.len() > room {
                self.skipping = true;
            }
            self.line.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
            let Some(end) = end else { return };
            self.end_line();
            bytes = bytes.get(end + 1..).unwrap_or_default();
        }
    }

    /// What the log held.
    #[must_use]
    pub fn finish(mut self) -> KernelLog {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_record();
        self.decide_order();
        if let Order::NewestFirst { lines, .. } = std::mem::replace(&mut self.order, Order::OldestFirst) {
            self.log.newest_first = true;
            lines.iter().rev().for_each(|line| self.any_line(line));
        }
        let (events, earlier) = self.builder.finish();
        KernelLog { events, earlier, ..self.log }
    }

    fn end_line(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        self.log.lines = self.log.lines.saturating_add(1);
        if std::mem::take(&mut self.skipping) {
            self.log.cut_lines = self.log.cut_lines.saturating_add(1);
        }
        let text = text_of(&bytes);
        if !self.export_line(&text) {
            self.ordered(text);
        }
        // The same memory for the next line.
        self.line = bytes;
        self.line.clear();
    }

    fn ordered(&mut self, text: String) {
        match &mut self.order {
            Order::OldestFirst => self.any_line(&text),
            Order::Unknown { lines, bytes } => {
                *bytes = bytes.saturating_add(text.len());
                lines.push(text);
                if *bytes > HEAD {
                    self.decide_order();
                }
            }
            Order::NewestFirst { lines, bytes } => {
                *bytes = bytes.saturating_add(text.len());
                // What is beyond is older than all that is kept.
                if *bytes <= TURNED {
                    lines.push(text);
                }
            }
        }
    }

    /// The newest line stands first where times only fall, and more than once.
    fn decide_order(&mut self) {
        if !matches!(self.order, Order::Unknown { .. }) {
            return;
        }
        let Order::Unknown { lines, bytes } = std::mem::take(&mut self.order) else { return };
        let (mut rises, mut falls) = (0_u32, 0_u32);
        let mut last: Option<Stamp> = None;
        for line in &lines {
            let Some(stamp) = line_of(line).stamp else { continue };
            match last.as_ref().and_then(|last| stamp.since(last)) {
                Some(gap) if gap > 0.0 && stamp.dated | stamp.boot.is_some() => rises += 1,
                Some(gap) if gap < 0.0 => falls += 1,
                _ => {}
            }
            last = Some(stamp);
        }
        if falls > 2 && falls > rises.saturating_mul(4) {
            self.order = Order::NewestFirst { lines, bytes };
        } else {
            self.order = Order::OldestFirst;
            lines.iter().for_each(|line| self.any_line(line));
        }
    }

    fn any_line(&mut self, text: &str) {
        match json_line(text) {
            Some(json) => self.message(&json.text, json.program.as_deref(), json.stamp.as_ref()),
            None => self.message(text, None, None),
        }
    }

    /// A message of one or more lines; of several, those behind the first have the prefix of the first, or none.
    fn message(&mut self, text: &str, program: Option<&str>, stamp: Option<&Stamp>) {
        let text = unescaped(text);
        let mut pieces = text.split('\n');
        let mut first = line_of(pieces.next().unwrap_or_default());
        // Programs write into the kernel's log too: the name in the text is the writer's.
        first.program = if program == Some("kernel") { first.program.or(program) } else { program.or(first.program) };
        first.stamp = match (stamp, first.stamp.take()) {
            (Some(stamp), Some(inner)) => Some(Stamp { boot: inner.boot, ..stamp.clone() }),
            (stamp, inner) => stamp.cloned().or(inner),
        };
        self.builder.line(&first);
        for piece in pieces {
            let mut line = line_of(piece);
            line.program = line.program.or(first.program);
            line.stamp = line.stamp.or_else(|| first.stamp.clone());
            self.builder.line(&line);
        }
        if first.stamp.is_some() {
            self.log.ends = first.stamp;
        }
    }

    /// True where the line belongs to the export format of the journal.
    fn export_line(&mut self, text: &str) -> bool {
        if self.export.is_none() && !text.starts_with("__CURSOR=") {
            return false;
        }
        if text.is_empty() {
            self.end_record();
            self.export = Some(Export::default());
            return true;
        }
        let Some((name, value)) = text.split_once('=') else {
            let named = !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            if named {
                self.binary = Some(Binary { is_message: text == "MESSAGE", ..Binary::default() });
            } else {
                // It has ended; what stands behind it is another log.
                self.end_record();
            }
            return named;
        };
        let record = self.export.get_or_insert_default();
        match name {
            "MESSAGE" => record.message = Some(value.to_owned()),
            "SYSLOG_IDENTIFIER" => record.program = Some(value.to_owned()),
            "__REALTIME_TIMESTAMP" => record.stamp = realtime(value),
            _ => {}
        }
        EXPORT_FIELDS.iter().any(|field| text.starts_with(field))
            || name.bytes().all(|byte| !byte.is_ascii_lowercase() && byte != b' ')
    }

    fn end_record(&mut self) {
        let Some(record) = self.export.take() else { return };
        if let Some(message) = record.message {
            self.message(&message, record.program.as_deref(), record.stamp.as_ref());
        }
    }

    fn feed_binary<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(binary) = self.binary.as_mut() else { return bytes };
        let Some(left) = binary.left else {
            let (head, rest) = bytes.split_at(bytes.len().min(8 - binary.header.len().min(8)));
            binary.header.extend_from_slice(head);
            if let Ok(length) = <[u8; 8]>::try_from(binary.header.as_slice()) {
                // The line feed behind it as well.
                binary.left = Some(u64::from_le_bytes(length).saturating_add(1));
            }
            return rest;
        };
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let (piece, rest) = bytes.split_at(here);
        let room = LONGEST.saturating_sub(binary.bytes.len());
        binary.bytes.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
        let left = left.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX));
        binary.left = Some(left);
        if left == 0 {
            let message = binary.is_message.then(|| text_of(binary.bytes.strip_suffix(b"\n").unwrap_or(&binary.bytes)));
            self.binary = None;
            if let (Some(message), Some(record)) = (message, self.export.as_mut()) {
                record.message = Some(message);
            }
        }
        rest
    }
}
