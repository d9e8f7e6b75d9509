//! A worktree stays as long as an agent works in it, also when its task is completed already.

use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, wait_until};

fn listed(bed: &Bed) -> Value {
    bed.lead(&["worktree", "list", "--json"])
        .expect_code(0)
        .json()[0]
        .clone()
}

#[test]
fn it_is_in_use_until_the_round_ends() {
    let bed = Bed::git();
    let lead = ann_in_worktree("w");
    let bash = |command: &str| tool("bash", json!({ "command": command }));
    let wait_for = |name: &str| bash(&format!("while [ ! -e {name} ]; do sleep 0.02; done"));
    let others = vec![
        turn(vec![
            wait_for("first"),
            tool("complete_task", json!({"task_id": "${task}"})),
            wait_for("second"),
        ]),
        json!({"text": "Done."}),
    ];
    let model = bed.script(&script_of(lead, others));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    let remove = ["worktree", "remove", "w", "--discard-changes"];

    // Its task is claimed before its process is there.
    wait_until("ann works there", DEADLINE, || {
        let is_hers = statuses(&bed) == ["in_progress"] && listed(&bed)["inUseBy"] == "ann";
        is_hers.then_some(())
    });
    let said = bed.lead(&remove).expect_code(1).stderr;
    assert!(said.contains("bound to it and in progress"), "{said}");

    bed.write(".worktrees/w/first", "");
    wait_until("the task is completed", DEADLINE, || {
        let member = member(&bed, "ann");
        (statuses(&bed) == ["completed"] && member["task"] == Value::Null).then_some(())
    });
    let now = listed(&bed);
    assert_eq!(
        (&now["inUse"], &now["inUseBy"]),
        (&json!(true), &json!("ann"))
    );
    let said = bed.lead(&remove).expect_code(1).stderr;
    assert!(said.contains("ann still works in it"), "{said}");

    bed.write(".worktrees/w/second", "");
    drop(running.wait(RUN).expect_code(0));
    assert_eq!(listed(&bed)["inUse"], false);
    drop(bed.lead(&remove).expect_code(0));
    bed.assert_no_process_left();
}
