//! What exports, and what it could not see.

use crate::family::{Family, Kind, Unit, family};

const INFO: (Kind, Unit) = (Kind::Info, Unit::None);
const NUMBER: (Kind, Unit) = (Kind::Gauge, Unit::None);

pub const FAMILIES: &[Family] = &[
    family("ramline_build", INFO, "used", "The version of ramline that made these metrics.", |_, out| {
        out.with(&[("version", env!("CARGO_PKG_VERSION"))], Some(1u64));
    }),
    family(
        "ramline_section_unseen",
        NUMBER,
        "used",
        "A part of the machine that could not be read, and why; metrics that need it are missing.",
        |seen, out| {
            for (section, why) in seen.snapshot.unseen().into_iter().take(crate::reading::MOST_OBJECTS) {
                out.with(&[("section", section), ("why", &why.reason)], Some(1u64));
            }
        },
    ),
];
