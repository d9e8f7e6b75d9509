//! Rounds, mail and tasks (SPEC §5.3, §5.4, §4.4).

use pitcrew::ids::TaskId;
use pitcrew::mailbox::Kind;
use serde_json::json;

use super::played::Played;
use super::{bash, complete, says, tool, turn};
use crate::support::agent::Agent;
use crate::support::{DEADLINE, wait_until};

#[test]
fn without_prompt_and_task_no_model_is_called() {
    let lead = Played::new(&json!([says("hello")]));
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    lead.send(Kind::StatusUpdate, "for your information");
    lead.bed.write("README.md", "changed\n");
    let id = lead.task("Now there is work");
    lead.wait_for_task(&id, "in_progress");
    let told = wait_until("it is told", DEADLINE, || {
        let told = lead.told();
        told.iter()
            .any(|text| text.starts_with("[Assignment]"))
            .then_some(told)
    });
    // What does not start a round joins the next one.
    assert!(told[0].contains("status update from lead"), "{told:?}");
    assert!(told[1].contains("The description of Now there is work."));
    let last = told[1]
        .split(|ch: char| !ch.is_ascii_alphanumeric() && ch != '_')
        .rfind(|word| TaskId::parse(word).is_ok());
    assert_eq!(last, Some(id.as_str()));
}

#[test]
fn tasks_are_claimed_one_after_another_and_idle_is_said_once() {
    let lead = Played::new(&json!([complete(), says("one"), complete(), says("two")]));
    let first = lead.task("First");
    let second = lead.task("Second");
    let _alice = lead.start(&[]);
    lead.wait_for_task(&second, "completed");
    lead.wait_for_task(&first, "completed");
    let idle = lead.letter(&Kind::IdleNotification, 1);
    assert_eq!(idle.meta("reason"), Some("done"));
    assert_eq!(idle.meta("outcome"), Some("completed"));
    assert_eq!(idle.meta("task_id"), Some(second.as_str()));
    lead.wait_for_status("idle");
    let kinds: Vec<Kind> = lead
        .mail()
        .into_iter()
        .map(|message| message.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Kind::TaskNotification,
            Kind::Result,
            Kind::TaskNotification,
            Kind::Result,
            Kind::IdleNotification
        ]
    );
    assert_eq!(lead.member()["task"], json!(null));
}

#[test]
fn a_task_given_at_the_start_is_told_with_the_prompt_before_it() {
    let lead = Played::new(&json!([complete(), says("done")]));
    let id = lead.task("Mine");
    let _alice = lead.start(&["--prompt", "You are careful.", "--task", id.as_str()]);
    let result = lead.letter(&Kind::Result, 1);
    assert_eq!(result.content, "done");
    assert_eq!(result.meta("task_id"), Some(id.as_str()));
    let told = lead.told();
    assert_eq!(told[0], "You are careful.");
    assert!(told[1].starts_with("[Assignment]"));
}

#[test]
fn messages_that_wait_together_make_one_round_after_the_tools() {
    let lead = Played::new(&json!([
        bash("until [ -e go ]; do sleep 0.01; done"),
        complete(),
        says("ok")
    ]));
    let id = lead.task("Slow");
    let _alice = lead.start(&[]);
    lead.wait_for_task(&id, "in_progress");
    lead.send(Kind::Message, "use B");
    lead.send(Kind::Instruction, "and be quick");
    lead.bed.write("go", "");
    lead.letter(&Kind::Result, 1);
    let shape: Vec<String> = lead
        .transcript()
        .iter()
        .map(|record| record["type"].as_str().unwrap().to_owned())
        .filter(|kind| ["user", "result", "assistant"].contains(&kind.as_str()))
        .collect();
    assert_eq!(
        shape,
        [
            "user",
            "assistant",
            "result",
            "user",
            "assistant",
            "result",
            "assistant"
        ]
    );
    let mail = &lead.told()[1];
    assert!(mail.starts_with("[Messages]"), "{mail}");
    assert!(mail.contains("use B") && mail.contains("and be quick"));
}

#[test]
fn an_open_task_is_reminded_of_and_then_goes_back_as_a_failed_attempt() {
    let lead = Played::new(&json!([says("half"), says("I cannot")]));
    let id = lead.task("Hard");
    let _alice = lead.start(&[]);
    let released = lead.letter(&Kind::TaskNotification, 1);
    assert_eq!(released.meta("change"), Some("released"));
    assert!(lead.told()[1].contains("still open"), "{:?}", lead.told());
    let result = lead.letter(&Kind::Result, 1);
    assert_eq!(result.content, "half\n\nI cannot");
    // The script is used up: two more attempts end the same way.
    let exhausted = lead.letter(&Kind::TaskNotification, 3);
    assert_eq!(exhausted.meta("change"), Some("exhausted"));
    let idle = lead.letter(&Kind::IdleNotification, 1);
    assert_eq!(idle.meta("reason"), Some("blocked"));
    let task = lead.on_board(&id);
    assert_eq!(task["status"], "pending");
    assert_eq!(task["attempts"], 3);
}

#[test]
fn who_asked_a_question_keeps_its_task_until_the_answer() {
    let ask = json!({"to": "lead", "content": "which one?", "type": "question"});
    let lead = Played::new(&json!([
        turn(&[tool("send_message", &ask)]),
        says("I wait."),
        complete(),
        says("done")
    ]));
    let id = lead.task("Unclear");
    let _alice = lead.start(&[]);
    let idle = lead.letter(&Kind::IdleNotification, 1);
    assert_eq!(idle.meta("reason"), Some("waiting"));
    assert_eq!(lead.on_board(&id)["status"], "in_progress");
    lead.send(Kind::Message, "the second");
    lead.wait_for_task(&id, "completed");
}

#[test]
fn a_second_process_of_the_same_name_is_refused() {
    let lead = Played::new(&json!([]));
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    let second = lead.start(&[]).wait(DEADLINE);
    second.expect_usage_error("alice is running already");
}

#[test]
fn a_killed_teammate_goes_on_where_it_was() {
    let lead = Played::new(&json!([
        bash("touch begun; sleep 600"),
        complete(),
        says("done after all")
    ]));
    let id = lead.task("Long");
    let started_with = ["--prompt", "Begin.", "--task", id.as_str()];
    let alice = lead.start(&started_with);
    wait_until("the tool runs", DEADLINE, || {
        lead.bed.root().join("begun").exists().then_some(())
    });
    alice.signal(nix::sys::signal::Signal::SIGKILL);
    drop(alice);
    assert_eq!(lead.on_board(&id)["status"], "in_progress");
    let _alice = lead.start(&started_with);
    assert_eq!(lead.letter(&Kind::Result, 1).content, "done after all");
    assert_eq!(lead.on_board(&id)["status"], "completed");
    let results = lead.results();
    assert!(results[0].contains("may have had effects"), "{results:?}");
    let told = lead.told();
    let count = |part: &str| told.iter().filter(|text| text.contains(part)).count();
    assert_eq!((count("Begin."), count("[Assignment]")), (1, 1), "{told:?}");
}

#[test]
fn a_server_that_refuses_for_good_ends_it_and_frees_its_task() {
    let lead = Played::new(&json!([{"error": {"status": 401, "message": "bad key"}}]));
    let id = lead.task("Never");
    let alice = lead.start(&[]);
    let done = alice.wait(DEADLINE).expect_code(1);
    assert!(done.stderr.contains("bad key"), "{}", done.stderr);
    assert_eq!(lead.member()["status"], "failed");
    assert_eq!(lead.on_board(&id)["status"], "pending");
    let report = lead.letter(&Kind::ErrorReport, 1);
    assert!(report.content.contains("bad key"));
}

#[test]
fn a_model_that_cannot_be_opened_is_a_failure_for_good() {
    let lead = Played::new(&json!([]));
    let done = lead
        .start(&["--model", "script:/nowhere.json"])
        .wait(DEADLINE);
    let done = done.expect_code(1);
    assert!(done.stderr.contains("/nowhere.json"), "{}", done.stderr);
    assert_eq!(lead.member()["status"], "failed");
}

#[test]
fn who_comes_back_to_a_worktree_that_is_on_another_branch_goes_back_and_goes_on() {
    let lead = Played::new(&json!([
        bash("git checkout -q wt/w && git merge -q mine"),
        complete(),
        says("done")
    ]));
    let maker = Agent::new(&lead.bed, "lead");
    let id = maker.make_task(json!({"subject": "Config", "worktree": "w"}));
    let before = Agent::new(&lead.bed, "alice");
    before.claim(&id);
    before.bash("git checkout -q -b mine && git commit -q --allow-empty -m mine");
    let _alice = lead.start(&["--task", &id]);
    lead.wait_for_task(&id.parse().unwrap(), "completed");
    let log = lead.bed.run_git(&["log", "-1", "--format=%s", "wt/w"]);
    assert_eq!(log, "mine\n");
}
