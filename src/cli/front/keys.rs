//! What the keys of the session's editor do besides typing.

use crossterm::event::{Event, KeyEvent};
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
/// The text goes into the person's own editor.
pub const VISUAL: &str = "visual";

/// The session's own keys, for `/help`.
pub const KEYS: [(&str, &str); 10] = [
    (
        "Enter",
        "send the line; while the lead works it waits for its next turn",
    ),
    (
        "Alt-Enter, Ctrl-J",
        "go on in another line; so does Enter after a \\",
    ),
    (
        "Ctrl-G",
        "write the text in your own editor, as does Ctrl-X Ctrl-E",
    ),
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
        (KeyModifiers::CONTROL, KeyCode::Char('j'), new_line()),
        (KeyModifiers::ALT, KeyCode::Enter, new_line()),
        (KeyModifiers::SHIFT, KeyCode::Enter, new_line()),
        (KeyModifiers::CONTROL, KeyCode::Char('g'), command(VISUAL)),
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

fn new_line() -> ReedlineEvent {
    ReedlineEvent::Edit(vec![EditCommand::InsertNewline])
}

/// The command with which `event` ends the reading of the line, if it may.
pub fn handed_over(event: &ReedlineEvent) -> Option<&str> {
    match event {
        ReedlineEvent::ExecuteHostCommand(command) => Some(command),
        ReedlineEvent::UntilFound(all) | ReedlineEvent::Multiple(all) => {
            all.iter().find_map(handed_over)
        }
        _ => None,
    }
}

/// Ctrl-G for Ctrl-E behind Ctrl-X; `begun`: Ctrl-X was the key before. Anything else is itself.
pub fn second_of_two(begun: &mut bool, event: Event) -> Event {
    let is = |wanted: char| {
        matches!(event, Event::Key(KeyEvent { code: KeyCode::Char(ch), modifiers: KeyModifiers::CONTROL, .. })
            if ch == wanted)
    };
    if std::mem::replace(begun, is('x')) && is('e') {
        Event::Key(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL))
    } else {
        event
    }
}

/// Of a key its character, if it is one without Ctrl or Alt; `None`: no key, and nothing pasted.
pub fn pressed(event: &Event) -> Option<Option<char>> {
    match event {
        Event::Key(key) => {
            let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
            Some(match key.code {
                KeyCode::Char(typed) if plain => Some(typed),
                _ => None,
            })
        }
        Event::Paste(_) => Some(None),
        _ => None,
    }
}
