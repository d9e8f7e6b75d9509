//! Messages, the todo list, plans and the team's tools.

use serde_json::json;

use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::mailbox::Kind;
use crate::store::Durability;
use crate::team::{Member, MemberStatus, PlanGate, Presence, Roster};
use crate::tool::fixture::Bench;
use crate::tool::{HostCall, Plan};

/// A record, and with `alive` the lock that its process would hold.
fn member(bench: &Bench, name: &str, status: MemberStatus, alive: bool) -> Option<Presence> {
    let workspace = &bench.context().workspace;
    let name = AgentName::parse(name).unwrap();
    let record = Member {
        name: name.clone(),
        role: "coder".to_owned(),
        model: "script:x".to_owned(),
        status,
        pid: None,
        started_at: Timestamp::now(),
        task: None,
        plan_gate: PlanGate::NotRequired,
        plan_request: None,
        turns: 0,
        tokens: 0,
        restarts: 0,
        last_error: None,
        started_by: None,
        prompt: None,
        require_plan: false,
        extra: serde_json::Map::new(),
    };
    Roster::new(workspace.clone(), Durability::Process)
        .put(&record)
        .unwrap();
    alive.then(|| Presence::take(workspace, &name).unwrap().unwrap())
}

#[test]
fn a_message_is_sent_in_the_agents_own_name() {
    let bench = Bench::teammate();
    let _bob = member(&bench, "Bob", MemberStatus::Idle, true);
    let said = bench.ok(
        "send_message",
        json!({"to": "bob", "content": "hello", "summary": "hi", "type": "question"}),
    );
    assert!(said.contains("sent to bob"), "{said}");
    let mail = bench.mail("Bob");
    assert_eq!(
        (mail[0].from.as_str(), mail[0].to.as_str()),
        ("alice", "Bob")
    );
    assert_eq!(mail[0].kind, Kind::Question);
    assert_eq!(mail[0].summary.as_deref(), Some("hi"));
}

#[test]
fn nobody_is_told_that_a_message_was_read_that_was_not() {
    let bench = Bench::teammate();
    member(&bench, "gone", MemberStatus::Stopped, false);
    let _alice = member(&bench, "alice", MemberStatus::Working, true);
    let said = bench.ok("send_message", json!({"to": "gone", "content": "x"}));
    assert!(
        said.contains("not running (stopped)") && said.contains("kept"),
        "{said}"
    );
    assert_eq!(bench.mail("gone").len(), 1);
    member(&bench, "lost", MemberStatus::Working, false);
    let said = bench.ok("send_message", json!({"to": "lost", "content": "x"}));
    assert!(said.contains("(lost since "), "{said}");
    let said = bench.ok("send_message", json!({"to": "lead", "content": "x"}));
    assert!(said.contains("no lead is running"), "{said}");
    let said = bench.err("send_message", json!({"to": "gonne", "content": "x"}));
    assert!(said.contains("\"gone\""), "{said}");
    assert!(!bench.root().join(".mailboxes/gonne.jsonl").exists());
    for (to, why) in [("alice", "itself"), ("a/b", "`to`"), ("", "`to`")] {
        let said = bench.err("send_message", json!({"to": to, "content": "x"}));
        assert!(said.contains(why), "{to}: {said}");
    }
    let said = bench.err("send_message", json!({"to": "gone", "content": " \n"}));
    assert!(said.contains("`content` is empty"), "{said}");
}

#[test]
fn to_all_goes_to_everybody_else_who_lives() {
    let bench = Bench::lead();
    let said = bench.err("send_message", json!({"to": "all", "content": "x"}));
    assert!(said.contains("nobody"), "{said}");
    let _bob = member(&bench, "bob", MemberStatus::Idle, true);
    let _carol = member(&bench, "carol", MemberStatus::Working, true);
    member(&bench, "dave", MemberStatus::Stopped, false);
    let said = bench.ok("send_message", json!({"to": "ALL", "content": "x"}));
    assert!(said.starts_with("sent to 2:"), "{said}");
    assert_eq!(bench.mail("bob")[0].kind, Kind::Broadcast);
    assert_eq!(bench.mail("dave").len(), 0);

    std::fs::remove_file(bench.root().join(".mailboxes/bob.jsonl")).unwrap();
    std::fs::create_dir(bench.root().join(".mailboxes/bob.jsonl")).unwrap();
    let said = bench.err("send_message", json!({"to": "all", "content": "again"}));
    assert!(
        said.contains("sent to 1 of 2; reached: carol; not reached: bob"),
        "{said}"
    );
    assert_eq!(bench.mail("carol").len(), 2);
}

#[test]
fn the_todo_list_is_replaced_whole() {
    let bench = Bench::teammate();
    let said = bench.ok(
        "todo_write",
        json!({"items": [
            {"text": "a", "status": "completed"}, {"text": "b", "status": "in_progress"}, {"text": "c", "status": "pending"},
        ]}),
    );
    assert_eq!(said, "[x] a\n[>] b\n[ ] c");
    assert_eq!(bench.context().desk.state().todos.len(), 3);
    bench.err(
        "todo_write",
        json!({"items": [{"text": " ", "status": "pending"}]}),
    );
    assert_eq!(bench.context().desk.state().todos.len(), 3);
    bench.ok("todo_write", json!({"items": []}));
    assert_eq!(bench.context().desk.state().todos.len(), 0);
}

#[test]
fn a_plan_needs_a_task_and_a_step() {
    let bench = Bench::teammate();
    let plan = json!({"title": "t", "steps": ["one"], "rationale": null});
    assert!(bench.err("submit_plan", plan.clone()).contains("no task"));
    let task = bench.task(|_| {});
    bench.assign(&task);
    for (input, field) in [
        (json!({"title": "t", "steps": []}), "`steps`"),
        (json!({"title": "t", "steps": ["a", " "]}), "`steps[1]`"),
        (json!({"title": "", "steps": ["a"]}), "`title`"),
        (json!({"title": "t"}), "`steps` is missing"),
    ] {
        let said = bench.err("submit_plan", input);
        assert!(said.contains(field), "{said}");
    }
    bench.answer(Ok("approved: go on".to_owned()));
    assert_eq!(bench.ok("submit_plan", plan), "approved: go on");
    let wanted = Plan {
        title: "t".to_owned(),
        steps: vec!["one".to_owned()],
        rationale: None,
    };
    assert_eq!(bench.calls(), [HostCall::SubmitPlan(wanted)]);
}

#[test]
fn a_proposal_is_checked_before_the_person_sees_it() {
    let bench = Bench::lead();
    let one = |name: &str, role: &str| json!({"members": [{"name": name, "role": role}], "rationale": "r"});
    for (input, field) in [
        (json!({"members": [], "rationale": "r"}), "`members`"),
        (
            json!({"members": [{"name": "a", "role": "b"}], "rationale": " "}),
            "`rationale`",
        ),
        (one("lead", "coder"), "`members[0].name`"),
        (one("a b", "coder"), "`members[0].name`"),
        (one("a", ""), "`members[0].role`"),
        (
            json!({"members": [{"name": "a", "role": "b"}, {"name": "A", "role": "b"}], "rationale": "r"}),
            "proposed twice",
        ),
        (
            json!({"members": [{"name": "a"}], "rationale": "r"}),
            "`members[0].role` is missing",
        ),
    ] {
        let said = bench.err("propose_team", input);
        assert!(said.contains(field), "{field}: {said}");
    }
    assert_eq!(bench.calls(), []);
    bench.ok("propose_team", one("alice", "coder"));
    assert!(matches!(bench.calls()[..], [HostCall::ProposeTeam(_)]));
}

/// Whoever looks while the person is asked sees what a killed lead leaves behind.
#[test]
fn tasks_are_on_the_board_while_the_person_is_asked() {
    let team = json!({"members": [{"name": "ann", "role": "coder"}], "rationale": "r"});
    for (tool, input, answer) in [
        ("propose_team", team, Err("no".to_owned())),
        ("bash", json!({"command": "git push"}), Err("no".to_owned())),
    ] {
        let bench = Bench::lead();
        bench.ok("create_task", json!({"subject": "early"}));
        let board = std::sync::Arc::clone(&bench.context().board);
        let (seen, told) = std::sync::mpsc::channel();
        bench.meanwhile(move |_| seen.send(board.list().unwrap().len()).unwrap());
        bench.answer(answer);
        bench.err(tool, input);
        assert_eq!(told.try_recv(), Ok(1), "{tool}");
        bench.ok("create_task", json!({"subject": "late"}));
        assert_eq!(bench.toolbox.end_turn(), Ok(()));
        let made = bench.context().board.list().unwrap();
        assert_eq!(made.len(), 2, "{tool}: each once");
    }
}

/// One who lives could claim a task that is half described.
#[test]
fn while_a_teammate_lives_tasks_wait_for_the_end_of_the_turn() {
    let bench = Bench::lead();
    let _alive = member(&bench, "bob", MemberStatus::Idle, true).unwrap();
    bench.ok("create_task", json!({"subject": "early"}));
    let board = std::sync::Arc::clone(&bench.context().board);
    let (seen, told) = std::sync::mpsc::channel();
    bench.meanwhile(move |_| seen.send(board.list().unwrap().len()).unwrap());
    bench.answer(Err("no".to_owned()));
    bench.err("bash", json!({"command": "git push"}));
    assert_eq!(told.try_recv(), Ok(0));
    assert_eq!(bench.toolbox.end_turn(), Ok(()));
    assert_eq!(bench.context().board.list().unwrap().len(), 1);
}

#[test]
fn what_was_published_before_a_question_is_told_when_the_rest_cannot_be() {
    let bench = Bench::lead();
    let early = bench.ok("create_task", json!({"subject": "early"}))[5..18].to_owned();
    bench.answer(Err("no".to_owned()));
    bench.err("bash", json!({"command": "git push"}));
    bench.ok("create_task", json!({"subject": "late"}));
    let (tasks, aside) = (
        bench.context().workspace.tasks_dir(),
        bench.root().join("aside"),
    );
    std::fs::rename(&tasks, &aside).unwrap();
    std::fs::write(&tasks, "in the way").unwrap();
    let said = bench.toolbox.end_turn().unwrap_err();
    assert!(
        said.contains(&format!("only {early} are on the board")),
        "{said}"
    );
}

#[test]
fn a_team_is_not_proposed_for_tasks_that_cannot_be_published() {
    let bench = Bench::lead();
    bench.ok("create_task", json!({"subject": "kept"}));
    let tasks = bench.context().workspace.tasks_dir();
    std::fs::remove_dir_all(&tasks).ok();
    std::fs::write(&tasks, "in the way").unwrap();
    let team = json!({"members": [{"name": "ann", "role": "coder"}], "rationale": "r"});
    let said = bench.err("propose_team", team);
    assert!(said.contains("the team was not proposed"), "{said}");
    assert_eq!(bench.calls(), []);
    std::fs::remove_file(&tasks).unwrap();
    assert_eq!(bench.toolbox.end_turn(), Ok(()), "tried again");
    assert_eq!(bench.context().board.list().unwrap().len(), 1);
}

#[test]
fn a_start_carries_the_staged_tasks_when_its_first_is_among_them() {
    let bench = Bench::lead();
    let made = bench.ok("create_task", json!({"subject": "first"}));
    let task = made[5..18].to_owned();
    bench.ok("create_task", json!({"subject": "other"}));
    let spawn = json!({"name": "alice", "role": "coder", "prompt": "go", "task_id": task});
    bench.answer(Err("the process did not start".to_owned()));
    bench.err("spawn_teammate", spawn.clone());
    let staged = || bench.context().desk.state().staged.clone();
    assert_eq!(staged().len(), 2, "what was not published is staged again");

    let board = std::sync::Arc::clone(&bench.context().board);
    bench.meanwhile(move |call| {
        if let HostCall::Spawn(order) = call {
            let mut board = board.lock(&AgentName::lead()).unwrap();
            board.create(&order.staged).unwrap();
        }
    });
    bench.ok("spawn_teammate", spawn);
    assert_eq!(staged().len(), 0);
    assert_eq!(bench.toolbox.end_turn(), Ok(()));
    assert_eq!(bench.context().board.list().unwrap().len(), 2);
    let orders: Vec<usize> = bench
        .calls()
        .iter()
        .filter_map(|call| match call {
            HostCall::Spawn(order) => Some(order.staged.len()),
            _ => None,
        })
        .collect();
    assert_eq!(orders, [2, 2]);
}

#[test]
fn a_start_is_checked_before_it_is_ordered() {
    let bench = Bench::lead();
    let with = |key: &str, value: serde_json::Value| {
        let mut input = json!({"name": "alice", "role": "coder", "prompt": "go"});
        input[key] = value;
        input
    };
    for (input, field) in [
        (with("name", json!("user")), "`name`"),
        (with("role", json!(" ")), "`role`"),
        (
            with("prompt", json!("p".repeat(65 * 1024))),
            "`prompt` has 66560 bytes",
        ),
        (with("prompt", json!("a\0b")), "`prompt`"),
        (with("task_id", json!("task_00000000")), "there is no task"),
        (with("model", json!("")), "`model`"),
    ] {
        let said = bench.err("spawn_teammate", input);
        assert!(said.contains(field), "{field}: {said}");
    }
    assert_eq!(bench.calls(), []);
    bench.ok("spawn_teammate", with("require_plan", json!(true)));
    let [HostCall::Spawn(order)] = &bench.calls()[..] else {
        panic!("{:?}", bench.calls());
    };
    assert!(order.require_plan && order.task.is_none());
}

#[test]
fn orders_to_teammates_name_them() {
    let bench = Bench::lead();
    bench.ok("request_shutdown", json!({"teammate": "alice"}));
    bench.ok(
        "request_plan",
        json!({"teammate": "alice", "task": "the walls"}),
    );
    bench.ok(
        "review_plan",
        json!({"request_id": "req_0a1b2c3d", "approve": false, "feedback": " "}),
    );
    bench.ok("list_teammates", json!({}));
    let alice = AgentName::parse("alice").unwrap();
    assert_eq!(
        bench.calls(),
        [
            HostCall::RequestShutdown(alice.clone()),
            HostCall::RequestPlan {
                teammate: alice,
                task: "the walls".to_owned()
            },
            HostCall::ReviewPlan {
                request: "req_0a1b2c3d".parse().unwrap(),
                approve: false,
                feedback: None
            },
            HostCall::ListTeammates,
        ]
    );
    assert!(
        bench
            .err("review_plan", json!({"request_id": "x", "approve": true}))
            .contains("`request_id`")
    );
    assert!(
        bench
            .err("request_shutdown", json!({"teammate": "lead"}))
            .contains("`teammate`")
    );
}
