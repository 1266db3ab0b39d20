//! Which columns of a table a terminal has room for, how wide each is, and what of a text stands in it.
//!
//! Worked example: a name of 30 columns that is not made narrower than 12, and two numbers of 9 that can be left out, on a terminal
//! of 30 columns: the name has 19 and the first number stays.

use super::{GAP, text};
use crate::sheet::{Cell, Column, Flow, NARROWEST, Table};
use crate::text::bar::{BAR, bar};
use crate::text::{name, width, wrap};

/// Columns that a step down a tree takes, where there is room.
const STEP: usize = 2;
/// A name in a tree has at least so many columns, however deep it is.
const NAME: usize = 8;

/// A column that is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Its place in a row.
    pub at: usize,
    /// How wide it is.
    pub width: usize,
    /// As wide as its widest text.
    natural: usize,
    /// Columns for each step down a tree.
    step: usize,
}

/// The columns of a table on a terminal.
#[derive(Debug)]
pub struct Layout {
    /// Those that are shown, in order.
    pub columns: Vec<Shown>,
}

impl Layout {
    /// The layout with as many columns as fit. Those that cannot be spared come first, then the others by rank; bars last. One that does not fit makes
    /// room for the next.
    pub fn for_width(table: &Table, available: usize) -> Layout {
        let (mut kept, mut spare): (Vec<Shown>, Vec<(u8, Shown)>) = (Vec::new(), Vec::new());
        for (at, column) in table.shown() {
            let natural = natural(table, at, available);
            let shown = Shown { at, width: natural, natural, step: STEP };
            match column.rank.or_else(|| table.has_bar(at).then_some(u8::MAX)) {
                Some(rank) => spare.push((rank, shown)),
                None => kept.push(shown),
            }
        }
        ramline_units::sort_by_key(&mut spare, |(rank, shown)| (*rank, shown.at));
        for (_, shown) in spare {
            let least: usize = kept.iter().chain([&shown]).map(|it| it.least(table, usize::MAX) + GAP).sum();
            if least.saturating_sub(GAP) <= available {
                kept.push(shown);
            }
        }
        ramline_units::sort_by_key(&mut kept, |shown| shown.at);
        let mut layout = Layout { columns: kept };
        layout.squeeze(table, available, usize::MAX);
        layout.squeeze(table, available, NARROWEST);
        layout.columns.iter_mut().for_each(|shown| shown.step = step(table, shown));
        layout
    }

    /// Columns of a line: the widths and the gaps between them.
    pub fn total(&self) -> usize {
        let widths: usize = self.columns.iter().map(|shown| shown.width).sum();
        widths + GAP * self.columns.len().saturating_sub(1)
    }

    /// Makes the widest narrower until all fit, none below what it wants or `floor`.
    fn squeeze(&mut self, table: &Table, available: usize, floor: usize) {
        while self.total() > available {
            let can = self.columns.iter_mut().filter(|shown| shown.width > shown.least(table, floor));
            match can.max_by_key(|shown| shown.width) {
                Some(widest) => widest.width -= 1,
                None => return,
            }
        }
    }
}

impl Shown {
    /// Not narrower than this, and not than `floor` if that is less.
    fn least(&self, table: &Table, floor: usize) -> usize {
        let column = &table.columns[self.at];
        match column.flow {
            Flow::Whole => self.natural,
            _ => self.natural.min(column.least.min(floor)),
        }
    }

    /// What of a cell stands in the column, line by line.
    pub fn lines(&self, column: &Column, cell: Option<&Cell>) -> Vec<String> {
        let Some(cell) = cell else { return vec![String::new()] };
        match column.flow {
            Flow::Whole => vec![cell.share.map_or_else(|| cell.text.clone(), |share| bar(share, BAR))],
            Flow::Name => vec![self.name(cell)],
            Flow::Path => wrap(&name::shorter(&cell.text, self.width), self.width),
            Flow::Cut if width(&cell.text) <= self.width => vec![cell.text.clone()],
            Flow::Cut => vec![name::beginning(&cell.text, self.width)],
            Flow::Wrapped => {
                let mut lines = wrap(&cell.text, self.width);
                if lines.len() > column.lines {
                    lines.truncate(column.lines);
                    if let Some(last) = lines.last_mut() {
                        *last = ended(last, self.width);
                    }
                }
                lines
            }
        }
    }

    /// A name at its depth: whole, or by its short form, or without its middle.
    fn name(&self, cell: &Cell) -> String {
        let indent = self.step.saturating_mul(cell.depth).min(self.width.saturating_sub(NAME));
        let room = self.width.saturating_sub(indent);
        let told = if width(&cell.text) <= room || cell.short.is_empty() { &cell.text } else { &cell.short };
        format!("{}{}", " ".repeat(indent), name::middle_out(told, room))
    }
}

/// A line after which more would come.
fn ended(line: &str, columns: usize) -> String {
    name::beginning(line, columns.min(width(line) + 2))
}

/// Columns for each step down the tree: fewer where that saves a name from being cut, or the deepest would have no room.
fn step(table: &Table, shown: &Shown) -> usize {
    let cells = || table.rows.iter().filter_map(|row| row.get(shown.at));
    let cut = |step: usize| {
        let needs = |cell: &Cell| step.saturating_mul(cell.depth).saturating_add(width(&cell.text));
        cells().filter(|cell| needs(cell) > shown.width).count()
    };
    let deepest = cells().map(|cell| cell.depth).max().unwrap_or(0);
    let roomy = deepest.saturating_mul(STEP).saturating_add(NAME) <= shown.width;
    if roomy && cut(STEP) == cut(1) { STEP } else { 1 }
}

/// As wide as the widest cell; what can be made narrower needs no more than there is.
fn natural(table: &Table, at: usize, available: usize) -> usize {
    let column = &table.columns[at];
    let cell = |row: &Vec<Cell>| {
        let depth = row.get(at).map_or(0, |cell| cell.depth);
        let indent = if column.flow == Flow::Name { depth.saturating_mul(STEP) } else { 0 };
        let drawn = row.get(at).and_then(|cell| cell.share).map_or_else(|| width(text(row, at)), |_| BAR);
        drawn.saturating_add(indent)
    };
    let widest = table.rows.iter().map(cell).max().unwrap_or(0).max(width(&column.head)).min(column.most);
    if column.flow == Flow::Whole { widest } else { widest.min(available.max(NARROWEST)) }
}

impl Table {
    /// True for a column of bars.
    pub(super) fn has_bar(&self, at: usize) -> bool {
        self.rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.share.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use crate::text::{Cell, Column, Style, Table, width};

    fn draw(table: &Table, width: usize) -> String {
        table.draw(&Style { colour: false, width })
    }

    #[test]
    fn names_of_a_tree_stand_at_their_depth_and_lose_their_middle() {
        let mut table = Table::new(vec![Column::name("group").at_least(12), Column::right("charged")]);
        table.row(["/".into(), "2.0 GiB".into()]);
        table.row([Cell::from("system.slice").at_depth(1), "1.0 GiB".into()]);
        table.row([Cell::from("systemd-networkd-wait-online.service").at_depth(2), "3.0 MiB".into()]);
        assert_eq!(
            draw(&table, 80),
            "group                                     charged\n\
             /                                         2.0 GiB\n\
             \x20 system.slice                            1.0 GiB\n\
             \x20   systemd-networkd-wait-online.service  3.0 MiB\n"
        );
        assert_eq!(
            draw(&table, 24),
            "group            charged\n\
             /                2.0 GiB\n\
             \x20 system.slice   1.0 GiB\n\
             \x20   syst..vice   3.0 MiB\n"
        );
        // A step is one column where that saves a name from being cut.
        assert_eq!(
            draw(&table, 22),
            "group          charged\n\
             /              2.0 GiB\n\
             \x20system.slice  1.0 GiB\n\
             \x20 syst..vice   3.0 MiB\n"
        );
    }

    #[test]
    fn a_name_in_a_deep_tree_is_never_pushed_out_of_its_column() {
        let mut table = Table::new(vec![Column::name("process"), Column::right("uses")]);
        for depth in 0..64 {
            table.row([Cell::from(format!("worker-{depth}")).at_depth(depth), "1.0 MiB".into()]);
        }
        for columns in [24, 40, 60, 80, 200] {
            let text = draw(&table, columns);
            assert!(
                text.lines().all(|line| width(line) <= columns && line.trim_start().starts_with(['w', 'p'])),
                "{text}"
            );
        }
    }

    #[test]
    fn where_there_is_no_room_a_container_goes_by_its_id() {
        let mut table = Table::new(vec![Column::name("group"), Column::right("charged")]);
        table.row([Cell::from("cri-containerd-0123456789ab.scope").or("0123456789ab"), "1.0 GiB".into()]);
        assert!(draw(&table, 60).contains("cri-containerd-0123456789ab.scope  1.0 GiB"));
        assert_eq!(draw(&table, 30), "group                  charged\n0123456789ab           1.0 GiB\n");
    }

    #[test]
    fn columns_go_by_rank_and_one_that_does_not_fit_makes_room_for_the_next() {
        let mut table = Table::new(vec![
            Column::wrapped("program").at_least(16),
            Column::right("wide column").rank(2),
            Column::right("swap").rank(3),
            Column::left("").rank(1),
            Column::right("uses"),
        ]);
        let bar = Cell::bar(Some(1.0));
        table.row(["a-program-of-a-name".into(), "1".into(), "2".into(), bar, "3.0 GiB".into()]);
        let heads = |columns| draw(&table, columns).lines().next().unwrap_or_default().to_owned();
        assert_eq!(heads(80), "program              wide column  swap                 uses");
        assert_eq!(heads(56), "program           wide column  swap                 uses");
        // The bar stays, the wide column does not fit beside it, and the narrow one of a higher rank does.
        assert_eq!(heads(46), "program              swap                 uses");
        assert_eq!(heads(30), "program                 uses");
    }

    #[test]
    fn a_long_text_of_a_column_with_few_lines_ends_early() {
        let mut table = Table::new(vec![Column::right("pid"), Column::wrapped("command").lines(2)]);
        table.row(["7".into(), "/usr/bin/python3 -m http.server --bind 127.0.0.1 8000".into()]);
        assert_eq!(draw(&table, 25), "pid  command\n  7  /usr/bin/python3 -m\n     http.server --bind..\n");
    }

    #[test]
    fn what_finds_no_column_stands_before_the_text_of_the_last_one() {
        let columns = || {
            vec![
                Column::wrapped("what").at_least(16),
                Column::left("owner").folds(),
                Column::right("last used").folds(),
                Column::wrapped("held by").at_least(20),
            ]
        };
        let mut table = Table::new(columns());
        table.row(["/dev/shm/a-file".into(), "root".into(), "3 h ago".into(), "postgres (800)".into()]);
        table.row(["/dev/shm/b".into(), "".into(), "2 days ago".into(), "".into()]);
        assert_eq!(draw(&table, 80).lines().next(), Some("what             owner   last used  held by"));
        assert_eq!(
            draw(&table, 46),
            "what             owner  last used, held by\n\
             /dev/shm/a-file  root   3 h ago; postgres\n\
             \x20                       (800)\n\
             /dev/shm/b              2 days ago\n"
        );
        assert_eq!(
            draw(&table, 40),
            "what             owner, last used, held\n\
             \x20                by\n\
             /dev/shm/a-file  root; 3 h ago; postgres\n\
             \x20                (800)\n\
             /dev/shm/b       2 days ago\n"
        );
    }
}
