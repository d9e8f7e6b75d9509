//! Completion and history of the session's line editor, on a real pseudo-terminal.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{Bed, DEADLINE, Terminal, wait_until};

fn session(bed: &Bed) -> Terminal {
    let replies = json!([{ "text": "Heard." }, { "text": "Heard again." }]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &model]));
    terminal.wait_for("lead> ", DEADLINE);
    terminal
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

#[test]
fn tab_completes_commands_tasks_and_files() {
    let bed = Bed::new();
    let add = bed.lead(&["task", "add", "Write the parser"]);
    let id = add.expect_code(0).stdout.trim().to_owned();
    bed.write("source/main.rs", "");
    let mut terminal = session(&bed);
    terminal.send("/us\t");
    terminal.wait_for("/usage ", DEADLINE);
    terminal.send("\r");
    terminal.wait_for("nothing used yet", DEADLINE);
    terminal.send("/tasks \t");
    terminal.wait_for(&format!("/tasks {id}"), DEADLINE);
    terminal.send("\r");
    terminal.wait_for("Write the parser", DEADLINE);
    terminal.send("look at @so\t");
    terminal.wait_for("@source/", DEADLINE);
    terminal.send("m\t");
    terminal.wait_for("@source/main.rs", DEADLINE);
    terminal.send("\r");
    terminal.wait_for("Heard.", DEADLINE);
    leave(&bed, terminal);
}

#[test]
fn what_was_said_is_there_in_the_next_session_but_no_answer() {
    let bed = Bed::new();
    let replies = json!([
        { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
        { "text": "As you like." },
    ]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &model]));
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("make the tests pass");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    terminal.line("n not-to-be-kept");
    terminal.wait_for("As you like.", DEADLINE);
    leave(&bed, terminal);
    let file = bed.home().join(".config/pitcrew/history");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "make the tests pass\n/exit\n");

    let mut terminal = session(&bed);
    terminal.send("\u{1b}[A\u{1b}[A");
    wait_until("the line of the last session", DEADLINE, || {
        let text = terminal.plain();
        text.trim_end()
            .ends_with("make the tests pass")
            .then_some(())
    });
    terminal.send("\r");
    terminal.wait_for("Heard.", DEADLINE);
    leave(&bed, terminal);
}

#[test]
fn a_history_that_cannot_be_used_stops_nobody() {
    let bed = Bed::new();
    let file = bed.home().join(".config/pitcrew/history");
    std::fs::create_dir_all(&file).unwrap();
    leave(&bed, session(&bed));
    std::fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("/nowhere/to/be/found", &file).unwrap();
    leave(&bed, session(&bed));
}
