//! What a killed lead left half done is told by the next one, and by `lead doctor`.

use serde_json::json;

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE};

#[test]
fn a_worktree_without_a_task_and_a_task_without_its_worktree_are_told() {
    let bed = Bed::git();
    drop(
        bed.lead(&["task", "add", "Config", "--worktree", "gone"])
            .expect_code(0),
    );
    std::fs::remove_dir_all(bed.root().join(".worktrees/gone")).unwrap();
    bed.run_git(&["worktree", "add", "-q", "-b", "wt/left", ".worktrees/left"]);
    bed.run_git(&["worktree", "add", "-q", "-b", "wt/half", ".worktrees/half"]);
    bed.write(".git/worktrees/half/locked", "initializing");
    let told = [
        "worktree left: no task is bound to it",
        "worktree half: no task is bound to it, and worktree half cannot be used: it is half made",
        "worktree gone cannot be used: ",
    ];

    let doctor = bed.lead(&["doctor"]).stdout;
    let model = bed.script(&script_of(vec![json!({"text": "Noted."})], vec![]));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.wait_for("worktree left", DEADLINE);
    lead.line("/worktrees");
    lead.wait_for("IN USE BY", DEADLINE);
    lead.line("what is there?");
    lead.wait_for("Noted.", DEADLINE);
    lead.line("/exit");
    let done = lead.wait(RUN).expect_code(1);
    let transcripts = bed.root().join(".team/state/transcripts");
    let transcript = std::fs::read_dir(transcripts).unwrap().next().unwrap();
    let before_the_model = std::fs::read_to_string(transcript.unwrap().path()).unwrap();
    for part in told {
        assert!(doctor.contains(part), "{part}: {doctor}");
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
        assert!(
            before_the_model.contains(part),
            "{part}: {before_the_model}"
        );
    }
}

#[test]
fn a_task_whose_worktree_is_broken_is_claimed_by_nobody() {
    let bed = Bed::git();
    drop(
        bed.lead(&["task", "add", "Config", "--worktree", "w"])
            .expect_code(0),
    );
    bed.run_git(&["-C", ".worktrees/w", "checkout", "-q", "-b", "other"]);
    let listed = bed.lead(&["task", "list", "--json"]).json();
    assert_eq!(listed[0]["ready"], false, "{listed:#}");
    let why = listed[0]["blockedReason"].as_str().unwrap();
    assert!(why.contains("it is on branch other, not wt/w"), "{why}");
    let lead = vec![
        turn(vec![proposal(&["ann"]), spawn("ann", None)]),
        turn(vec![spawn("ann", None)]),
        json!({"text": "Started."}),
    ];
    let others = vec![json!({"text": "Nothing to do."})];
    drop(run(&bed, &script_of(lead, others), &["--yes"]));
    assert_eq!(statuses(&bed), ["pending"]);
    assert_eq!(bed.tasks()[0]["attempts"], 0);
}
