//! Trees of groups and of processes on terminals of any width: a row is a line, at its depth, and no name is cut where there is room.

use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_model::groups::{Selection, Sort};
use ramline_model::processes::{By, Filter};
use ramline_snapshot::machine::Machine;
use ramline_snapshot::processes::{Process, Processes};
use ramline_snapshot::{Seen, Snapshot, Wanted};
use ramline_units::Bytes;
use ramline_view::text::{Style, width};
use ramline_view::{Screen, ShowCgroups, ShowProcesses, SortBy};

const WIDTHS: [usize; 5] = [60, 80, 100, 120, 200];

fn groups(tree: &str) -> Snapshot {
    gather(&Root::new(ramline_testkit::tree(&format!("healthy/{tree}"))), Wanted::ALL)
}

/// Six generations, and on each a program with a long name.
fn processes() -> Snapshot {
    let one = |n: u32| Process {
        pid: n + 1,
        parent: n,
        name: format!("worker-of-a-name-{n}"),
        rss_anon: Some(Bytes::from_mib(100)),
        rss_file: Some(Bytes::from_mib(u64::from(n))),
        ..Process::default()
    };
    let mut seen = Snapshot::new(Machine::default());
    seen.processes = Seen::new(Processes { list: (0..12).map(one).collect(), ..Processes::default() });
    seen
}

/// The rows of the table under this head.
fn rows<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| !line.starts_with(head)).skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn a_group_is_a_line_of_the_tree_at_any_width_with_its_charge_and_a_bar_where_there_is_room() {
    for tree in ["linux-6.18-groups", "debian-13-groups"] {
        let show = ShowCgroups::new(&groups(tree), None, Selection::default());
        for columns in WIDTHS {
            let text = show.text(&Style { colour: false, width: columns });
            assert!(columns < 100 || text.contains(" ##########  "), "{tree} at {columns}:\n{text}");
            let rows = rows(&text, "group ");
            assert_eq!(rows.len(), show.shown.groups.len(), "{tree} at {columns}:\n{text}");
            for (row, group) in rows.iter().zip(&show.shown.groups) {
                let blanks = row.len() - row.trim_start().len();
                assert!(group.depth <= blanks && blanks <= 2 * group.depth, "{tree} at {columns}: {row}");
                assert!(group.current.is_none_or(|bytes| row.contains(&bytes.to_string())), "{row}");
            }
        }
    }
}

#[test]
fn no_name_is_cut_on_200_columns() {
    for tree in ["linux-6.18-groups", "debian-13-groups"] {
        let show = ShowCgroups::new(&groups(tree), None, Selection::default());
        let text = show.text(&Style { colour: false, width: 200 });
        for row in rows(&text, "group ") {
            let name = row.trim_start().split("  ").next().unwrap();
            assert!(!name.contains(".."), "{tree}: {row}");
        }
    }
    let show = ShowProcesses::new(&processes(), None, By::Tree, SortBy::Holds, &Filter::default());
    let text = show.text(&Style { colour: false, width: 200 });
    assert!((0..12).all(|n| text.contains(&format!("worker-of-a-name-{n} "))), "{text}");
}

#[test]
fn a_list_sorted_by_a_column_keeps_it_on_a_narrow_terminal() {
    let seen = groups("linux-6.18-groups");
    for (sort, head) in [(Sort::Kernel, "kernel"), (Sort::Own, "itself"), (Sort::Anon, "anon")] {
        let show = ShowCgroups::new(&seen, None, Selection { sort, flat: true, ..Selection::default() });
        for columns in WIDTHS {
            let text = show.text(&Style { colour: false, width: columns });
            let heads = text.lines().find(|line| line.starts_with("group ")).unwrap();
            assert!(heads.contains(head), "{head} at {columns}: {heads}");
            assert!(text.lines().all(|line| width(line) <= columns), "{text}");
        }
    }
}

#[test]
fn generations_of_processes_stand_at_their_depth_at_any_width() {
    let show = ShowProcesses::new(&processes(), None, By::Tree, SortBy::Holds, &Filter::default());
    for columns in WIDTHS {
        let text = show.text(&Style { colour: false, width: columns });
        let rows = rows(&text, "process and all");
        let blanks: Vec<usize> = rows.iter().take(12).map(|row| row.len() - row.trim_start().len()).collect();
        let step = blanks[1];
        assert!(step == 1 || step == 2, "{columns}:\n{text}");
        assert_eq!(blanks, (0..12).map(|depth| depth * step).collect::<Vec<_>>(), "{columns}:\n{text}");
        assert!(rows.iter().take(12).all(|row| row.contains("worker")), "{columns}:\n{text}");
    }
}
