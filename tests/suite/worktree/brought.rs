//! Work in a worktree is told to the lead and brought into the workspace, where the settings let it by its model.

use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, Done};

/// ann adds `docs.md` in worktree `w` and commits it; then the lead calls `merge_worktree`.
fn run_it(bed: &Bed) -> (Done, Vec<Value>) {
    let mut lead = ann_in_worktree("w");
    lead.extend([
        json!({"when": "1 commit ahead", "tools": [tool("merge_worktree", json!({"name": "w"}))]}),
        json!({"text": "Brought in."}),
    ]);
    let work = tool(
        "bash",
        json!({"command": "echo docs > docs.md; git add -A; git commit -q -m 'add docs'"}),
    );
    let complete = tool("complete_task", json!({"task_id": "${task}"}));
    let others = vec![turn(vec![work, complete]), json!({"text": "Done."})];
    let model = bed.script(&script_of(lead, others));
    let mut args = goal(&model, &["--yes", "--trust"]);
    args[3] = "stream-json";
    let done = bed.start_lead(&args).wait(RUN);
    let events = done
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    (done, events)
}

/// What the lead's call of `merge_worktree` answered, and whether it succeeded.
fn answered(events: &[Value]) -> (bool, String) {
    let call = events
        .iter()
        .find(|event| event["event"] == "tool_use" && event["name"] == "merge_worktree")
        .unwrap();
    let result = events
        .iter()
        .find(|event| event["event"] == "tool_result" && event["id"] == call["id"])
        .unwrap();
    let text = result["output"].as_str().unwrap().to_owned();
    (result["ok"] == json!(true), text)
}

#[test]
fn the_leads_model_merges_where_the_settings_let_it() {
    let bed = Bed::git();
    bed.write(".team/team.json", "{\"mergeBy\": \"lead\"}");
    let (done, events) = run_it(&bed);
    drop(done.expect_code(0));
    let (ok, said) = answered(&events);
    assert!(ok, "{said}");
    assert!(said.contains("merged wt/w into main: 1 commit"), "{said}");
    assert_eq!(bed.read("docs.md"), "docs\n");
    assert_eq!(bed.run_git(&["status", "--porcelain"]), "?? .team/\n");
    bed.assert_no_process_left();
}

#[test]
fn without_that_setting_the_model_has_no_such_tool() {
    let bed = Bed::git();
    let (done, events) = run_it(&bed);
    drop(done.expect_code(0));
    let (ok, said) = answered(&events);
    assert!(!ok, "{said}");
    assert!(said.contains("there is no tool"), "{said}");
    assert!(!bed.root().join("docs.md").exists());
}
