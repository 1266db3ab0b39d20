//! Keys without a terminal, and what stands on the screen after them.

use ramline_sheet::{Column, Paint, Sheet, Table};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

use crate::keys::KEYS;
use crate::{App, Effect, Key, Looks, Page, Time, View, draw};

const VIEWS: &[View] =
    &[View { name: "overview", sorts: &[], enters: 0 }, View { name: "programs", sorts: &["use", "swap"], enters: 1 }];

const PROGRAMS: [(&str, &str, &str); 4] = [
    ("postgres", "2.0 GiB", "1.0 MiB"),
    ("redis", "1.0 GiB", "0 B"),
    ("bash", "5.0 MiB", "0 B"),
    ("sshd", "3.0 MiB", "7 B"),
];

fn page(rows: &[(&str, &str, &str)]) -> Page {
    let mut first = Sheet::new();
    first.answer(Paint::Good, "Memory is fine: 22.8 of 23.5 GiB available, no task waits for memory.");
    let mut part = Sheet::new();
    part.line("programs by use");
    let table = Table::from_rows(rows.iter().copied()).left("program", |row| row.0).right("uses", |row| row.1);
    part.table(table.column(Column::right("swap"), |row| row.2));
    Page { first, parts: vec![part], note: "01:02:03 UTC".into(), ..Page::default() }
}

struct Screen {
    app: App,
    buffer: Buffer,
}

impl Screen {
    fn new(width: u16, height: u16) -> Screen {
        let mut app = App::new(VIEWS, Looks::default());
        app.key(Key::Char('2'));
        app.show(page(&PROGRAMS));
        let mut screen = Screen { app, buffer: Buffer::empty(Rect::new(0, 0, width, height)) };
        screen.draw();
        screen
    }

    fn draw(&mut self) {
        self.buffer.reset();
        draw(&mut self.app, &mut self.buffer);
    }

    fn press(&mut self, keys: &[Key]) -> Effect {
        let mut effect = Effect::Nothing;
        for key in keys {
            effect = self.app.key(*key);
            self.draw();
        }
        effect
    }

    fn lines(&self) -> Vec<String> {
        let Rect { width, height, .. } = self.buffer.area;
        let line = |y| (0..width).map(|x| self.buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(line).collect()
    }

    /// What is marked as the cell under the cursor.
    fn marked(&self) -> String {
        let Rect { width, height, .. } = self.buffer.area;
        let cells = (2..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let marked = cells.filter(|at| self.buffer[*at].modifier.contains(Modifier::REVERSED));
        marked.map(|at| self.buffer[at].symbol()).collect::<String>().trim().to_owned()
    }
}

const fn typed(c: char) -> Key {
    Key::Char(c)
}

#[test]
fn the_answer_stands_above_the_views_the_page_and_the_keys() {
    let screen = Screen::new(80, 10);
    assert_eq!(
        screen.lines(),
        [
            "Memory is fine: 22.8 of 23.5 GiB available, no task waits for memory.",
            "1 overview  2 programs",
            "programs by use",
            "program      uses     swap",
            "postgres  2.0 GiB  1.0 MiB",
            "redis     1.0 GiB      0 B",
            "bash      5.0 MiB      0 B",
            "sshd      3.0 MiB      7 B",
            "",
            "q quit  ? keys  s sorted by use  / filter  e explain  p pause       01:02:03 UTC",
        ]
    );
    assert_eq!(screen.marked(), "2.0 GiB");
}

#[test]
fn arrows_move_the_cursor_and_e_explains_the_column_and_then_the_row() {
    let mut screen = Screen::new(80, 10);
    screen.press(&[Key::Down, Key::Right]);
    assert_eq!(screen.marked(), "0 B");
    assert_eq!(screen.press(&[typed('e')]), Effect::Explain(vec!["swap".into(), "redis".into()]));
    screen.press(&[Key::Right, typed('G'), typed('h')]);
    assert_eq!(screen.marked(), "3.0 MiB", "beyond the last column there is none");
    let mut explanation = Sheet::new();
    explanation.line("unit: bytes");
    screen.app.explained(Ok(("uses".into(), explanation)));
    screen.draw();
    let lines = screen.lines();
    assert_eq!((lines[1].as_str(), lines[2].as_str()), ("1 overview  2 programs  > uses", "unit: bytes"));
    assert_eq!(screen.press(&[Key::Escape]), Effect::Draw);
    assert_eq!(screen.marked(), "3.0 MiB");
}

#[test]
fn the_filter_leaves_rows_with_its_text_until_it_is_ended() {
    let mut screen = Screen::new(80, 10);
    screen.press(&[typed('/'), typed('S'), typed('s'), typed('H')]);
    assert_eq!(screen.lines()[4], "sshd      3.0 MiB      7 B");
    assert_eq!(screen.lines()[9], format!("/SsH_{}", " ".repeat(63) + "01:02:03 UTC"));
    // Keys are text while it is typed, and keys again after Enter.
    screen.press(&[Key::Backspace, Key::Enter]);
    assert_eq!(screen.lines()[4..6], ["sshd      3.0 MiB      7 B".to_owned(), String::new()]);
    assert_eq!(screen.press(&[Key::Escape]), Effect::Draw);
    assert_eq!(screen.lines()[7], "sshd      3.0 MiB      7 B");
}

#[test]
fn a_row_is_followed_where_it_moves_and_the_first_stays_the_first() {
    let mut screen = Screen::new(80, 10);
    let turned: Vec<_> = PROGRAMS.iter().rev().copied().collect();
    screen.app.show(page(&turned));
    screen.draw();
    assert_eq!(screen.marked(), "3.0 MiB", "nothing was chosen yet");
    screen.press(&[Key::Down]);
    assert_eq!(screen.marked(), "5.0 MiB");
    screen.app.show(page(&PROGRAMS));
    screen.draw();
    assert_eq!(screen.marked(), "5.0 MiB");
    screen.app.show(page(&PROGRAMS[..1]));
    screen.draw();
    assert_eq!(screen.marked(), "2.0 GiB", "it is gone");
}

#[test]
fn a_program_is_entered_and_left_and_the_orders_come_in_turn() {
    let mut screen = Screen::new(80, 10);
    assert_eq!(screen.press(&[Key::Down, Key::Enter]), Effect::Ask { again: false });
    assert_eq!(screen.app.ask(false).entered, ["redis"]);
    assert_eq!(screen.lines()[1], "1 overview  2 programs  > redis");
    assert_eq!(screen.press(&[Key::Enter]), Effect::Draw, "one deep is all");
    assert!(screen.lines()[9].starts_with("nothing to enter here"));
    assert_eq!(screen.press(&[Key::Escape]), Effect::Ask { again: false });
    assert!(screen.app.ask(false).entered.is_empty());
    assert_eq!(screen.marked(), "1.0 GiB", "one is where one was");
    let sorts: Vec<usize> = (0..3)
        .map(|_| {
            screen.press(&[typed('s')]);
            screen.app.ask(false).sort
        })
        .collect();
    assert_eq!(sorts, [1, 0, 1]);
    screen.press(&[typed('1'), typed('2')]);
    assert_eq!(screen.app.ask(false).sort, 1, "each view keeps its order");
}

#[test]
fn the_heads_stay_above_rows_that_are_scrolled_to() {
    let rows: Vec<(String, &str, &str)> = (0..50).map(|n| (format!("program-{n}"), "1.0 MiB", "0 B")).collect();
    let rows: Vec<(&str, &str, &str)> = rows.iter().map(|row| (row.0.as_str(), row.1, row.2)).collect();
    let mut screen = Screen::new(80, 10);
    screen.app.show(page(&rows));
    screen.draw();
    screen.press(&[typed('G')]);
    let lines = screen.lines();
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["program", "uses", "swap"]);
    assert!(lines[8].starts_with("program-49"), "{lines:?}");
    screen.press(&[Key::PageUp, Key::PageUp, Key::PageUp, Key::Up]);
    assert!(screen.lines()[3].starts_with("program-"), "{:?}", screen.lines());
    screen.press(&[typed('g'), Key::Up]);
    assert_eq!(screen.lines()[2], "programs by use");
}

#[test]
fn paused_no_page_is_asked_for_and_every_way_out_is_an_effect() {
    let mut screen = Screen::new(80, 10);
    assert_eq!(screen.press(&[typed('p')]), Effect::Draw);
    assert!(screen.app.is_still() && screen.lines()[9].ends_with("paused  01:02:03 UTC"));
    assert_eq!(screen.press(&[typed(' ')]), Effect::Ask { again: false });
    assert_eq!(screen.press(&[typed('r')]), Effect::Ask { again: true });
    for (key, effect) in [
        (typed('q'), Effect::Quit),
        (Key::Control('c'), Effect::Quit),
        (Key::Control('z'), Effect::Stop),
        (Key::Control('l'), Effect::Redraw),
        (Key::Control('x'), Effect::Nothing),
    ] {
        assert_eq!(screen.press(&[key]), effect, "{key:?}");
    }
    // While a filter is typed or something is open they are the ways out of that, or of all.
    screen.press(&[typed('/'), typed('q')]);
    assert_eq!(screen.press(&[Key::Control('c')]), Effect::Quit);
    screen.press(&[Key::Escape, typed('?')]);
    assert_eq!(screen.press(&[typed('q')]), Effect::Draw);
}

#[test]
fn names_from_outside_cannot_steer_the_terminal() {
    let mut screen = Screen::new(80, 10);
    screen.app.show(page(&[("evil\u{1b}[2J\u{7}", "1 B", "")]));
    screen.draw();
    screen.press(&[Key::Enter]);
    let all = screen.lines().concat();
    assert!(!all.contains(char::is_control) && all.contains("evil\\u{1b}[2J"), "{all}");
    screen.press(&[Key::Escape, typed('/'), typed('\u{1b}'), typed('\u{9b}')]);
    assert!(!screen.lines().concat().contains(char::is_control));
}

#[test]
fn a_screen_that_is_too_small_says_so_and_keys_do_no_harm() {
    for size in [(1, 1), (19, 10), (80, 4), (20, 5), (40, 6)] {
        let mut screen = Screen::new(size.0, size.1);
        screen.press(&[
            Key::Down,
            Key::PageDown,
            typed('G'),
            typed('?'),
            Key::PageDown,
            Key::Escape,
            Key::Up,
            typed('e'),
        ]);
        assert!(
            screen.lines()[0].starts_with("too small") == (size.0 < 20 || size.1 < 5) || size == (1, 1),
            "{size:?}"
        );
    }
}

#[test]
fn the_table_of_keys_is_the_one_of_the_docs() {
    let docs = include_str!("../../../docs/top.md");
    for (keys, what) in KEYS {
        assert!(docs.contains(&format!("| {keys} | {what} |")), "docs/top.md lacks: | {keys} | {what} |");
    }
    let part = docs.split("## Keys").nth(1).unwrap_or_default().split("\n## ").next().unwrap_or_default();
    let rows = part.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| key ")).count();
    assert_eq!(rows, KEYS.len(), "docs/top.md has a key that is none");
}

#[test]
fn a_time_is_typed_shown_stepped_and_left() {
    let mut screen = Screen::new(100, 12);
    screen.press(&[Key::Char('t'), Key::Char('0'), Key::Char('0'), Key::Char(':'), Key::Char('4'), Key::Char('x')]);
    screen.press(&[Key::Backspace, Key::Char('6')]);
    assert!(screen.lines()[11].contains("time (00:46, 2h; empty: now): 00:46_"), "{}", screen.lines()[11]);
    assert_eq!(screen.press(&[Key::Enter]), Effect::GoTo(Time::At("00:46".into())));
    screen.app.went_to(Ok(Some("2026-11-29 00:46:05".into())));
    assert!(screen.app.is_still());
    screen.draw();
    assert!(screen.lines()[11].ends_with("recorded 2026-11-29 00:46:05"), "{}", screen.lines()[11]);
    assert_eq!(screen.press(&[Key::Char('<')]), Effect::GoTo(Time::Before));
    screen.app.went_to(Err("nothing was recorded before".into()));
    screen.draw();
    assert!(screen.lines()[11].starts_with("nothing was recorded before"), "{}", screen.lines()[11]);
    assert_eq!(screen.press(&[Key::Escape]), Effect::GoTo(Time::Now));
    screen.app.went_to(Ok(None));
    assert!(!screen.app.is_still());
    assert_eq!(screen.press(&[Key::Char('t'), Key::Enter]), Effect::GoTo(Time::Now));
    assert_eq!(screen.press(&[Key::Char('t'), Key::Char('q'), Key::Escape]), Effect::Draw);
    assert_eq!(screen.press(&[Key::Escape]), Effect::Nothing);
}
