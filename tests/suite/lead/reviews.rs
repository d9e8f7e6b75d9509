//! Plans that the lead's model decides on, where the settings say so (SPEC §8.3).

use serde_json::{Value, json};

use crate::support::job::bed_for;
use crate::support::model_server::{Answer, Ask, ModelServer};

/// The lead: one task, one teammate that must plan; the first plan is sent back, the second may go ahead.
fn lead(ask: &Ask) -> Answer {
    let newest = ask.newest();
    if let Some((_, rest)) = newest.rsplit_once("request_id req_") {
        let id = format!("req_{}", &rest[..8]);
        let first = newest.contains("too quick");
        let mut review = json!({"request_id": id, "approve": !first});
        if first {
            review["feedback"] = json!("look before you leap");
        }
        return Answer::call("review_plan", review);
    }
    match ask.step() {
        0 => {
            let member = json!({"name": "ann", "role": "writer"});
            Answer::call(
                "create_task",
                json!({"subject": "Write it", "assignee": "ann"}),
            )
            .and(
                "propose_team",
                json!({"members": [member], "rationale": "one is enough"}),
            )
        }
        1 => Answer::call(
            "spawn_teammate",
            json!({"name": "ann", "role": "writer", "prompt": "Be careful.", "require_plan": true}),
        ),
        _ => Answer::say("Noted."),
    }
}

fn ann(ask: &Ask) -> Answer {
    let plan = |title: &str| {
        Answer::call(
            "submit_plan",
            json!({"title": title, "steps": ["look", "write"]}),
        )
    };
    let results = ask.results();
    let answered = results.first().map(|(text, _)| text.as_str());
    match answered {
        Some(text) if text.contains("look before you leap") => plan("slowly"),
        Some(text) if text.contains("was approved") => Answer::call(
            "write_file",
            json!({"path": "made.txt", "content": "made\n"}),
        ),
        Some(text) if text.contains("made.txt") => {
            let id = ask.assigned_task().unwrap();
            Answer::call("complete_task", json!({ "task_id": id }))
        }
        None if ask.newest().contains("[Assignment]") => plan("too quick"),
        _ => Answer::say("Done."),
    }
}

#[test]
fn the_leads_model_sends_one_plan_back_and_lets_the_next_go_ahead() {
    let server = ModelServer::start(|ask| {
        if ask.agent == "lead" {
            lead(ask)
        } else {
            ann(ask)
        }
    });
    let bed = bed_for(&server);
    let own = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&own, r#"{"planReview": "lead"}"#);
    let args = [
        "-p",
        "go",
        "--yes",
        "--output-format",
        "json",
        "--model",
        "anthropic:instant",
    ];
    let result = bed.lead(&args).expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(bed.read("made.txt"), "made\n");
    let plans = bed.lead(&["plan", "list", "--json"]).expect_code(0).json();
    let decided: Vec<(&Value, &Value, &Value)> = plans
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| (&plan["target"], &plan["decided_by"], &plan["status"]))
        .collect();
    let lead = json!("lead");
    assert_eq!(
        decided,
        [
            (&lead, &lead, &json!("rejected")),
            (&lead, &lead, &json!("approved"))
        ]
    );
    server.assert_valid();
    bed.assert_no_process_left();
}
