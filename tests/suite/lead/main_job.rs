//! A goal becomes a team that does it, and only the team that was agreed to.

use serde_json::{Value, json};

use super::scripts::*;
use crate::support::Bed;

#[test]
fn a_goal_becomes_tasks_that_a_team_completes() {
    let bed = Bed::git();
    let names = ["ann", "bob", "cas", "dan"];
    let lead = vec![
        turn(vec![proposal(&names)]),
        tasks(12),
        turn(names.iter().map(|name| spawn(name, None)).collect()),
        json!({"text": "They are at work."}),
    ];
    let done = run(&bed, &script_of(lead, workers(12)), &["--yes"]).expect_code(0);
    let result = done.json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(count(&bed, "completed"), 12, "{:?}", statuses(&bed));
    for task in bed.tasks() {
        let id = task["id"].as_str().unwrap();
        assert_eq!(bed.read(&format!("out/{id}.txt")), "done\n");
    }
    for name in names {
        assert_eq!(member(&bed, name)["status"], "stopped", "{name}");
    }
    bed.assert_no_process_left();
}

#[test]
fn nobody_is_started_without_the_persons_word() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![spawn("ann", None), spawn("zed", None)]),
        json!({"text": "I could not start anyone."}),
    ];
    let done = run(&bed, &script_of(lead, vec![]), &[]).expect_code(0);
    assert_eq!(done.json()["result"], "I could not start anyone.");
    assert_eq!(member(&bed, "ann"), Value::Null);
    let requests = bed.lead(&["status", "--json"]).json();
    assert_eq!(requests["teammates"], json!([]), "{requests:#}");
    bed.assert_no_process_left();
}

#[test]
fn a_proposal_covers_only_whom_it_names() {
    let bed = Bed::git();
    let other_role = json!({"name": "ann", "role": "tester", "prompt": "x"});
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![
            spawn("zed", None),
            tool("spawn_teammate", other_role),
            spawn("ANN", None),
            spawn("ann", None),
        ]),
        json!({"text": "over"}),
    ];
    let model = bed.script(&script_of(lead, vec![]));
    let mut args = goal(&model, &["--yes"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN).expect_code(0);
    let outputs: Vec<(bool, String)> = done
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["event"] == "tool_result")
        .map(|event| {
            (
                event["ok"] == json!(true),
                event["output"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    let ok: Vec<bool> = outputs.iter().map(|(ok, _)| *ok).collect();
    assert_eq!(ok, [true, false, false, true, false], "{outputs:#?}");
    assert!(outputs[1].1.contains("propose_team"), "{}", outputs[1].1);
    assert!(outputs[2].1.contains("coder"), "{}", outputs[2].1);
    assert!(outputs[4].1.contains("there already"), "{}", outputs[4].1);
    bed.assert_no_process_left();
}

#[test]
fn no_more_teammates_than_allowed_are_alive() {
    let bed = Bed::git();
    let lead = vec![
        turn(vec![proposal(&["ann", "bob", "cas"])]),
        turn(vec![
            spawn("ann", None),
            spawn("bob", None),
            spawn("cas", None),
        ]),
        json!({"text": "over"}),
    ];
    let model = bed.script(&script_of(lead, vec![]));
    let mut args = goal(&model, &["--yes", "--max-teammates", "2"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN).expect_code(0);
    assert!(done.stdout.contains("maxTeammates"), "{}", done.stdout);
    assert_eq!(member(&bed, "cas"), Value::Null);
    bed.assert_no_process_left();
}
