//! The table of families as a whole: names, units, help, and its form as Markdown.

use std::collections::BTreeSet;

use ramline_export::{Unit, all};

#[test]
fn a_name_is_there_once_and_ends_in_its_base_unit() {
    let mut names = BTreeSet::new();
    for family in all() {
        assert!(names.insert(family.sample_name()), "{} is there twice", family.name);
        assert!(family.name.starts_with("ramline_"), "{}", family.name);
        assert!(!family.name.ends_with("_total") && !family.name.ends_with("_info"), "{}", family.name);
        let unit = family.unit.word();
        assert!(family.name.ends_with(unit), "{} is in {unit}", family.name);
        for other in [Unit::Bytes, Unit::Seconds, Unit::Ratio].map(Unit::word).into_iter().filter(|w| *w != unit) {
            assert!(!family.name.ends_with(other), "{} is not in {other}", family.name);
        }
        assert!(family.help.ends_with('.') && !family.help.contains('\n'), "{}", family.name);
    }
}

#[test]
fn what_more_is_to_be_told_of_a_metric_is_a_topic_or_a_number_of_a_screen() {
    for family in all() {
        let is_topic = ramline_advice::topic_named(family.explain).is_some();
        assert!(is_topic || ramline_view::figure::find(family.explain).is_ok(), "{}: {}", family.name, family.explain);
    }
}

#[test]
fn the_table_has_a_row_for_each_metric_with_its_kind_its_help_and_its_topic() {
    let table = ramline_export::table();
    assert!(table.starts_with("| metric | kind | what it is | explain |\n|---|---|---|---|\n"), "{table}");
    assert_eq!(table.lines().count(), all().count() + 2);
    let row = "| `ramline_section_unseen` | `gauge` | A part of the machine that could not be read, and why; metrics that need it are missing. | used |\n";
    assert!(table.contains(row), "{table}");
    assert!(table.contains("\n| `ramline_refaults_total` | `counter` | "), "{table}");
}
