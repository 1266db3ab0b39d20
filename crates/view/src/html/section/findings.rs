//! What to do: a list in short at the top of the page, and each finding in full with evidence, change and undo.

use maud::{Markup, html};
use ramline_advice::{Confidence, Finding, Weight};

use crate::html::parts::{commands, section, table, tag, text};

const fn weight(weight: Weight) -> (&'static str, &'static str) {
    match weight {
        Weight::Note => ("plain", "note"),
        Weight::Warning => ("warn", "warning"),
        Weight::Critical => ("bad", "critical"),
    }
}

const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low confidence",
        Confidence::Medium => "medium confidence",
        Confidence::High => "high confidence",
    }
}

/// The list in short, with links to the full text.
pub fn summary(findings: &[Finding]) -> Markup {
    html! {
        section.summary aria-labelledby="todo" {
            h2 id="todo" { "What to do" }
            @if findings.is_empty() { p.lead { "Nothing was found that should change." } }
            @else {
                ol {
                    @for (number, finding) in (1..).zip(findings) {
                        @let (kind, word) = weight(finding.weight);
                        li {
                            a href=(format!("#finding-{number}")) { (finding.title) }
                            p { (tag(kind, word)) " " (tag("plain", confidence(finding.confidence))) " " (finding.effect) }
                        }
                    }
                }
            }
        }
    }
}

/// The section in full.
pub fn findings(findings: &[Finding]) -> Markup {
    if findings.is_empty() {
        return html! {};
    }
    let lead = html! { "Ranked by effect. Changes are shown, not applied; each comes with the way back." };
    section(
        "findings",
        "Findings",
        &lead,
        &html! { @for (number, finding) in (1..).zip(findings) { (one(number, finding)) } },
    )
}

fn one(number: usize, finding: &Finding) -> Markup {
    let (kind, word) = weight(finding.weight);
    let rows: Vec<Vec<Markup>> = finding
        .evidence
        .iter()
        .map(|evidence| {
            vec![html! { (evidence.what) }, html! { (evidence.value) }, html! { code { (evidence.source) } }]
        })
        .collect();
    html! {
        article class=(format!("finding {kind}")) id=(format!("finding-{number}")) {
            h3 { span.number { (number) } (finding.title) }
            p { (tag(kind, word)) " " (tag("plain", confidence(finding.confidence))) " " b { (finding.effect) } }
            @if !rows.is_empty() {
                h4 { "What it rests on" }
                (table(&[text("What"), text("Value"), text("Where from")], &rows))
            }
            @if let Some(change) = &finding.change {
                h4 { "The change: " (change.what) }
                (commands(&change.commands))
                h4 { "The way back" }
                @if change.undo.is_empty() { p { "Nothing needs undoing." } } @else { (commands(&change.undo)) }
            }
            dl.pairs {
                dt { "Already in place" }
                dd { @if finding.already.is_empty() { "nothing that bears on it" } @else { (finding.already.join("; ")) } }
                dt { "If this is wrong" }
                dd { (finding.cost_if_wrong) }
                dt { "Read on" }
                dd { code { "ramline explain " (finding.explain) } " or " code { (finding.docs) } }
                dt { "Name" }
                dd { code { (finding.id) } }
            }
        }
    }
}
