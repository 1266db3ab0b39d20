//! What each view shows at five sizes, on a captured machine; `RAMLINE_BLESS=1` writes what is shown to `screens/`.

use std::fs;

use ramline_live::{App, Ask, Feed, Key, Looks, draw};
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
    let mut feed = Live::new(root, Duration::from_secs(1));
    feed.pretend(&cached());
    let mut app = App::new(VIEWS, looks);
    app.key(Key::Char(char::from(b'1' + u8::try_from(view).unwrap())));
    let mut page = feed.page(&app.ask(false));
    // A time of day is no part of what is compared.
    page.note.clear();
    app.show(page);
    app
}

#[test]
fn each_view_shows_at_five_sizes_what_is_written_down() {
    let tree = Tree::of("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    let folder = ramline_testkit::project().join("crates/cli/src/commands/top/screens");
    let mut wrong = Vec::new();
    for (view, named) in VIEWS.iter().enumerate() {
        let mut app = app_with(&root, view, Looks::default());
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
fn the_first_line_is_that_of_show_at_every_size_and_nothing_is_cut_off_to_the_right() {
    let tree = Tree::of("healthy/linux-6.12-zram");
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
    let tree = Tree::of("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    for (view, named) in VIEWS.iter().enumerate() {
        let screen = text(&mut app_with(&root, view, Looks { ascii: true, colour: false }), (80, 24));
        assert!(screen.is_ascii(), "{}:\n{screen}", named.name);
    }
}

#[test]
fn a_screen_of_any_size_is_drawn() {
    let tree = Tree::of("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    for view in 0..VIEWS.len() {
        let mut app = app_with(&root, view, Looks::default());
        for size in [(1, 1), (19, 4), (20, 5), (33, 7), (60, 10), (400, 120)] {
            assert_eq!(text(&mut app, size).lines().count(), usize::from(size.1));
        }
    }
}

#[test]
fn a_group_is_entered_and_left_and_every_head_and_row_that_is_explained_has_an_explanation() {
    let tree = Tree::of("healthy/linux-6.12-zram");
    let root = Root::new(tree.path());
    let mut feed = Live::new(&root, Duration::from_secs(1));
    let ask = |view, entered: &'static [String]| Ask { view, sort: 0, entered, again: false };
    let all = feed.page(&ask(2, &[]));
    let one = feed.page(&Ask { entered: &["/system.slice".to_owned()], ..ask(2, &[]) });
    assert_ne!(all.parts, one.parts);
    for name in [
        "uses",
        "anonymous",
        "charged",
        "psi",
        "available",
        "refaults",
        "pswpin",
        "processes",
        "page cache",
        "effective ratio",
    ] {
        assert!(feed.explain(&[name.to_owned()]).is_ok(), "{name}");
    }
    let unknown = feed.explain(&["no such thing".to_owned()]).unwrap_err();
    assert!(unknown.contains("ramline explain --list"), "{unknown}");
    assert_eq!(VIEWS[FILES].enters, 0);
}
