//! What sections and parsers are written with.

pub(crate) use std::collections::BTreeMap;

pub(crate) use ramline_units::{Bytes, Deserialize, JsonSchema, Nanos, PageSize, Pages, Serialize};

pub(crate) use crate::{Malformed, Origin, Unseen, parse_lines};
