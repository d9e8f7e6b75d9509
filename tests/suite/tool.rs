//! Tools that start processes: bash and verify in the right directory, worktrees for tasks, on real git.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pitcrew::board::{Released, Status};
use pitcrew::cancel::Cancel;
use pitcrew::ids::{AgentName, TaskId};
use pitcrew::mailbox::inbox;
use pitcrew::workspace::Workspace;
use serde_json::json;

use crate::support::agent::Agent;
use crate::support::facts::now;
use crate::support::{Bed, DEADLINE};

#[test]
fn a_task_with_a_worktree_is_done_there_and_nowhere_else() {
    let bed = Bed::git();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    bed.write("README.md", "changed\n");
    let said = lead
        .run(
            "create_task",
            &json!({"subject": "docs", "worktree": "docs"}),
        )
        .unwrap();
    assert!(said.contains("on branch wt/docs"), "{said}");
    assert!(said.contains("without 1 uncommitted change"), "{said}");
    lead.toolbox.end_turn().unwrap();
    let id = &said[5..18];
    assert_eq!(lead.task(id).worktree.unwrap().as_str(), "docs");

    alice.claim(id);

    let place = bed.root().join(".worktrees/docs");
    assert_eq!(alice.bash("pwd"), place.to_str().unwrap());
    assert_eq!(alice.bash("git branch --show-current"), "wt/docs");
    alice.ok("write_file", json!({"path": "new.md", "content": "x\n"}));
    alice.ok(
        "edit_file",
        json!({"path": "README.md", "old_text": "scratch", "new_text": "docs"}),
    );
    alice.bash("git add -A && git commit -q -m work");
    assert_eq!(bed.read("README.md"), "changed\n");
    assert!(!bed.root().join("new.md").exists());
    let refused = alice.run("write_file", &json!({"path": ".git", "content": ""}));
    assert!(refused.unwrap_err().contains("is refused"));

    alice.complete(id).unwrap();
    let mail = inbox::waiting(&Workspace::at(bed.root()), &AgentName::lead()).unwrap();
    let told = &mail[0].content;
    for part in ["branch wt/docs", "1 commit ahead", "new.md"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(
        alice.bash("pwd"),
        place.to_str().unwrap(),
        "its own until the round ends"
    );
}

#[test]
fn a_worktree_that_disappears_ends_no_agent_and_nothing_falls_back() {
    let bed = Bed::git();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    let id = lead.make_task(json!({"subject": "docs", "worktree": "docs"}));
    alice.claim(&id);
    bed.run_git(&["worktree", "remove", "--force", ".worktrees/docs"]);
    for (tool, input) in [
        ("bash", json!({"command": "pwd"})),
        ("write_file", json!({"path": "x", "content": ""})),
        ("complete_task", json!({"task_id": id})),
    ] {
        let said = alice.run(tool, &input).unwrap_err();
        assert!(
            said.contains("worktree docs cannot be used"),
            "{tool}: {said}"
        );
    }
    assert_eq!(bed.tasks()[0]["status"], "in_progress");
    alice.ok("list_tasks", json!({}));

    let other = lead.make_task(json!({"subject": "more", "worktree": "more"}));
    bed.run_git(&["worktree", "remove", "--force", ".worktrees/more"]);
    let bob = Agent::new(&bed, "bob");
    let said = bob
        .run("claim_task", &json!({"task_id": other}))
        .unwrap_err();
    assert!(said.contains("more"), "{said}");
    assert_eq!(bob.task(&other).status, Status::Pending);
}

#[test]
fn a_broken_worktree_is_closed_to_every_tool_that_cannot_mend_it_and_every_claim() {
    type Break = fn(&Bed);
    let table: [(&str, Break); 4] = [
        ("it is on branch other", |bed| {
            bed.run_git(&["-C", ".worktrees/w", "checkout", "-q", "-b", "other"]);
        }),
        ("its .git file was changed", |bed| {
            let elsewhere = bed.root().join(".git");
            bed.write(
                ".worktrees/w/.git",
                &format!("gitdir: {}\n", elsewhere.display()),
            );
        }),
        ("not registered", |bed| {
            std::fs::remove_dir_all(bed.root().join(".git/worktrees/w")).unwrap();
        }),
        ("is a symbolic link", |bed| {
            let place = bed.root().join(".worktrees/w");
            std::fs::remove_dir_all(&place).unwrap();
            std::os::unix::fs::symlink("..", place).unwrap();
        }),
    ];
    for (why, broken) in table {
        let bed = Bed::git();
        let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
        let id = lead.make_task(json!({"subject": "docs", "worktree": "w"}));
        alice.claim(&id);
        broken(&bed);
        for (tool, input) in [
            ("bash", json!({"command": "touch made"})),
            ("read_file", json!({"path": "README.md"})),
            ("write_file", json!({"path": "made", "content": ""})),
            (
                "edit_file",
                json!({"path": "README.md", "old_text": "scratch", "new_text": "x"}),
            ),
            ("glob", json!({"pattern": "*"})),
            ("grep", json!({"pattern": "scratch"})),
            ("complete_task", json!({"task_id": id})),
        ] {
            // bash alone goes on, in the worktree, where only `HEAD` stands elsewhere.
            let goes_on = tool == "bash" && why.contains("on branch");
            let (ran, said) = match alice.run(tool, &input) {
                Ok(said) => (true, said),
                Err(said) => (false, said),
            };
            assert!(said.contains(why), "{tool}: {why}: {said}");
            assert_eq!(ran, goes_on, "{tool}: {why}: {said}");
        }
        lead.ok("release_task", json!({"task_id": id}));
        let said = Agent::new(&bed, "bob")
            .run("claim_task", &json!({"task_id": id}))
            .unwrap_err();
        assert!(said.contains(why), "claim: {why}: {said}");
        assert_eq!(bed.read("README.md"), "scratch\n");
        assert!(!bed.root().join("made").exists());
    }
}

#[test]
fn tasks_that_cannot_be_published_say_which_worktrees_they_leave() {
    let bed = Bed::git();
    let lead = Agent::new(&bed, "lead");
    lead.make_task(json!({"subject": "first"}));
    let second = json!({"subject": "second", "worktree": "w"});
    assert!(lead.run("create_task", &second).is_ok());
    // The board cannot be locked any more.
    let lock = bed.root().join(".tasks/.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let said = lead.toolbox.end_turn().unwrap_err();
    assert!(said.starts_with("Partial success"), "{said}");
    for part in [".worktrees/w on branch wt/w", "lead worktree remove NAME"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(bed.root().join(".worktrees/w/README.md").exists());
}

#[test]
fn a_worktree_is_bound_to_one_pending_task() {
    let bed = Bed::git();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    let bound = lead.make_task(json!({"subject": "bound"}));
    let taken = lead.make_task(json!({"subject": "taken"}));
    let make =
        |name: &str, id: &str| lead.run("create_worktree", &json!({"name": name, "task_id": id}));
    assert!(
        make("one", &bound)
            .unwrap()
            .contains(&format!("{bound} is done there"))
    );
    assert_eq!(lead.task(&bound).worktree.unwrap().as_str(), "one");
    alice.claim(&taken);
    let absent = "task_00000000";
    for (name, id, why) in [
        ("two", bound.as_str(), "is bound to worktree one already"),
        ("two", &taken, "is owned by alice"),
        ("two", absent, "there is no task"),
        ("../x", &bound, "is bound to"),
    ] {
        let said = make(name, id).unwrap_err();
        assert!(said.contains(why), "{why}: {said}");
    }
    let free = lead.make_task(json!({"subject": "free"}));
    for (name, why) in [
        ("one", format!("worktree one belongs to {bound}")),
        ("..", "`name`".to_owned()),
    ] {
        let said = make(name, &free).unwrap_err();
        assert!(said.contains(&why), "{why}: {said}");
    }
    let said = lead.run("create_task", &json!({"subject": "x", "worktree": "one"}));
    assert!(said.unwrap_err().contains("`worktree`"));
    assert_eq!(
        bed.run_git(&["branch", "--list", "wt/*"]).lines().count(),
        1
    );
}

#[test]
fn a_staged_task_gets_its_worktree_when_it_is_published() {
    let bed = Bed::git();
    let lead = Agent::new(&bed, "lead");
    let said = lead
        .run("create_task", &json!({"subject": "docs"}))
        .unwrap();
    let id = &said[5..18];
    lead.run("create_worktree", &json!({"name": "docs", "task_id": id}))
        .unwrap();
    let said = lead.run("create_worktree", &json!({"name": "more", "task_id": id}));
    assert!(said.unwrap_err().contains("bound to worktree docs"));
    let said = lead.run("create_task", &json!({"subject": "x", "worktree": "docs"}));
    assert!(said.unwrap_err().contains(&format!("belongs to {id}")));
    lead.toolbox.end_turn().unwrap();
    assert_eq!(lead.task(id).worktree.unwrap().as_str(), "docs");
}

/// A turn may wait long for the person, who may remove what is bound to no task yet.
#[test]
fn a_task_is_not_published_without_its_worktree() {
    let bed = Bed::git();
    let lead = Agent::new(&bed, "lead");
    let made = ["kept", "gone"].map(|name| {
        let task = json!({"subject": name, "worktree": name});
        lead.run("create_task", &task).unwrap()[5..18].to_owned()
    });
    drop(bed.lead(&["worktree", "remove", "gone"]).expect_code(0));
    let spawn = json!({"name": "ann", "role": "coder", "prompt": "go", "task_id": made[0]});
    let said = lead.run("spawn_teammate", &spawn).unwrap_err();
    assert!(said.contains("worktree gone was removed"), "{said}");
    let said = lead.toolbox.end_turn().unwrap_err();
    assert!(said.contains("worktree gone was removed"), "{said}");
    assert!(
        said.contains("kept on branch wt/kept") && !said.contains("wt/gone"),
        "{said}"
    );
    assert_eq!(
        bed.lead(&["task", "list", "--json"]).expect_code(0).json(),
        json!([])
    );
}

#[test]
fn verify_decides_whether_a_task_is_completed() {
    let bed = Bed::git();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    let id = lead.make_task(json!({
        "subject": "docs",
        "worktree": "docs",
        "verify": "pwd; echo checking; test -e ready",
    }));
    alice.claim(&id);
    let said = alice.complete(&id).unwrap_err();
    assert!(said.contains("verify ended with status 1"), "{said}");
    assert!(said.contains(".worktrees/docs\nchecking"), "{said}");
    assert!(said.contains("stays in progress"), "{said}");
    assert_eq!(alice.task(&id).status, Status::InProgress);
    alice.bash("touch ready");
    let said = alice.complete(&id).unwrap();
    assert!(said.contains("verify succeeded"), "{said}");
    assert_eq!(alice.task(&id).result.as_deref(), Some("done"));
}

#[test]
fn the_teams_verify_holds_where_a_task_has_none() {
    let bed = Bed::new();
    let lead = Agent::new(&bed, "lead");
    let (plain, own) = (
        lead.make_task(json!({"subject": "plain"})),
        lead.make_task(json!({"subject": "own", "verify": "true"})),
    );
    let alice = Agent::with(&bed, "alice", Some("yes x | head -c 100000; exit 7"));
    alice.claim(&plain);
    let said = alice.complete(&plain).unwrap_err();
    assert!(said.contains("status 7"), "{said}");
    assert!(
        said.len() < 10_000,
        "only the tail is shown: {}",
        said.len()
    );
    let bob = Agent::with(&bed, "bob", Some("exit 7"));
    bob.claim(&own);
    bob.complete(&own).unwrap();
}

/// Lets alice complete a task whose verify waits, and acts meanwhile.
fn completing(bed: &Bed, act: impl FnOnce(&TaskId, &Arc<Cancel>)) -> Result<String, String> {
    let (lead, alice) = (Agent::new(bed, "lead"), Agent::new(bed, "alice"));
    let id = lead.make_task(json!({
        "subject": "slow",
        "verify": "touch begun; while [ ! -e go ]; do sleep 0.02; done",
    }));
    alice.claim(&id);
    let cancel = Arc::new(Cancel::new());
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let input = json!({"task_id": id});
            alice.toolbox.run("complete_task", &input, &cancel)
        });
        bed.wait_for("begun");
        act(&id.parse().unwrap(), &cancel);
        let outcome = call.join().unwrap();
        if outcome.is_error {
            Err(outcome.content)
        } else {
            Ok(outcome.content)
        }
    })
}

#[test]
fn a_task_taken_away_during_verify_is_not_completed() {
    let bed = Bed::new();
    let said = completing(&bed, |id, _| {
        let lead = Agent::new(&bed, "lead");
        let mut board = lead.board().lock(&AgentName::lead()).unwrap();
        board.release(id, None, Released::Orderly, None).unwrap();
        drop(board);
        bed.write("go", "");
    });
    assert!(said.unwrap_err().contains("no longer yours"));
    assert_eq!(bed.tasks()[0]["status"], "pending");
    bed.assert_no_process_left();
}

#[test]
fn no_lock_is_held_while_verify_runs_and_a_cancel_ends_it() {
    let bed = Bed::new();
    let begun = Mutex::new(None);
    let said = completing(&bed, |_, cancel| {
        let bob = Agent::new(&bed, "bob");
        bob.board()
            .lock(&bob.toolbox.context().agent)
            .map(drop)
            .unwrap();
        *begun.lock().unwrap() = Some(now());
        cancel.cancel();
    });
    assert!(said.unwrap_err().contains("was interrupted"));
    let took = begun.into_inner().unwrap().unwrap().elapsed();
    assert!(took < 2 * DEADLINE, "{took:?}");
    assert_eq!(bed.tasks()[0]["status"], "in_progress");
    bed.assert_no_process_left();
}

#[test]
fn of_many_claimers_one_gets_the_task_and_the_others_are_told_who() {
    let bed = Bed::new();
    let lead = Agent::new(&bed, "lead");
    let id = lead.make_task(json!({"subject": "one"}));
    let agents: Vec<Agent> = (0..8).map(|n| Agent::new(&bed, &format!("a{n}"))).collect();
    let said: Vec<Result<String, String>> = std::thread::scope(|scope| {
        let calls: Vec<_> = agents
            .iter()
            .map(|agent| scope.spawn(|| agent.run("claim_task", &json!({"task_id": id}))))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let owner = lead.task(&id).owner.unwrap();
    assert_eq!(said.iter().filter(|answer| answer.is_ok()).count(), 1);
    for refused in said.into_iter().filter_map(Result::err) {
        assert!(refused.contains(&format!("owned by {owner}")), "{refused}");
    }
}

#[test]
fn the_agents_own_temporary_directory_may_be_used() {
    let bed = Bed::new();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    alice.claim(&lead.make_task(json!({"subject": "x"})));
    let tmp: PathBuf = alice.bash("echo $TMPDIR").into();
    let file = tmp.join("notes/a.txt");
    let file = file.to_str().unwrap();
    alice.ok("write_file", json!({"path": file, "content": "x\n"}));
    assert_eq!(alice.ok("read_file", json!({"path": file})), "     1\tx\n");
    let said = alice.bash("yes | head -c 200000");
    let whole = said
        .split("output is in ")
        .nth(1)
        .unwrap()
        .trim_end_matches(']');
    assert!(
        alice
            .ok("read_file", json!({"path": whole}))
            .contains("read on")
    );
}

#[test]
fn what_bash_is_given_and_answers_stays_within_its_limits() {
    let bed = Bed::new();
    let lead = Agent::new(&bed, "lead");
    let timed = |seconds: u64| {
        let input = json!({"command": "echo ran > ran", "timeout_secs": seconds});
        lead.run("bash", &input)
    };
    for seconds in [0, 601, 100_000] {
        let said = timed(seconds).unwrap_err();
        assert!(
            said.contains("timeout_secs") && said.contains("1 to 600"),
            "{said}"
        );
    }
    assert!(!bed.root().join("ran").exists());
    assert!(timed(600).is_ok());
    let said = lead.run("bash", &json!({"command": " \n"})).unwrap_err();
    assert!(said.contains("command is empty"), "{said}");
    let long = "printf 'é%.0s' {1..200000}; echo; exit 3";
    let said = lead.run("bash", &json!({"command": long})).unwrap_err();
    assert!(said.chars().count() <= 50_000, "{}", said.chars().count());
    assert!(
        said.starts_with("éé") && said.contains("exit status 3"),
        "{said}"
    );
    let (_, named) = said.rsplit_once("the whole output is in ").unwrap();
    let path = named.trim_end_matches(']');
    let whole = lead.run("bash", &json!({"command": format!("wc -c < {path}")}));
    assert_eq!(whole.unwrap().trim(), "400001");
}
