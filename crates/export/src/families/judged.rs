//! The verdict and the findings.

use ramline_advice::{RULES, Weight};
use ramline_model::verdict::Status;

use crate::family::{Family, Kind, Unit, family};
use crate::spelled::word;

const NUMBER: (Kind, Unit) = (Kind::Gauge, Unit::None);
const INFO: (Kind, Unit) = (Kind::Info, Unit::None);

const STATUSES: [Status; 5] = [Status::Unknown, Status::Ok, Status::Note, Status::Warning, Status::Critical];
const WEIGHTS: [Weight; 3] = [Weight::Note, Weight::Warning, Weight::Critical];

pub const FAMILIES: &[Family] = &[
    family(
        "ramline_verdict",
        NUMBER,
        "pressure",
        "1 for the status of the first line that ramline prints, 0 for the others.",
        |seen, out| {
            for status in STATUSES {
                let is = seen.verdict.as_ref().map(|verdict| verdict.status == status);
                out.with(&[("status", &word(&status))], is);
            }
        },
    ),
    family("ramline_verdict_state", INFO, "pressure", "The state behind the verdict, as a word.", |seen, out| {
        let state = seen.verdict.as_ref().map(|verdict| word(&verdict.state));
        out.with(&[("state", state.as_deref().unwrap_or_default())], state.as_ref().map(|_| 1u64));
    }),
    family(
        "ramline_finding",
        NUMBER,
        "pressure",
        "1 where the finding of this id is there, 0 where its rule looked and found nothing; missing where it could not look.",
        |seen, out| {
            for rule in RULES.iter().filter(|rule| rule.id != "nothing-to-change") {
                let is = seen.findings.iter().any(|finding| finding.id == rule.id);
                out.with(&[("id", rule.id)], (is || !seen.blind.contains(&rule.id)).then_some(is));
            }
        },
    ),
    family("ramline_findings", NUMBER, "pressure", "Number of findings by weight.", |seen, out| {
        for weight in WEIGHTS {
            let of = seen.findings.iter().filter(|f| f.weight == weight && f.id != "nothing-to-change").count();
            out.with(&[("weight", &word(&weight))], Some(of as u64));
        }
    }),
];
