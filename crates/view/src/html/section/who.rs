//! Who uses the memory: the largest programs and control groups.

use maud::{Markup, html};
use ramline_units::Limit;

use crate::html::format::{count, size};
use crate::html::parts::{number, section, table, text};
use crate::who::{GroupUse, ProgramUse, WhoUses};

/// The section; nothing where nothing was seen.
pub fn who(who: &WhoUses) -> Markup {
    let lead = html! {
        @if let Some(whole) = &who.whole {
            b { (size(whole.value)) } " are held by " (count(who.processes)) " processes, each page counted once."
        } @else { "The processes were not seen." }
        " All of them: " code { "ramline show processes" } ", " code { "ramline show cgroups" } "."
    };
    section(
        "who",
        "Who uses it",
        &lead,
        &html! {
            @if !who.programs.is_empty() {
                (table(&[text("Program"), number("Processes"), number("Holds in RAM"), number("At least"), number("At most"), number("In swap")],
                    &who.programs.iter().map(program).collect::<Vec<_>>()))
            }
            @if !who.groups.is_empty() {
                (table(&[text("Control group"), number("Charged to itself"), number("Its limit")],
                    &who.groups.iter().map(group).collect::<Vec<_>>()))
            }
        },
    )
}

fn program(row: &ProgramUse) -> Vec<Markup> {
    let ProgramUse { name, processes, holds, swap } = row;
    vec![
        html! { (name) },
        html! { (count(*processes)) },
        html! { (size(holds.value)) },
        html! { (size(holds.low)) },
        html! { (size(holds.high)) },
        html! { (size(*swap)) },
    ]
}

fn group(row: &GroupUse) -> Vec<Markup> {
    let limit = match row.limit {
        Some(Limit::At(limit)) => size(limit),
        Some(Limit::Max) => "none".to_owned(),
        None => "not seen".to_owned(),
    };
    vec![html! { (row.path) }, html! { (size(row.own)) }, html! { (limit) }]
}
