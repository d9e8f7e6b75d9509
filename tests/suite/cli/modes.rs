//! Shift+Tab: the permission mode changes for the lead and for teammates at work.

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Terminal, wait_until};

const SHIFT_TAB: &str = "\u{1b}[Z";

fn bash(command: &str) -> Value {
    json!({ "tools": [{ "name": "bash", "input": { "command": command } }] })
}

fn mode(bed: &Bed) -> Value {
    bed.json(".team/state/session.json").unwrap()["settings"]["permissions"]["mode"].clone()
}

#[track_caller]
fn wait_for_prompt(terminal: &mut Terminal, prompt: &str) {
    wait_until(prompt, DEADLINE, || {
        let rows = terminal.rows();
        rows.iter()
            .rfind(|row| !row.is_empty())?
            .starts_with(prompt)
            .then_some(())
    });
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

#[test]
fn the_mode_goes_round_and_never_into_bypass() {
    let bed = Bed::git();
    let replies = json!([bash("touch a"), { "text": "Heard." }]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let args = [
        "--model",
        &model,
        "--permissions",
        "bypass",
        "--sandbox",
        "preferred",
    ];
    let mut terminal = Terminal::start(bed.lead_command(&args));
    wait_for_prompt(&mut terminal, "lead (bypass)>");
    terminal.send("half a line");
    for (prompt, set) in [
        ("lead> half a line", "ask"),
        ("lead (confirm)> half a line", "confirm"),
        ("lead (deny)> half a line", "deny"),
        ("lead> half a line", "ask"),
        ("lead (confirm)> half a line", "confirm"),
    ] {
        terminal.send(SHIFT_TAB);
        wait_for_prompt(&mut terminal, prompt);
        assert_eq!(mode(&bed), set);
    }
    terminal.send("\r");
    terminal.wait_for("allow lead?", DEADLINE);
    terminal.line("d");
    terminal.wait_for("Heard.", DEADLINE);
    assert!(!bed.root().join("a").exists());
    leave(&bed, terminal);
}

#[test]
fn a_teammate_at_work_judges_by_the_new_mode_from_its_next_turn_on() {
    let bed = Bed::git();
    bed.write("kept", "");
    let lead = json!([
        { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "ann", "role": "coder" }], "rationale": "one" } }] },
        { "tools": [{ "name": "create_task", "input": { "subject": "Tidy" }, "as": "t" }] },
        { "tools": [{ "name": "spawn_teammate", "input": { "name": "ann", "role": "coder", "prompt": "Do it.", "task_id": "${t}" } }] },
        { "text": "She is at work." },
    ]);
    let ann = json!([
        bash("touch in; until [ -e go ]; do sleep 0.02; done"),
        bash("rm kept"),
        { "text": "tried." },
    ]);
    let model = bed.script(&json!({ "agents": { "lead": lead, "ann": ann } }));
    let args = ["--model", &model, "--yes", "--sandbox", "preferred"];
    let mut terminal = Terminal::start(bed.lead_command(&args));
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("go on");
    wait_until("she is in her tool", DEADLINE, || {
        terminal.seen();
        bed.root().join("in").exists().then_some(())
    });
    terminal.send(SHIFT_TAB);
    terminal.wait_for("permissions: confirm", DEADLINE);
    terminal.send(SHIFT_TAB);
    terminal.wait_for("permissions: deny", DEADLINE);
    bed.write("go", "");
    wait_until("she has tried", DEADLINE, || {
        terminal.seen();
        let path = bed.root().join(".team/state/transcripts/ann.jsonl");
        let said = std::fs::read_to_string(path).unwrap_or_default();
        said.contains("tried.").then_some(())
    });
    assert!(bed.root().join("kept").exists());
    assert!(
        !terminal.plain().contains("allow ann?"),
        "{}",
        terminal.plain()
    );
    leave(&bed, terminal);
}
