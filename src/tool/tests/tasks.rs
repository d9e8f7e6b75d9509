//! The task tools on a real board.

use serde_json::{Value, json};

use crate::board::Status;
use crate::ids::TaskId;
use crate::mailbox::Kind;
use crate::team::PlanGate;
use crate::tool::HostCall;
use crate::tool::fixture::Bench;

/// The id that a tool's answer names first.
fn id_in(text: &str) -> String {
    let start = text.find("task_").unwrap();
    text[start..start + 13].to_owned()
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn task_id(id: &(impl ToString + ?Sized)) -> Value {
    json!({"task_id": id.to_string()})
}

#[test]
fn tasks_of_one_turn_appear_together_at_its_end() {
    let bench = Bench::lead();
    let first = bench.run("create_task", &json!({"subject": " first "}));
    assert!(first.held && !first.is_error, "{}", first.content);
    let first = id_in(&first.content);
    let second = id_in(&bench.ok(
        "create_task",
        json!({"subject": "second", "blockedBy": [first], "assignee": "bob", "description": "d"}),
    ));
    assert_eq!(bench.context().board.list().unwrap().len(), 0);
    let listed = bench.ok("list_tasks", json!({}));
    assert!(
        listed.contains(&second) && listed.contains("when the tools"),
        "{listed}"
    );
    let said = bench.err("claim_task", task_id(&first));
    assert!(said.contains("next reply"), "{said}");

    assert_eq!(bench.toolbox.end_turn(), Ok(()));

    let task = bench.context().board.get(&id(&second)).unwrap();
    assert_eq!(task.blocked_by, [id(&first)]);
    assert_eq!(
        (task.subject.as_str(), task.assignee.as_deref()),
        ("second", Some("bob"))
    );
    assert_eq!(
        bench.toolbox.end_turn(),
        Ok(()),
        "nothing is published twice"
    );
    assert_eq!(bench.context().board.list().unwrap().len(), 2);
}

#[test]
fn a_task_is_checked_when_it_is_made() {
    let bench = Bench::lead();
    let absent = "task_00000000";
    for (input, field) in [
        (json!({"subject": "  "}), "`subject`"),
        (
            json!({"subject": "x".repeat(201)}),
            "`subject` has 201 characters",
        ),
        (json!({"subject": "a\nb"}), "`subject`"),
        (
            json!({"subject": "x", "description": "d".repeat(256 * 1024 + 1)}),
            "`description`",
        ),
        (json!({"subject": "x", "assignee": "a\nb"}), "`assignee`"),
        (
            json!({"subject": "x", "blockedBy": [absent]}),
            "there is no task task_00000000",
        ),
        (
            json!({"subject": "x", "blockedBy": ["first"]}),
            "`blockedBy[0]`",
        ),
        (
            json!({"subject": "x", "blocked_by": []}),
            "did you mean `blockedBy`",
        ),
        (json!({"subject": "x", "worktree": "../x"}), "`worktree`"),
        (
            json!({"subject": "x", "worktree": "w"}),
            "not a git checkout",
        ),
    ] {
        let said = bench.err("create_task", input);
        assert!(said.contains(field), "{field}: {said}");
    }
    assert!(bench.context().desk.state().staged.is_empty());
    assert_eq!(bench.toolbox.end_turn(), Ok(()));
    assert!(
        !bench.root().join(".tasks").exists(),
        "nothing is made before it is needed"
    );
}

#[test]
fn a_staged_task_is_changed_in_place() {
    let bench = Bench::lead();
    let a = id_in(&bench.ok("create_task", json!({"subject": "a"})));
    let b = id_in(&bench.ok("create_task", json!({"subject": "b", "blockedBy": [a]})));
    let update = |mut input: Value, id: &str| {
        input["task_id"] = id.into();
        bench.run("update_task", &input)
    };
    assert!(update(json!({"subject": "c", "assignee": "bob"}), &a).held);
    let said = update(json!({"addBlockedBy": [b]}), &a);
    assert!(
        said.content.contains(&format!("{a} → {b} → {a}")),
        "{}",
        said.content
    );
    let said = update(json!({"addBlockedBy": [a]}), &a);
    assert!(
        said.content.contains(&format!("{a} → {a}")),
        "{}",
        said.content
    );
    let said = update(json!({}), &a);
    assert!(
        said.content.contains("nothing to change"),
        "{}",
        said.content
    );
    assert!(!update(json!({"removeBlockedBy": [a]}), &b).is_error);
    assert!(!update(json!({"assignee": ""}), &a).is_error);
    bench.toolbox.end_turn().unwrap();
    let board = &bench.context().board;
    let task = board.get(&id(&a)).unwrap();
    assert_eq!((task.subject.as_str(), task.assignee), ("c", None));
    assert_eq!(board.get(&id(&b)).unwrap().blocked_by, []);

    let early = id_in(&bench.ok("create_task", json!({"subject": "early"})));
    let said = update(json!({"addBlockedBy": [early]}), &a);
    assert!(said.content.contains("next reply"), "{}", said.content);
    bench.toolbox.end_turn().unwrap();
    let outcome = update(json!({"addBlockedBy": [early]}), &a);
    assert!(!outcome.is_error && !outcome.held, "{}", outcome.content);
}

#[test]
fn a_staged_task_may_be_taken_back_unless_another_waits_for_it() {
    let bench = Bench::lead();
    let a = id_in(&bench.ok("create_task", json!({"subject": "a"})));
    let b = id_in(&bench.ok("create_task", json!({"subject": "b", "blockedBy": [a]})));
    let said = bench.err("cancel_task", task_id(&a));
    assert!(said.contains(&format!("{b} waits for {a}")), "{said}");
    bench.ok("cancel_task", task_id(&b));
    bench.toolbox.end_turn().unwrap();
    assert_eq!(bench.context().board.list().unwrap().len(), 1);
}

#[test]
fn a_claim_is_told_with_all_that_the_work_needs() {
    let lead = Bench::lead();
    let done = lead.task(|task| task.subject = "groundwork".to_owned());
    let bob = lead.beside("bob");
    bob.assign(&done);
    bob.ok(
        "complete_task",
        json!({"task_id": done.id.as_str(), "result": "it stands"}),
    );
    let task = lead.task(|task| {
        task.subject = "walls".to_owned();
        task.description = "four of them".to_owned();
        task.blocked_by = vec![done.id.clone()];
    });
    let alice = lead.beside("alice");
    let text = alice.ok("claim_task", task_id(&task.id));
    for part in [
        "walls",
        "four of them",
        "groundwork: it stands",
        alice.root().to_str().unwrap(),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.ends_with(task.id.as_str()),
        "its own id is the last one named: {text}"
    );
    assert_eq!(alice.calls(), [HostCall::Claimed]);
    let held = alice.context().desk.assignment().unwrap();
    assert_eq!(
        (held.version, held.dir.as_path(), held.over),
        (1, alice.root(), false)
    );

    let said = bob.err("claim_task", task_id(&task.id));
    assert!(
        said.contains("is over, but its directory is yours"),
        "{said}"
    );
    let carol = lead.beside("carol");
    let said = carol.err("claim_task", task_id(&task.id));
    assert!(said.contains("owned by alice"), "{said}");
    let said = alice.err("claim_task", task_id(&lead.task(|_| {}).id));
    assert!(said.contains(&format!("you hold {}", task.id)), "{said}");
}

#[test]
fn a_completion_is_told_to_the_lead_with_what_it_made_ready() {
    let lead = Bench::lead();
    let first = lead.task(|_| {});
    let next = lead.task(|task| task.blocked_by = vec![first.id.clone()]);
    let alice = lead.beside("alice");
    alice.assign(&first);
    let said = alice.ok(
        "complete_task",
        json!({"task_id": first.id.as_str(), "result": "done"}),
    );
    assert!(said.contains(&format!("now ready: {}", next.id)), "{said}");
    assert!(alice.context().desk.assignment().unwrap().over);
    assert_eq!(alice.calls(), [HostCall::AssignmentOver]);
    let [mail] = &lead.mail("lead")[..] else {
        panic!("{:?}", lead.mail("lead"));
    };
    assert_eq!(
        (mail.from.as_str(), &mail.kind),
        ("alice", &Kind::TaskNotification)
    );
    assert_eq!(mail.meta("task_id"), Some(first.id.as_str()));
    assert_eq!(mail.meta("change"), Some("completed"));
    assert_eq!(
        mail.metadata.as_ref().unwrap()["unblocked"],
        json!([next.id.as_str()])
    );
    let said = alice.err("complete_task", task_id(&first.id));
    assert!(said.contains("over already"), "{said}");
}

#[test]
fn only_its_owner_completes_a_task_and_only_while_it_is_theirs() {
    let lead = Bench::lead();
    let task = lead.task(|_| {});
    let alice = lead.beside("alice");
    let said = alice.err("complete_task", task_id(&task.id));
    assert!(said.contains("you hold no task"), "{said}");
    alice.assign(&task);
    let said = alice.err("complete_task", task_id(&lead.task(|_| {}).id));
    assert!(said.contains(&format!("you hold {}", task.id)), "{said}");
    let said = lead.ok("release_task", task_id(&task.id));
    assert!(said.contains("alice, who had it, is told"), "{said}");
    lead.beside("bob").assign(&task);
    let said = alice.err("complete_task", task_id(&task.id));
    assert!(said.contains("no longer yours"), "{said}");
    let now = lead.context().board.get(&task.id).unwrap();
    assert_eq!(now.owner.unwrap().as_str(), "bob");
}

#[test]
fn who_loses_a_task_is_told() {
    let lead = Bench::lead();
    let task = lead.task(|_| {});
    let waiting = lead.task(|new| new.blocked_by = vec![task.id.clone()]);
    let alice = lead.beside("alice");
    alice.assign(&task);
    let said = lead.err("cancel_task", task_id(&task.id));
    assert!(said.contains("in progress"), "{said}");
    lead.ok("release_task", task_id(&task.id));
    let mail = lead.mail("alice");
    assert_eq!(mail.len(), 1);
    assert_eq!(mail[0].meta("change"), Some("released"));
    assert!(mail[0].starts_round());
    let said = lead.ok("cancel_task", task_id(&task.id));
    assert!(said.contains(waiting.id.as_str()), "{said}");
    let now = lead.context().board.get(&task.id).unwrap();
    assert_eq!(now.status, Status::Cancelled);
    assert_eq!(lead.mail("lead").len(), 0);
}

#[test]
fn the_lead_may_hold_a_task_and_give_it_back() {
    let lead = Bench::lead();
    let task = lead.task(|_| {});
    lead.ok("claim_task", task_id(&task.id));
    lead.ok("release_task", task_id(&task.id));
    assert_eq!(lead.calls(), [HostCall::Claimed, HostCall::AssignmentOver]);
    assert!(lead.context().desk.assignment().unwrap().over);
    lead.context().desk.state().assignment = None;
    lead.ok("claim_task", task_id(&task.id));
    lead.ok("complete_task", task_id(&task.id));
    assert_eq!(lead.mail("lead").len(), 0, "nobody writes to itself");
}

#[test]
fn the_board_is_shown_with_the_reason_of_every_wait() {
    let bench = Bench::lead();
    let first = bench.task(|task| task.subject = "first".to_owned());
    let next = bench.task(|task| {
        task.subject = "next".to_owned();
        task.blocked_by = vec![first.id.clone()];
        task.assignee = Some("bob".to_owned());
        task.verify = Some("make check".to_owned());
    });
    bench.put(".tasks/task_deadbeef.json", "{");
    let listed = bench.ok("list_tasks", json!({}));
    let line = |id: &str| {
        let found = listed.lines().find(|line| line.starts_with(id));
        found.unwrap_or_else(|| panic!("{id}: {listed}"))
    };
    assert!(
        line(first.id.as_str()).contains("pending, ready: first"),
        "{listed}"
    );
    assert!(
        line(next.id.as_str()).contains("for bob: next (blocked: "),
        "{listed}"
    );
    assert!(line("task_deadbeef").contains("damaged"), "{listed}");
    let shown = bench.ok("get_task", task_id(&next.id));
    assert!(shown.contains("what to do"), "{shown}");
    assert!(shown.contains("verify: make check"), "{shown}");
    assert!(
        shown.contains(&format!("waits for {} pending: first", first.id)),
        "{shown}"
    );
    assert!(
        bench
            .err("get_task", task_id("task_00000000"))
            .contains("there is no task")
    );
    assert!(
        bench
            .err("get_task", task_id("nonsense"))
            .contains("`task_id`")
    );
}

#[test]
fn completing_is_blocked_by_the_gate_and_the_task_stays() {
    let bench = Bench::teammate();
    let task = bench.task(|_| {});
    bench.assign(&task);
    bench.context().desk.state().gate = PlanGate::Pending;
    bench.err("complete_task", task_id(&task.id));
    let now = bench.context().board.get(&task.id).unwrap();
    assert_eq!(now.status, Status::InProgress);
}
