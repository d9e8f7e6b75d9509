//! Aligned columns of plain text.

use unicode_width::UnicodeWidthStr;

use super::safe::safe_line;
use super::shell;
use super::wrap::wrap;

/// Longest cell, in characters.
const MAX_CELL: usize = 120;
/// The least that the last column is squeezed into, in columns.
const LEAST: usize = 16;

/// Rows under a heading, columns aligned by the width that a terminal gives their characters. Cells are made safe here.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With its heading.
    pub fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|cell| cell.to_uppercase()).collect();
        Self {
            rows: vec![heading],
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: &[String; N]) {
        let cells = cells.iter().map(|cell| safe_line(cell, MAX_CELL)).collect();
        self.rows.push(cells);
    }

    /// Whether it has no row besides the heading.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The lines, the last column unpadded; empty without rows. On a terminal they keep to its width.
    pub fn lines(&self) -> Vec<String> {
        self.lines_within(shell::width())
    }

    /// What does not fit beside the other columns goes on beneath its own; where there is no room for that, each cell has a
    /// line.
    fn lines_within(&self, width: Option<usize>) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let widths = self.widths();
        let before: usize = widths[..widths.len() - 1]
            .iter()
            .map(|width| width + 2)
            .sum();
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(before));
        let last = widths[widths.len() - 1];
        if room < last.min(LEAST) {
            return self.cell_by_cell();
        }
        let rows = self.rows.iter();
        rows.flat_map(|row| row_within(row, &widths, room))
            .collect()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = 0..self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].width()).max();
        columns.map(|column| width(column).unwrap_or(0)).collect()
    }

    /// A paragraph for each row: cells that say nothing are left out.
    fn cell_by_cell(&self) -> Vec<String> {
        let heading = &self.rows[0];
        let mut lines = Vec::new();
        for row in &self.rows[1..] {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let cells = heading.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            lines
                .extend(cells.map(|(head, cell)| format!("{head} {cell}").trim_start().to_owned()));
        }
        lines
    }
}

fn row_within(row: &[String], widths: &[usize], room: usize) -> Vec<String> {
    let (last, cells) = row
        .split_last()
        .map_or(("", row), |(last, cells)| (last.as_str(), cells));
    let padded = cells.iter().zip(widths).map(|(cell, width)| {
        let pad = " ".repeat(width.saturating_sub(cell.width()));
        format!("{cell}{pad}  ")
    });
    let mut begin = padded.collect::<String>();
    let beneath = " ".repeat(begin.width());
    let parts = wrap(last, room).into_iter();
    parts
        .map(|part| {
            let begin = std::mem::replace(&mut begin, beneath.clone());
            format!("{begin}{part}").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_cells_cannot_break_out() {
        let mut table = Table::new(&["id", "what"]);
        table.row(&["漢字".into(), "a\u{1b}[2J".into()]);
        table.row(&["b".into(), "x\ny".into()]);
        assert_eq!(
            table.lines_within(None),
            ["ID    WHAT", "漢字  a␛", "b     x⏎y"]
        );
        assert!(Table::new(&["id"]).lines_within(None).is_empty());
    }

    #[test]
    fn a_narrow_terminal_gets_all_of_it_too() {
        let mut table = Table::new(&["id", "owner", "what"]);
        table.row(&[
            "task_1".into(),
            String::new(),
            "write the parser of dates".into(),
        ]);
        assert_eq!(
            table.lines_within(Some(31)),
            [
                "ID      OWNER  WHAT",
                "task_1         write the parser",
                "               of dates"
            ]
        );
        assert_eq!(
            table.lines_within(Some(30)),
            ["ID task_1", "WHAT write the parser of dates"]
        );
    }
}
