//! What the keys of the session's editor do besides typing.

use reedline::{
    EditCommand, KeyCode, KeyModifiers, Keybindings, ReedlineEvent, default_emacs_keybindings,
};

use super::menu;

/// Ctrl-C, as the editor reports it.
pub const INTERRUPT: &str = "interrupt";
/// Esc where there was nothing to close.
pub const CUT: &str = "cut";
/// Shift+Tab where no menu is open.
pub const MODE: &str = "mode";

/// The session's own keys, for `/help`.
pub const KEYS: [(&str, &str); 9] = [
    (
        "Enter",
        "send the line; while the lead works it waits for its next turn",
    ),
    ("Ctrl-J", "go on in another line"),
    ("Tab", "complete a command, name, task, model, or @file"),
    ("Up, Down", "what you said before"),
    ("Ctrl-R", "search in what you said before"),
    ("Shift+Tab", "the next permission mode: ask, confirm, deny"),
    ("Esc", "close a list; else interrupt the lead's turn"),
    ("Ctrl-C", "clear the line; else interrupt; twice: leave"),
    ("Ctrl-D", "leave, on an empty line"),
];

/// The bindings of Emacs with the session's own.
///
/// Esc and Ctrl-C first close what is open. Esc does nothing else then: whoever closes a list does not want the turn cut.
pub fn bindings() -> Keybindings {
    let mut keys = default_emacs_keybindings();
    let command = |text: &str| ReedlineEvent::ExecuteHostCommand(text.to_owned());
    // Only an open menu takes `MenuPrevious`. A search of the history takes neither list but the `Esc` after it.
    let menu_or_cut = ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuPrevious, command(CUT)]);
    let bind = [
        (
            KeyModifiers::NONE,
            KeyCode::Esc,
            ReedlineEvent::UntilFound(vec![
                ReedlineEvent::Multiple(vec![menu_or_cut, ReedlineEvent::Esc]),
                ReedlineEvent::Esc,
            ]),
        ),
        (
            KeyModifiers::CONTROL,
            KeyCode::Char('c'),
            ReedlineEvent::UntilFound(vec![
                ReedlineEvent::Multiple(vec![ReedlineEvent::Esc, command(INTERRUPT)]),
                ReedlineEvent::Esc,
            ]),
        ),
        (
            KeyModifiers::CONTROL,
            KeyCode::Char('j'),
            ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
        ),
        (
            KeyModifiers::SHIFT,
            KeyCode::BackTab,
            ReedlineEvent::UntilFound(vec![ReedlineEvent::MenuPrevious, command(MODE)]),
        ),
        (
            KeyModifiers::NONE,
            KeyCode::Tab,
            ReedlineEvent::UntilFound(vec![
                ReedlineEvent::Menu(menu::NAME.to_owned()),
                ReedlineEvent::MenuNext,
            ]),
        ),
    ];
    for (modifiers, key, event) in bind {
        keys.add_binding(modifiers, key, event);
    }
    keys
}
