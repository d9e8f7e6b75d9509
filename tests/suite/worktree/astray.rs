//! An agent that leaves `HEAD` of its worktree elsewhere can go back by itself, and nobody else is left without a word.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::agent::Agent;
use crate::support::facts::send;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// alice's task in the worktree `w`, on which she has committed twice.
struct Scene {
    bed: Bed,
    alice: Agent,
    task: String,
}

impl Scene {
    fn new() -> Self {
        let bed = Bed::git();
        let lead = Agent::new(&bed, "lead");
        let alice = Agent::new(&bed, "alice");
        let task = lead.make_task(json!({"subject": "Config", "worktree": "w"}));
        alice.claim(&task);
        alice.bash(
            "echo 1 > a && git add a && git commit -qm one && echo 2 > a && git commit -qam two",
        );
        Self { bed, alice, task }
    }

    /// What a call says, however it ends.
    fn said(&self, tool: &str, input: &Value) -> String {
        self.alice.run(tool, input).unwrap_or_else(|why| why)
    }

    fn bash(&self, command: &str) -> String {
        self.said("bash", &json!({ "command": command }))
    }

    fn write(&self) -> Result<String, String> {
        let input = json!({"path": "new", "content": "new\n"});
        self.alice.run("write_file", &input)
    }

    fn git(&self, args: &[&str]) -> String {
        self.bed.run_git(args).trim_end().to_owned()
    }
}

/// The command between the first two backticks of a text.
#[track_caller]
fn quoted(text: &str) -> &str {
    text.split('`').nth(1).unwrap_or_else(|| panic!("{text}"))
}

const KEEP: &str = "echo kept > kept && git add kept && git commit -qm kept";

#[test]
fn every_way_to_leave_the_branch_has_a_way_back_and_keeps_what_was_committed() {
    for (leave, place) in [
        ("git checkout -q -b mine", "on branch mine"),
        ("git checkout -q --detach", "on no branch"),
        ("git switch -q --detach HEAD~1", "on no branch"),
        ("git branch -m mine", "on branch mine"),
        (
            "git checkout -q --detach && git update-ref -d refs/heads/wt/w",
            "on no branch",
        ),
        ("git symbolic-ref HEAD refs/heads/none", "on branch none"),
        (
            "git switch -q -c mine && git bisect start HEAD HEAD~2 > /dev/null",
            "on no branch",
        ),
        (
            "git checkout -q -b mine HEAD~1 && echo 3 > a && git commit -qam three && git rebase -q wt/w",
            "on no branch",
        ),
    ] {
        let scene = Scene::new();
        let before = scene.git(&["rev-parse", "wt/w"]);
        let left = scene.bash(leave);
        assert!(
            left.contains(place) && left.contains("HEAD is not on wt/w"),
            "{leave}: {left}"
        );
        let has_head = !leave.contains("none") && !leave.contains("rebase");
        let kept = has_head.then(|| {
            scene.bash(KEEP);
            scene
                .bash("git rev-parse HEAD")
                .lines()
                .next()
                .unwrap()
                .to_owned()
        });
        for refused in [
            scene.write().unwrap_err(),
            scene.said("read_file", &json!({"path": "a"})),
            scene.alice.complete(&scene.task).unwrap_err(),
        ] {
            assert!(
                refused.contains(place) && quoted(&refused) == quoted(&left),
                "{leave}: {refused}"
            );
        }
        assert_eq!(scene.git(&["rev-parse", "wt/w"]), before, "{leave}");
        let back = scene.bash(quoted(&left));
        assert!(!back.contains("HEAD is not on"), "{leave}: {back}");
        assert_eq!(scene.alice.bash("git branch --show-current"), "wt/w");
        if let Some(kept) = kept {
            scene
                .alice
                .bash(&format!("git merge -q {kept} && cat kept"));
        }
        scene.write().unwrap_or_else(|why| panic!("{leave}: {why}"));
        scene.alice.complete(&scene.task).unwrap();
        scene.git(&["merge-base", "--is-ancestor", &before, "wt/w"]);
        scene.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn what_git_will_come_back_from_by_itself_is_no_fault_but_nothing_is_completed_during_it() {
    for (begin, end) in [
        (
            "git branch other HEAD~1 && git switch -q other && echo 3 > a && git commit -qam three && git switch -q wt/w; \
             git rebase -q other",
            "git rebase --abort",
        ),
        (
            "git bisect start HEAD HEAD~2 > /dev/null && git checkout -q HEAD~1",
            "git bisect reset",
        ),
    ] {
        let scene = Scene::new();
        let said = scene.bash(begin);
        assert!(!said.contains("HEAD is not on"), "{said}");
        scene.write().unwrap();
        let why = scene.alice.complete(&scene.task).unwrap_err();
        assert!(why.contains("is in progress in worktree w"), "{why}");
        let said = scene.bash(end);
        assert!(!said.contains("HEAD is not on"), "{said}");
        scene.alice.complete(&scene.task).unwrap();
    }
}

#[test]
fn a_branch_taken_away_and_a_head_taken_away_are_put_back() {
    let scene = Scene::new();
    scene.bash("git update-ref -d refs/heads/wt/w");
    assert_eq!(scene.alice.bash("git log -1 --format=%s"), "two");
    for lose in [
        "rm -f $(git rev-parse --git-path HEAD)",
        "python3 -c 'import subprocess as s; open(s.getoutput(\"git rev-parse --git-path HEAD\"), \"w\").write(\"x\")'",
    ] {
        let said = scene.bash(lose);
        assert!(said.contains("any command of bash puts it back"), "{said}");
        let why = scene.write().unwrap_err();
        assert!(why.contains("its HEAD"), "{why}");
        assert_eq!(scene.alice.bash("git log -1 --format=%s"), "two");
        scene.write().unwrap();
    }
    scene.alice.complete(&scene.task).unwrap();
}

/// ann leaves her worktree as `leave` says and is killed; the lead's end of the matter, and what the next one is told.
fn killed_after(leave: &str) -> (Bed, String) {
    let bed = Bed::git();
    let make = named(
        "create_task",
        json!({"subject": "Config", "worktree": "w"}),
        "t",
    );
    let lead = vec![
        turn(vec![proposal(&["ann"])]),
        turn(vec![make, spawn("ann", Some("t"))]),
        json!({"text": "Started."}),
    ];
    let command = format!("{leave} && touch begun; sleep 300");
    let others = vec![turn(vec![tool("bash", json!({ "command": command }))])];
    let model = bed.script(&script_of(lead, others));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    wait_until("ann has begun", DEADLINE, || {
        bed.root().join(".worktrees/w/begun").exists().then_some(())
    });
    let pid = member(&bed, "ann")["pid"].as_i64().unwrap();
    send(pid.try_into().unwrap(), Signal::SIGKILL);
    let done = running.wait(RUN).expect_code(1);
    (bed, done.stderr)
}

#[test]
fn when_the_agent_is_gone_the_lead_is_told_and_a_person_can_mend_it() {
    for leave in [
        "git checkout -q -b mine && echo 1 > README.md && git commit -qam mine",
        "git checkout -q --detach && echo 1 > README.md && git commit -qam mine",
        "git branch -m mine && echo 1 > README.md && git commit -qam mine",
    ] {
        let (bed, said) = killed_after(leave);
        assert!(said.contains("nobody can take it"), "{said}");
        let session = bed.json(".team/state/session.json").unwrap()["id"].clone();
        let transcript = format!(
            ".team/state/transcripts/lead.{}.jsonl",
            session.as_str().unwrap()
        );
        let before_the_model = bed.read(&transcript);
        assert!(
            before_the_model.contains("nobody can take it"),
            "{before_the_model}"
        );
        let listed = bed.lead(&["task", "list", "--json"]).json();
        let why = listed[0]["blockedReason"].as_str().unwrap();
        let mut shell = bed.command("sh");
        shell.current_dir(bed.root().join(".worktrees/w"));
        let mended = Running::start(shell.args(["-ec", quoted(why)]));
        drop(mended.wait(DEADLINE).expect_code(0));
        let listed = bed.lead(&["task", "list", "--json"]).json();
        assert_eq!(listed[0]["ready"], true, "{listed:#}");
        let log = bed.run_git(&["-C", ".worktrees/w", "reflog", "--format=%gs"]);
        assert!(log.contains("commit: mine"), "{log}");
        bed.run_git(&["fsck", "--strict", "--no-dangling"]);
    }
}
