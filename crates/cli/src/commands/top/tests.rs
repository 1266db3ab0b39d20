//! What each view shows at five sizes, on a captured machine; `RAMLINE_BLESS=1` writes what is shown to `screens/`.

use std::fs;

use ramline_live::{App, Effect, Feed, Key, Looks, ViewRequest, draw};
use ramline_snapshot::cache::{CacheHolder, FileRow, HotFile, Name, Tally, Top};
use ramline_testkit::Tree;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::feed::Live;
use super::views::{FILES, VIEWS};
use crate::prelude::*;

const SIZES: [(u16, u16); 5] = [(80, 24), (100, 30), (132, 43), (160, 50), (250, 70)];

fn text(app: &mut App, (width, height): (u16, u16)) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(app, &mut buffer);
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..height).map(line).collect()
}

/// The page cache of a machine that is none.
fn cached() -> Top {
    let file = |path: &[u8], mib, holder: &str| HotFile {
        row: FileRow {
            name: Name::new(path),
            length: Bytes::from_mib(2 * mib),
            resident: Some(Bytes::from_mib(mib)),
            ..FileRow::default()
        },
        holders: 1,
        held_by: vec![CacheHolder { pid: 7, name: holder.into() }],
    };
    Top {
        page: Bytes(4096),
        counted: Bytes::from_mib(1000),
        named: Tally { files: 3, resident: Bytes::from_mib(900), ..Tally::default() },
        held: Bytes::from_mib(256),
        files: vec![file(b"/srv/db/base", 512, "postgres"), file(b"/usr/lib/libc.so.6", 2, "bash")],
        complete: true,
        ..Top::default()
    }
}

/// A view of a captured machine, watched for a minute in which nothing moved but swap.
fn app_with(root: &Root, view: usize, looks: Looks) -> App {
    let mut feed = Live::new(root, Duration::from_secs(1), None);
    feed.pretend(&cached());
    let mut app = App::new(VIEWS, looks);
    app.key(Key::Char(char::from(b'1' + u8::try_from(view).unwrap())));
    let mut page = feed.page(&app.ask(false));
    // A time of day is no part of what is compared.
    page.note.clear();
    app.show(page);
    app
}

/// A machine of 464 MiB with zram and three programs; the groups are those of another one.
fn tree(view: usize) -> Tree {
    if VIEWS[view].name == "groups" {
        return Tree::from_fixture("healthy/linux-6.18-groups");
    }
    let programs = [(101, "postgres", 96), (102, "postgres", 64), (103, "redis-server", 48), (104, "bash", 12)];
    programs.iter().fold(Tree::from_fixture("healthy/linux-6.12-zram"), |tree, (pid, name, kib)| {
        let stat = format!("{pid} ({name}) S 1 {pid} {pid} 0 -1 0 0 0 0 0 7 3 0 0 20 0 1 0 {pid} 0 0\n");
        let status = format!(
            "Name:\t{name}\nUid:\t0\t0\t0\t0\nVmSize:\t 9000 kB\nVmRSS:\t {kib} kB\nRssAnon:\t {kib} kB\nRssFile:\t 0 kB\nRssShmem:\t 0 kB\nVmSwap:\t 8 kB\nVmPTE:\t 4 kB\n"
        );
        tree.file(&format!("proc/{pid}/stat"), stat)
            .file(&format!("proc/{pid}/status"), status)
            .file(&format!("proc/{pid}/cgroup"), "0::/\n")
    })
}

#[test]
fn each_view_shows_at_five_sizes_what_is_written_down() {
    let folder = ramline_testkit::project().join("crates/cli/src/commands/top/screens");
    let mut wrong = Vec::new();
    for (view, named) in VIEWS.iter().enumerate() {
        let tree = tree(view);
        let mut app = app_with(&Root::new(tree.path()), view, Looks::default());
        let all: String =
            SIZES.iter().map(|size| format!("=== {} x {}\n{}", size.0, size.1, text(&mut app, *size))).collect();
        let path = folder.join(format!("{}.txt", named.name));
        if std::env::var_os("RAMLINE_BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &all).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != all {
            wrong.push(format!("{}:\n{}", path.display(), text(&mut app, SIZES[0])));
        }
    }
    assert!(wrong.is_empty(), "screens changed; look at them, then RAMLINE_BLESS=1:\n{}", wrong.join("\n"));
}

#[test]
fn the_picture_of_the_readme_is_the_screen_of_80_by_24() {
    let tree = tree(0);
    let screen = text(&mut app_with(&Root::new(tree.path()), 0, Looks::default()), (80, 24));
    let picture: String = screen.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
    let readme = fs::read_to_string(ramline_testkit::project().join("README.md")).unwrap();
    assert!(readme.contains(&picture), "README.md has another picture than:\n{picture}");
}

#[test]
fn the_first_line_is_that_of_show_at_every_size_and_nothing_is_cut_off_to_the_right() {
    let tree = Tree::from_fixture("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    let seen = ramline_gather::gather(&root, ramline_view::ShowMemory::WANTED);
    let shown = ramline_view::ShowMemory::new(&seen, None).text(&Style { colour: false, width: 200 });
    let mut app = app_with(&root, 0, Looks::default());
    for size in SIZES.iter().filter(|size| size.0 >= 100) {
        assert_eq!(text(&mut app, *size).lines().next(), shown.lines().next(), "{size:?}");
    }
}

#[test]
fn a_screen_for_ascii_has_no_other_character_in_any_view() {
    let tree = Tree::from_fixture("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    for (view, named) in VIEWS.iter().enumerate() {
        let screen = text(&mut app_with(&root, view, Looks { ascii: true, colour: false }), (80, 24));
        assert!(screen.is_ascii(), "{}:\n{screen}", named.name);
    }
}

#[test]
fn a_screen_of_any_size_is_drawn() {
    let tree = Tree::from_fixture("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    for view in 0..VIEWS.len() {
        let mut app = app_with(&root, view, Looks::default());
        for size in [(1, 1), (19, 4), (20, 5), (33, 7), (60, 10), (400, 120)] {
            assert_eq!(text(&mut app, size).lines().count(), usize::from(size.1));
        }
    }
}

#[test]
fn a_group_and_a_program_are_entered_in_full() {
    let entered = |view: usize, key: &str| {
        let tree = tree(view);
        let root = Root::new(tree.path());
        let mut feed = Live::new(&root, Duration::from_secs(1), None);
        let page = |feed: &mut Live<'_>, entered: &[String]| {
            let page = feed.page(&ViewRequest { view, sort: 0, entered, again: false });
            page.parts[0].text(&Style { colour: false, width: 100 }, page.depth)
        };
        (page(&mut feed, &[]), page(&mut feed, &[key.to_owned()]))
    };
    let (all, one) = entered(2, "/app");
    assert!(all.contains("memory control groups; each line is a group") && one.starts_with("/app"), "{one}");
    let (all, one) = entered(1, "postgres");
    assert!(all.contains("redis-server") && !all.contains("102"), "{all}");
    assert!(one.contains("101") && one.contains("102") && !one.contains("redis-server"), "{one}");
}

#[test]
fn what_is_under_the_cursor_of_each_view_is_explained() {
    for (view, named) in VIEWS.iter().enumerate().filter(|(view, _)| *view != FILES) {
        let tree = tree(view);
        let root = Root::new(tree.path());
        let mut feed = Live::new(&root, Duration::from_secs(1), None);
        let mut app = app_with(&root, view, Looks::default());
        text(&mut app, (160, 50));
        let Effect::Explain(names) = app.key(Key::Char('e')) else { continue };
        assert!(feed.explain(view, &names).is_ok(), "{}: {names:?}", named.name);
    }
    let tree = tree(0);
    let root = Root::new(tree.path());
    let mut feed = Live::new(&root, Duration::from_secs(1), None);
    for name in [
        "available",
        "psi",
        "refaults",
        "pswpin",
        "pswpout",
        "scanned",
        "effective ratio",
        "uses",
        "anonymous",
        "charged",
    ] {
        assert!(feed.explain(0, &[name.to_owned()]).is_ok(), "{name}");
    }
    // The same word is another number elsewhere, and what has no name of its own leads to the topic of the view.
    let of = |feed: &mut Live<'_>, view, name: &str| feed.explain(view, &[name.to_owned()]).unwrap();
    assert_ne!(of(&mut feed, 1, "uses").1, of(&mut feed, 6, "uses").1);
    assert_eq!(of(&mut feed, 2, "/system.slice/x").0, "cgroup-memory");
}
