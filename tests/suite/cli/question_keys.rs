//! Keys that end something, pressed where a question stands: what they end, and what stays open.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Terminal};

fn session(bed: &Bed, agents: &Value) -> Terminal {
    let model = bed.script(&json!({ "agents": agents }));
    let args = ["--model", &model, "--sandbox", "preferred"];
    let mut terminal = Terminal::sized(bed.lead_command(&args), 80, 24);
    terminal.wait_for("lead> ", DEADLINE);
    terminal
}

/// What was half typed is cleared, and the question stands there still.
#[track_caller]
fn ctrl_c_clears_only(terminal: &mut Terminal, prompt: &str) {
    terminal.wait_for_last_row(prompt);
    terminal.send("n but then");
    terminal.wait_for_last_row(&format!("{prompt} n but then"));
    terminal.send("\u{3}");
    terminal.wait_for_last_row(prompt);
}

fn open_requests(bed: &Bed, verb: &str) -> usize {
    let list = bed.lead(&[verb, "list", "--json"]).expect_code(0).json();
    let all = list.as_array().unwrap().iter();
    all.filter(|record| record["status"] == "pending").count()
}

/// The lead's own question goes with the turn that asked it, by Esc or Ctrl-C; Ctrl-D leaves.
#[test]
fn a_question_of_the_lead_goes_with_its_turn() {
    let bed = Bed::git();
    bed.write("kept", "");
    let team = json!({ "members": [{ "name": "bob", "role": "coder" }], "rationale": "enough" });
    let remove = || json!({ "tools": [{ "name": "bash", "input": { "command": "rm kept" } }] });
    let propose = || json!({ "tools": [{ "name": "propose_team", "input": team }] });
    let agents = json!({ "lead": [propose(), remove(), propose(), remove()] });
    let mut terminal = session(&bed, &agents);
    for (key, prompt) in [
        ("\u{1b}", "team? [y/n]"),
        ("\u{1b}", "allow lead? [a/A/d/D]"),
        ("\u{3}", "team? [y/n]"),
    ] {
        terminal.line("go on");
        ctrl_c_clears_only(&mut terminal, prompt);
        terminal.send(key);
        terminal.wait_for_last_row("lead>");
        assert_eq!(open_requests(&bed, "permission"), 0);
    }
    terminal.line("go on");
    ctrl_c_clears_only(&mut terminal, "allow lead? [a/A/d/D]");
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    assert!(bed.root().join("kept").exists());
    bed.assert_no_process_left();
}

/// A teammate's question outlives what ends the lead's turn, and a lead that was killed; Ctrl-D leaves.
#[test]
fn a_question_of_a_teammate_outlives_the_leads_turn_and_the_lead() {
    let bed = Bed::git();
    let agents = json!({
        "lead": [
            { "tools": [{ "name": "create_task", "input": { "subject": "Tidy up" }, "as": "t" }] },
            { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "alice", "role": "coder" }], "rationale": "enough" } }] },
            { "tools": [{ "name": "spawn_teammate", "input": {
                "name": "alice", "role": "coder", "prompt": "Go.", "task_id": "${t}", "require_plan": true } }] },
            { "delay_ms": 600_000, "text": "Started." },
        ],
        "alice": [
            { "tools": [{ "name": "submit_plan", "input": { "title": "first", "steps": ["one"] } }] },
            { "text": "Done." },
        ],
    });
    let mut terminal = session(&bed, &agents);
    terminal.line("go on");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    terminal.line("y");
    let prompt = "plan of alice? [y/n]";
    ctrl_c_clears_only(&mut terminal, prompt);
    terminal.send("\u{1b}");
    terminal.wait_for("interrupted", DEADLINE);
    terminal.wait_for_last_row(prompt);
    assert_eq!(open_requests(&bed, "plan"), 1);
    terminal.send("\u{3}");
    terminal.wait_for("press Ctrl-C again to leave", DEADLINE);
    terminal.wait_for_last_row(prompt);
    let pid = bed.json(".team/state/session.json").unwrap()["pid"]
        .as_i64()
        .unwrap();
    kill(Pid::from_raw(pid.try_into().unwrap()), Signal::SIGKILL).unwrap();
    terminal.wait(DEADLINE);
    let mut terminal = session(&bed, &agents);
    terminal.wait_for("teammates that live, taken over: alice", DEADLINE);
    ctrl_c_clears_only(&mut terminal, prompt);
    let seen = terminal.plain();
    assert!(seen.contains(" Tidy up (req_"), "{seen}");
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}
