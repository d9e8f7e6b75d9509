//! Answers from another terminal while a session runs.

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Running, wait_until};

/// A session whose teammate alice does `replies`; the team is accepted by itself, questions stay open.
fn session(bed: &Bed, require_plan: bool, replies: &Value) -> Running {
    let model = bed.script(&json!({ "agents": {
        "lead": [
            { "tools": [{ "name": "create_task", "input": { "subject": "Tidy up" }, "as": "t" }] },
            { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "alice", "role": "coder" }], "rationale": "enough" } }] },
            { "tools": [{ "name": "spawn_teammate", "input": {
                "name": "alice", "role": "coder", "prompt": "Go.", "task_id": "${t}", "require_plan": require_plan } }] },
            { "text": "Started." },
        ],
        "alice": replies,
    } }));
    let mut session = bed.start_lead(&["--model", &model]);
    session.line("go");
    session.wait_for("lead proposes a team", DEADLINE);
    session.line("y");
    session
}

fn pending(bed: &Bed, verb: &str) -> String {
    wait_until("an open request", DEADLINE, || {
        let list = bed.lead(&[verb, "list", "--json"]).expect_code(0).json();
        let open = list
            .as_array()?
            .iter()
            .find(|record| record["status"] == "pending")?;
        Some(open["request_id"].as_str()?.to_owned())
    })
}

#[test]
fn a_permission_is_given_from_another_terminal_once() {
    let bed = Bed::git();
    bed.write("junk.txt", "x");
    let session = session(
        &bed,
        false,
        &json!([
            { "tools": [{ "name": "bash", "input": { "command": "rm junk.txt" } }] },
            { "when": "it is junk", "tools": [{ "name": "complete_task", "input": { "task_id": "${task}" } }] },
            { "text": "Tidy." },
        ]),
    );
    let request = pending(&bed, "permission");
    session.wait_for("command: rm junk.txt", DEADLINE);
    assert!(bed.root().join("junk.txt").exists());
    bed.lead(&["plan", "approve", &request])
        .expect_code(1)
        .stderr
        .contains("permission")
        .then_some(())
        .unwrap();
    drop(
        bed.lead(&["permission", "allow", &request, "--reason", "it is junk"])
            .expect_code(0),
    );
    session.wait_for("permission for alice allowed by user: it is junk", DEADLINE);
    let again = bed.lead(&["permission", "deny", &request]).expect_code(1);
    assert!(again.stderr.contains(&request), "{}", again.stderr);
    session.wait_for("completed: Tidy up", DEADLINE);
    assert!(!bed.root().join("junk.txt").exists());
    let done = session.wait(DEADLINE).expect_code(0);
    assert_eq!(done.stderr, "");
    bed.assert_no_process_left();
}

#[test]
fn plans_are_rejected_and_approved_from_another_terminal() {
    let bed = Bed::git();
    let plan = |title: &str| json!({ "name": "submit_plan", "input": { "title": title, "steps": ["one"] } });
    let session = session(
        &bed,
        true,
        &json!([
            { "tools": [plan("first")] },
            { "when": "say more", "tools": [plan("second")] },
            { "tools": [
                { "name": "write_file", "input": { "path": "made.txt", "content": "made\n" } },
                { "name": "complete_task", "input": { "task_id": "${task}" } },
            ] },
            { "text": "Made." },
        ]),
    );
    let first = pending(&bed, "plan");
    drop(
        bed.lead(&["plan", "reject", &first, "--comment", "say more"])
            .expect_code(0),
    );
    session.wait_for("plan of alice rejected by user: say more", DEADLINE);
    let second = pending(&bed, "plan");
    assert_ne!(first, second);
    assert!(!bed.root().join("made.txt").exists());
    drop(bed.lead(&["plan", "approve", &second]).expect_code(0));
    session.wait_for("completed: Tidy up", DEADLINE);
    drop(session.wait(DEADLINE).expect_code(0));
    bed.assert_no_process_left();
}

#[test]
fn a_second_lead_is_refused_and_the_verbs_work_beside_the_first() {
    let bed = Bed::git();
    let model = bed.script(&json!({ "agents": { "lead": [] } }));
    let first = bed.start_lead(&["--model", &model]);
    first.wait_for("session ses_", DEADLINE);
    bed.lead(&["--model", &model, "-p", "go"])
        .expect_usage_error(&first.pid().to_string());
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["lead"]["alive"], true);
    assert_eq!(status["lead"]["pid"], first.pid());
    assert_eq!(status["lead"]["model"], model.as_str());
    let id = bed.lead(&["task", "add", "By hand"]).expect_code(0).stdout;
    first.wait_for(id.trim(), DEADLINE);
    drop(bed.lead(&["task", "cancel", id.trim()]).expect_code(0));
    drop(first.wait(DEADLINE).expect_code(0));
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["lead"]["alive"], false);
}
