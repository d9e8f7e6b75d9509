//! The completion menu, which says whether it is open: nothing is printed above the prompt then, since that would close it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    ColumnarMenu, Completer, Editor, Menu, MenuBuilder, MenuEvent, MenuSettings, Painter,
    Suggestion,
};

/// Its name, for the keys.
pub const NAME: &str = "completions";

/// Whether the menu is open, and what is told when it closes. Clones share it.
#[derive(Debug, Clone)]
pub struct Openness {
    open: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
}

impl Openness {
    /// Not open. `closed` becomes true whenever it closes.
    pub fn new(closed: Arc<AtomicBool>) -> Self {
        Self {
            open: Arc::default(),
            closed,
        }
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    fn set(&self, open: bool) {
        if self.open.swap(open, Ordering::AcqRel) != open {
            // What the editor was to give way for as it opened waits until it closes.
            self.closed.store(!open, Ordering::Release);
        }
    }
}

/// A menu in columns that keeps its [`Openness`] up to date.
pub struct Completions {
    columns: ColumnarMenu,
    openness: Openness,
}

impl Completions {
    /// Closed.
    pub fn new(openness: Openness) -> Self {
        openness.set(false);
        let columns = ColumnarMenu::default().with_name(NAME).with_marker("");
        Self { columns, openness }
    }

    /// With nothing to choose from there is nothing to see.
    fn close_if_empty(&mut self) {
        if self.get_values().is_empty() && !self.results_are_provisional() {
            self.set_active(false);
        }
    }
}

impl Menu for Completions {
    fn settings(&self) -> &MenuSettings {
        self.columns.settings()
    }

    fn is_active(&self) -> bool {
        self.columns.is_active()
    }

    fn set_active(&mut self, active: bool) {
        self.columns.set_active(active);
        self.openness.set(active);
    }

    fn clear_input(&mut self) {
        self.columns.clear_input();
    }

    fn menu_event(&mut self, event: MenuEvent) {
        self.columns.menu_event(event);
        self.openness.set(self.is_active());
    }

    fn can_quick_complete(&self) -> bool {
        self.columns.can_quick_complete()
    }

    fn can_partially_complete(
        &mut self,
        values_updated: bool,
        editor: &mut Editor,
        completer: &mut dyn Completer,
    ) -> bool {
        self.columns
            .can_partially_complete(values_updated, editor, completer)
    }

    fn update_values(&mut self, editor: &mut Editor, completer: &mut dyn Completer) {
        self.columns.update_values(editor, completer);
        self.close_if_empty();
    }

    fn reset_position(&mut self) {
        self.columns.reset_position();
    }

    fn update_working_details(
        &mut self,
        editor: &mut Editor,
        completer: &mut dyn Completer,
        painter: &Painter,
    ) {
        self.columns
            .update_working_details(editor, completer, painter);
        self.close_if_empty();
    }

    fn replace_in_buffer(&self, editor: &mut Editor) {
        self.columns.replace_in_buffer(editor);
    }

    fn menu_required_lines(&self, terminal_columns: u16) -> u16 {
        self.columns.menu_required_lines(terminal_columns)
    }

    fn menu_string(&self, available_lines: u16, use_ansi_coloring: bool) -> String {
        if self.get_values().is_empty() {
            return String::new();
        }
        self.columns.menu_string(available_lines, use_ansi_coloring)
    }

    fn min_rows(&self) -> u16 {
        self.columns.min_rows()
    }

    fn get_values(&self) -> &[Suggestion] {
        self.columns.get_values()
    }

    fn results_are_provisional(&self) -> bool {
        self.columns.results_are_provisional()
    }

    fn is_awaiting_first_answer(&self) -> bool {
        self.columns.is_awaiting_first_answer()
    }
}
