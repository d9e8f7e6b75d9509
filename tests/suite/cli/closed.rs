//! A terminal that is closed while a session has it, and the signal that tells of it is ignored.

use serde_json::{Value, json};

use crate::support::bed::lead_binary;
use crate::support::program::write_program;
use crate::support::{Bed, DEADLINE, Terminal};

/// As beneath `nohup`. The shell takes the signals with which the terminal's end ends what ran on it.
const IGNORING: &str = "trap '' HUP; \"$@\"; exit";

fn start(bed: &Bed, replies: &Value) -> Terminal {
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut command = bed.command("/bin/sh");
    command.args(["-c", IGNORING, "sh"]).arg(lead_binary());
    command.args(["--model", &model]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("lead> ", DEADLINE);
    terminal
}

/// It would read in a loop for ever.
#[track_caller]
fn ends_when_closed(bed: &Bed, terminal: Terminal) {
    drop(terminal);
    bed.assert_no_process_left();
}

#[test]
fn a_session_with_a_half_typed_line_ends() {
    let bed = Bed::new();
    let mut terminal = start(&bed, &json!([]));
    terminal.send("half a li");
    terminal.wait_for("half a li", DEADLINE);
    ends_when_closed(&bed, terminal);
}

#[test]
fn a_session_ends_in_the_middle_of_a_round() {
    let bed = Bed::new();
    let look = json!({ "text": "I look.", "tools": [{ "name": "list_tasks", "input": {} }] });
    let mut terminal = start(
        &bed,
        &json!([look, { "delay_ms": 600_000, "text": "Late." }]),
    );
    terminal.line("go");
    terminal.wait_for("I look.", DEADLINE);
    ends_when_closed(&bed, terminal);
}

#[test]
fn a_session_with_an_open_question_ends() {
    let bed = Bed::new();
    let member = json!([{ "name": "ann", "role": "coder" }]);
    let proposal = json!({ "members": member, "rationale": "one is enough" });
    let ask = json!([{ "tools": [{ "name": "propose_team", "input": proposal }] }]);
    let mut terminal = start(&bed, &ask);
    terminal.line("go");
    terminal.wait_for("one is enough", DEADLINE);
    ends_when_closed(&bed, terminal);
}

#[test]
fn a_session_and_the_person_s_own_editor_end() {
    let bed = Bed::new();
    let path = bed.outside("editor");
    write_program(&path, "#!/bin/sh\necho EDITOR OPENS\nsleep 600\n");
    let bed = bed.with_env("VISUAL", format!("'{}'", path.display()));
    let mut terminal = start(&bed, &json!([]));
    terminal.send("\u{7}");
    terminal.wait_for("EDITOR OPENS", DEADLINE);
    ends_when_closed(&bed, terminal);
}
