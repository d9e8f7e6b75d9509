//! What stands on the screen from the prompt's first row to the cursor, and how many rows that takes at another width.
//!
//! When the window changes the editor looks for the prompt's first row above the cursor, as far away as the rows would be
//! apart at the new width. That is right where a terminal breaks its rows anew. Where it does not, as xterm, the editor would
//! paint over what stands above. Which kind it is cannot be asked. So the cursor first goes down as many rows as there would
//! be more: nothing is painted over, at the price of an old row that may stay.

use std::sync::{Arc, Mutex, PoisonError};

use reedline::{Highlighter, StyledText};

use super::prompt::NEXT_ROW;
use crate::cli::wrap::styled;

/// What was painted last. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Painted(Arc<Mutex<Text>>);

#[derive(Debug, Default)]
struct Text {
    prompt: String,
    /// What is typed, up to the cursor.
    typed: String,
    /// How wide the window was.
    columns: usize,
}

impl Painted {
    /// The prompt, in a window of `columns`.
    pub fn prompt(&self, text: &str, columns: usize) {
        self.with(|painted| {
            text.clone_into(&mut painted.prompt);
            painted.columns = columns;
        });
    }

    /// The window has `columns` now: how many rows more there are up to the cursor if the terminal breaks them anew.
    pub fn rows_more(&self, columns: usize) -> usize {
        self.with(|painted| {
            let before = std::mem::replace(&mut painted.columns, columns);
            let before = painted.rows(before);
            painted.rows(columns).saturating_sub(before)
        })
    }

    fn with<T>(&self, what: impl FnOnce(&mut Text) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Text {
    /// The last row is the cursor's, which stands in the next one where a row is full.
    fn rows(&self, columns: usize) -> usize {
        if columns == 0 {
            return 0;
        }
        let typed = self.typed.replace('\n', &format!("\n{NEXT_ROW}"));
        let text = format!("{}{typed}", self.prompt);
        let lines = text.split('\n').map(styled::width);
        let (mut rows, mut last) = (0, 0);
        for line in lines {
            rows += line.div_ceil(columns).max(1);
            last = line;
        }
        rows + usize::from(last > 0 && last.is_multiple_of(columns))
    }
}

/// The editor shows what is typed as it is; it is heard of here.
impl Highlighter for Painted {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        self.with(|painted| {
            let typed = line.get(..cursor).unwrap_or(line);
            typed.clone_into(&mut painted.typed);
        });
        let mut text = StyledText::new();
        text.push((<_>::default(), line.to_owned()));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_as_a_terminal_breaks_them() {
        let painted = Painted::default();
        painted.prompt("\u{1b}[2m0123456789\u{1b}[0m\nlead> ", 20);
        painted.highlight("12345漢\nabc", 8);
        for (columns, more) in [(20, 0), (12, 1), (10, 0), (9, 1), (40, 0), (10, 1), (0, 0)] {
            assert_eq!(painted.rows_more(columns), more, "{columns}");
        }
    }
}
