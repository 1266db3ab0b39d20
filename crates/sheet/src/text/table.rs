//! Tables that fit the terminal: numbers to the right, words to the left, long words wrapped in their column.
//!
//! Worked example: rows `swap, 2.0 GiB` and `zram, 512.0 MiB` under `area` and `size` give
//!
//! ```text
//! area       size
//! swap    2.0 GiB
//! zram  512.0 MiB
//! ```

mod draw;
mod fit;

use crate::sheet::Cell;

/// Columns between two columns.
const GAP: usize = 2;

fn text(row: &[Cell], column: usize) -> &str {
    row.get(column).map_or("", |c| c.text.as_str())
}

#[cfg(test)]
mod tests {
    use crate::sheet::{Cell, Column, Table};
    use crate::text::{Style, width};

    #[test]
    fn numbers_stand_to_the_right_and_empty_columns_are_left_out() {
        let mut table = Table::new(vec![Column::left("area"), Column::left("nothing"), Column::right("size")]);
        table.row(["swap".into(), "".into(), "2.0 GiB".into()]);
        table.row(["zram".into(), "".into(), "512.0 MiB".into()]);
        assert_eq!(table.draw(&Style::default()), "area       size\nswap    2.0 GiB\nzram  512.0 MiB\n");
    }

    #[test]
    fn a_table_that_is_too_wide_wraps_its_sentences_and_keeps_its_numbers() {
        let mut table = Table::new(vec![Column::right("n"), Column::wrapped("why"), Column::right("m")]);
        table.row(["1".into(), "a sentence of some length that does not fit".into(), "2".into()]);
        let text = table.draw(&Style { colour: false, width: 30 });
        assert_eq!(
            text,
            "n  why                       m\n1  a sentence of some        2\n   length that does not fit\n"
        );
        assert!(text.lines().all(|l| width(l) <= 30));
    }

    #[test]
    fn a_table_without_room_loses_its_bars_and_then_becomes_cards() {
        let mut table =
            Table::new(vec![Column::left("area"), Column::right("size"), Column::left(""), Column::left("device")]);
        table.row(["/dev/zram0".into(), "2.0 GiB".into(), Cell::bar(Some(0.5)), "compressed".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(80), "area           size              device\n/dev/zram0  2.0 GiB  #####.....  compressed\n");
        assert_eq!(draw(32), "area           size  device\n/dev/zram0  2.0 GiB  compressed\n");
        assert_eq!(draw(20), "/dev/zram0\n  size 2.0 GiB;\n  device compressed\n");
    }

    #[test]
    fn a_column_that_can_be_spared_goes_before_the_rows_become_cards() {
        let mut table = Table::new(vec![Column::left("area"), Column::right("size").spare(), Column::right("used")]);
        table.row(["/dev/zram0".into(), "2.0 GiB".into(), "1.0 GiB".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(80), "area           size     used\n/dev/zram0  2.0 GiB  1.0 GiB\n");
        assert_eq!(draw(20), "area           used\n/dev/zram0  1.0 GiB\n");
    }

    #[test]
    fn a_path_is_whole_where_there_is_room_and_loses_its_middle_where_there_is_not() {
        let mut table =
            Table::new(vec![Column::path("file").at_least(24), Column::right("size"), Column::left("users").spare()]);
        table.row(["/usr/lib/x86_64-linux-gnu/libcrypto.so.3".into(), "4.4 MiB".into(), "ramline".into()]);
        let row = |width| table.draw(&Style { colour: false, width }).lines().nth(1).unwrap_or_default().to_owned();
        assert_eq!(row(80), "/usr/lib/x86_64-linux-gnu/libcrypto.so.3  4.4 MiB  ramline");
        assert_eq!(row(44), "/usr/.../libcrypto.so.3     4.4 MiB  ramline");
        assert_eq!(row(38), "/usr/lib/.../libcrypto.so.3    4.4 MiB");
    }

    #[test]
    fn a_name_of_one_line_keeps_its_blanks_in_front_and_loses_its_end() {
        let mut table = Table::new(vec![Column::right("at"), Column::cut("step")]);
        table.row(["1 ns".into(), "    ext4_file_read_iter".into()]);
        let row = |width| table.draw(&Style { colour: false, width }).lines().nth(1).unwrap_or_default().to_owned();
        assert_eq!(row(80), "1 ns      ext4_file_read_iter");
        assert_eq!(row(20), "1 ns      ext4_fil..");
    }

    #[test]
    fn names_keep_their_room_while_columns_can_be_spared_and_rows_of_their_own_have_all_columns() {
        let mut table = Table::new(vec![
            Column::right("found"),
            Column::right("ahead").spare(),
            Column::wrapped("file").at_least(20),
        ]);
        table.row(["1".into(), "2".into(), "/a/name/of/20/columns".into()]);
        let draw = |table: &Table, width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(&table, 40), "found  ahead  file\n    1      2  /a/name/of/20/columns\n");
        assert_eq!(draw(&table, 28), "found  file\n    1  /a/name/of/20/columns\n");
        assert_eq!(draw(&table, 20), "found  file\n    1  /a/name/of/20\n       /columns\n");
        let mut whole = Table::new(vec![Column::right("found"), Column::right("ahead").spare(), Column::left("file")]);
        whole.row(["1".into(), "2".into(), "/a/name/of/20/columns".into()]);
        assert_eq!(draw(&whole, 26), "1\n  ahead 2; file\n  /a/name/of/20/columns\n");
    }

    #[test]
    fn a_bar_that_can_be_spared_itself_goes_in_its_turn() {
        let mut table = Table::new(vec![
            Column::right("share"),
            Column::left("").spare(),
            Column::right("more").spare(),
            Column::left("file"),
        ]);
        table.row(["50 %".into(), Cell::bar(Some(0.5)), "7".into(), "/a".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(29), "share              more  file\n 50 %  #####.....     7  /a\n");
        assert_eq!(draw(28), "share              file\n 50 %  #####.....  /a\n");
        assert_eq!(draw(22), "share  more  file\n 50 %     7  /a\n", "one that does not fit makes room for the next");
        assert_eq!(draw(16), "share  file\n 50 %  /a\n");
        assert_eq!(draw(9), "50 %\n  more 7;\n  file /a\n");
    }

    #[test]
    fn wide_characters_do_not_shift_the_columns_and_hostile_ones_are_written_out() {
        let mut table = Table::new(vec![Column::left(""), Column::right("")]);
        table.row(["メモリ".into(), "1".into()]);
        table.row(["a\u{1b}[2J".into(), "22".into()]);
        assert_eq!(table.draw(&Style::default()), "メモリ       1\na\\u{1b}[2J  22\n");
    }
}
