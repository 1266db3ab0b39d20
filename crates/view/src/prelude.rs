//! What screens and sections of the page are written with.

pub(crate) use ramline_advice::Finding;
pub(crate) use ramline_evidence::{ArmResult, RunRecord, SeriesTable, TierReport};
pub(crate) use ramline_sheet::format::date;
pub(crate) use ramline_sheet::text::number::value;
pub(crate) use ramline_sheet::{Block, Cell, Column, Paint, Sheet, Table, number};
pub(crate) use ramline_snapshot::{Snapshot, Wanted, Window};
pub(crate) use ramline_units::{Bytes, JsonSchema, Limit, Nanos};
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::{SCHEMA_VERSION, Screen, UnseenSection};
