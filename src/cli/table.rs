//! Aligned columns of plain text.

use unicode_width::UnicodeWidthStr;

use super::safe::safe_line;

/// Longest cell, in characters.
const MAX_CELL: usize = 120;

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

    /// The lines, the last column unpadded; empty without rows.
    pub fn lines(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let columns = self.rows[0].len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows
                    .iter()
                    .map(|row| row[column].width())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        self.rows
            .iter()
            .map(|row| {
                let cells = row.iter().zip(&widths).map(|(cell, width)| {
                    let pad = " ".repeat(width.saturating_sub(cell.width()));
                    format!("{cell}{pad}")
                });
                cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_cells_cannot_break_out() {
        let mut table = Table::new(&["id", "what"]);
        table.row(&["漢字".into(), "a\u{1b}[2J".into()]);
        table.row(&["b".into(), "x\ny".into()]);
        assert_eq!(table.lines(), ["ID    WHAT", "漢字  a␛", "b     x⏎y"]);
        assert!(Table::new(&["id"]).lines().is_empty());
    }
}
