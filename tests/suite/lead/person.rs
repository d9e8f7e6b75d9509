//! The person answers, speaks, and stops.

use serde_json::{Value, json};

use super::scripts::*;
use crate::support::{Bed, DEADLINE, wait_until};

#[test]
fn piped_answers_are_read_one_question_at_a_time() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![proposal(&["ann", "bob"])]),
        tasks(2),
        turn(vec![spawn("ann", Some("t1")), spawn("bob", Some("t2"))]),
        json!({"text": "started"}),
    ];
    let model = bed.script(&script_of(lead, workers(2)));
    let done = bed.lead_fed(&["--model", &model], "go\nno, take two\ny\n");
    let done = done.expect_code(0);
    assert!(done.stdout.contains("take two"), "{}", done.stdout);
    assert_eq!(count(&bed, "completed"), 2, "{}", done.stdout);
    bed.assert_no_process_left();
}

/// A lead that starts `ann` with its first task.
fn leads_ann(more: &Value) -> Vec<Value> {
    let mut start = spawn("ann", Some("t1"));
    for (key, value) in more.as_object().unwrap() {
        start["input"][key] = value.clone();
    }
    vec![
        turn(vec![proposal(&["ann"])]),
        tasks(1),
        turn(vec![start]),
        json!({"text": "ann is at work."}),
    ]
}

fn plan(title: &str) -> Value {
    turn(vec![tool(
        "submit_plan",
        json!({"title": title, "steps": ["look", "write"], "rationale": "it is small"}),
    )])
}

/// Waits for a pending request of that kind and gives its id.
fn pending(bed: &Bed, kind: &str) -> String {
    wait_until(&format!("a pending {kind}"), DEADLINE, || {
        let dir = bed.root().join(".team/state/requests");
        std::fs::read_dir(dir).ok()?.flatten().find_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let record = bed.json(&format!(".team/state/requests/{name}"))?;
            let open = record["type"] == kind && record["status"] == "pending";
            open.then(|| record["request_id"].as_str().map(str::to_owned))?
        })
    })
}

fn request(bed: &Bed, id: &str) -> Value {
    bed.json(&format!(".team/state/requests/{id}.json"))
        .unwrap()
}

#[test]
fn a_plan_is_rejected_with_a_comment_and_approved_the_second_time() {
    let bed = Bed::git();
    let mut ann = vec![
        turn(vec![tool(
            "write_file",
            json!({"path": "early.txt", "content": "x"}),
        )]),
        plan("First thought"),
        plan("Second thought"),
    ];
    ann.extend(workers(1));
    let model = bed.script(&script_of(leads_ann(&json!({"require_plan": true})), ann));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("ann", DEADLINE);
    lead.line("y");
    let first = pending(&bed, "plan_approval");
    lead.wait_for("First thought", DEADLINE);
    lead.line("no, think again");
    wait_until("the first is rejected", DEADLINE, || {
        (request(&bed, &first)["status"] == "rejected").then_some(())
    });
    assert_eq!(request(&bed, &first)["feedback"], "think again");
    let second = pending(&bed, "plan_approval");
    lead.wait_for("Second thought", DEADLINE);
    lead.line("y");
    let done = lead.wait(RUN).expect_code(0);
    assert_eq!(request(&bed, &second)["status"], "approved");
    assert_eq!(request(&bed, &second)["decided_by"], "user");
    assert_eq!(count(&bed, "completed"), 1, "{}", done.stdout);
    assert!(!bed.root().join("early.txt").exists());
    bed.assert_no_process_left();
}

#[test]
fn a_plan_approved_in_another_terminal_closes_the_question_here() {
    let bed = Bed::git();
    let mut ann = vec![plan("The thought")];
    ann.extend(workers(1));
    let model = bed.script(&script_of(leads_ann(&json!({"require_plan": true})), ann));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("ann", DEADLINE);
    lead.line("y");
    let id = pending(&bed, "plan_approval");
    lead.wait_for("The thought", DEADLINE);
    drop(
        bed.lead(&["plan", "approve", &id, "--comment", "from afar"])
            .expect_code(0),
    );
    wait_until("the task is done", DEADLINE, || {
        (count(&bed, "completed") == 1).then_some(())
    });
    lead.wait_for("from afar", DEADLINE);
    drop(lead.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}

#[test]
fn where_input_has_ended_a_plan_is_refused_and_the_run_ends() {
    let bed = Bed::git();
    let ann = (0..6).map(|_| plan("A thought")).collect();
    let model = bed.script(&script_of(leads_ann(&json!({"require_plan": true})), ann));
    let done = bed.lead_fed(&["--model", &model], "go\ny\n").expect_code(1);
    assert!(done.stdout.contains("nobody"), "{}", done.stdout);
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
}

#[test]
fn a_dangerous_command_waits_for_the_persons_answer() {
    for (answer, gone) in [
        ("a go on", true),
        ("d not that one", false),
        ("what?", false),
    ] {
        let bed = Bed::git().with_env("ANTHROPIC_API_KEY", "a-key-of-hers");
        bed.write("precious.txt", "gold\n");
        let notify =
            "echo \"$PITCREW_FROM $PITCREW_QUESTION ${ANTHROPIC_API_KEY-no key}\" >> ~/asked";
        bed.put(
            &bed.home().join(".config/pitcrew/settings.json"),
            &json!({ "notify": notify }).to_string(),
        );
        let mut ann = vec![turn(vec![tool(
            "bash",
            json!({"command": "rm precious.txt"}),
        )])];
        ann.extend(workers(1));
        let model = bed.script(&script_of(leads_ann(&json!({})), ann));
        let mut lead = bed.start_lead(&["--model", &model]);
        lead.line("go");
        lead.wait_for("ann", DEADLINE);
        lead.line("y");
        let id = pending(&bed, "permission");
        lead.wait_for("rm precious.txt", DEADLINE);
        let notified = "ann ann asks for permission: bash rm precious.txt no key\n";
        wait_until("the person's command", DEADLINE, || {
            let asked = std::fs::read_to_string(bed.home().join("asked")).unwrap_or_default();
            asked.ends_with(notified).then_some(())
        });
        lead.line(answer);
        let done = lead.wait(RUN).expect_code(0);
        let status = if gone { "allowed" } else { "denied" };
        assert_eq!(request(&bed, &id)["status"], status, "{}", done.stdout);
        assert_eq!(!bed.root().join("precious.txt").exists(), gone);
        assert_eq!(count(&bed, "completed"), 1, "{}", done.stdout);
        bed.assert_no_process_left();
    }
}

#[test]
fn headless_a_dangerous_command_is_denied_and_the_work_goes_on() {
    let bed = Bed::git();
    bed.write("precious.txt", "gold\n");
    let mut ann = vec![turn(vec![tool(
        "bash",
        json!({"command": "rm precious.txt"}),
    )])];
    ann.extend(workers(1));
    let script = script_of(leads_ann(&json!({})), ann);
    drop(run(&bed, &script, &["--yes"]).expect_code(0));
    assert_eq!(bed.read("precious.txt"), "gold\n");
    assert_eq!(count(&bed, "completed"), 1);
    bed.assert_no_process_left();
}

#[test]
fn the_person_speaks_to_a_teammate_runs_commands_and_ends_processes() {
    let bed = Bed::git();
    let mut lead = leads_ann(&json!({}));
    lead.push(json!({"when": "heard you", "text": "ann heard."}));
    let ann = vec![
        json!({"when": "louder", "text": "I heard you."}),
        turn(vec![tool(
            "bash",
            json!({"command": "touch in; sleep 600"}),
        )]),
        json!({"text": "cut"}),
    ];
    let model = bed.script(&json!({"agents": {"lead": lead, "ann": ann}}));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("ann", DEADLINE);
    lead.line("y");
    bed.wait_for("in");
    lead.wait_for("ann is at work.", DEADLINE);
    lead.line("!echo shell-$((40+2))");
    lead.wait_for("shell-42", DEADLINE);
    lead.line("/taem");
    lead.wait_for("/team", DEADLINE);
    lead.line("@ann louder");
    lead.line("/team interrupt ann");
    lead.wait_for("I heard you.", DEADLINE);
    lead.line("/team kill ann");
    wait_until_all_are_gone(&bed);
    lead.line("/exit");
    drop(lead.wait(RUN).expect_code(1));
    assert_eq!(statuses(&bed), ["pending"]);
    bed.assert_no_process_left();
}

#[test]
fn a_teammate_that_was_asked_to_stop_says_farewell_and_frees_its_place() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann", "bob"])]),
        turn(vec![spawn("ann", None)]),
        turn(vec![tool("request_shutdown", json!({"teammate": "ann"}))]),
        json!({"when": "(farewell)", "tools": [spawn("bob", None)]}),
        json!({"text": "waiting for the farewell"}),
        json!({"text": "bob is there"}),
    ];
    let script = json!({"agents": {"lead": lead, "*": [
        json!({"when": "asked to stop", "text": "Goodbye from the heart."}),
        json!({"text": "I am ready."}),
    ]}});
    let model = bed.script(&script);
    let mut args = goal(&model, &["--yes", "--max-teammates", "1"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN).expect_code(0);
    assert!(
        done.stdout.contains("Goodbye from the heart."),
        "{}",
        done.stdout
    );
    assert_eq!(member(&bed, "ann")["status"], "stopped");
    assert_eq!(member(&bed, "bob")["status"], "stopped", "{}", done.stdout);
    bed.assert_no_process_left();
}

#[test]
fn the_leads_wish_for_a_plan_is_heard_once() {
    let bed = Bed::git();
    let wish = json!({"teammate": "ann", "task": "show me how"});
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![spawn("ann", None)]),
        turn(vec![tool("request_plan", wish)]),
        json!({"text": "asked"}),
    ];
    let model = bed.script(&json!({"agents": {"lead": lead, "*": [{"text": "I am ready."}]}}));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("go");
    lead.wait_for("ann", DEADLINE);
    lead.line("y");
    let heard = || {
        let status = bed.lead(&["status", "--json"]).expect_code(0).json();
        let gate = &status["teammates"][0]["planGate"];
        let open = status["requests"].as_array().unwrap();
        (gate == "required" && open.is_empty()).then_some(())
    };
    wait_until("ann's gate is closed", DEADLINE, heard);
    lead.line("/exit");
    drop(lead.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}
