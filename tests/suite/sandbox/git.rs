//! git in a worktree: all of it works, and nothing of the repository changes but the worktree's own branch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::user::again_as_user;
use crate::lead::scripts::{RUN, ann_in_worktree, goal, member, script_of, tool, turn};
use crate::support::agent::Agent;
use crate::support::facts::send;
use crate::support::{Bed, Running};

/// A bed with a branch `other`, a stash of the person's, a tag and worktrees `w` of alice and `v` of bob.
struct Team {
    bed: Bed,
    alice: Agent,
    bob: Agent,
}

impl Team {
    fn new() -> Self {
        let bed = Bed::git();
        bed.write("a.txt", "one\n");
        bed.run_git(&["add", "."]);
        bed.run_git(&["commit", "-q", "-m", "second"]);
        let theirs = bed.run_git(&[
            "commit-tree",
            "-p",
            "HEAD~1",
            "-m",
            "theirs",
            "HEAD~1^{tree}",
        ]);
        bed.run_git(&["branch", "other", theirs.trim()]);
        bed.run_git(&["tag", "v0"]);
        bed.write("a.txt", "the person's\n");
        bed.run_git(&["stash", "-q"]);
        let lead = Agent::new(&bed, "lead");
        let take = |name: &str, worktree: &str| {
            let agent = Agent::new(&bed, name);
            let id = lead.make_task(json!({"subject": worktree, "worktree": worktree}));
            agent.claim(&id);
            agent
        };
        let (alice, bob) = (take("alice", "w"), take("bob", "v"));
        Self { bed, alice, bob }
    }

    fn git(&self, args: &[&str]) -> String {
        self.bed.run_git(args).trim_end().to_owned()
    }

    /// Every file of the repository but the branch `wt/w` and the worktree's own part; objects may be added.
    fn rest(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let git = self.bed.root().join(".git");
        let mut found = BTreeMap::new();
        read(&git, &mut found);
        for own in ["worktrees/w", "refs/heads/wt/w", "logs/refs/heads/wt/w"] {
            found.retain(|path, _| !path.starts_with(git.join(own)));
        }
        found
    }

    /// What was there is there as it was, and nothing is new but objects.
    #[track_caller]
    fn assert_rest_is(&self, before: &BTreeMap<PathBuf, Vec<u8>>) {
        let objects = self.bed.root().join(".git/objects");
        let mut now = self.rest();
        now.retain(|path, _| before.contains_key(path) || !path.starts_with(&objects));
        for (path, bytes) in before {
            assert_eq!(now.get(path), Some(bytes), "{}", path.display());
        }
        assert_eq!(now.len(), before.len());
    }

    /// Everything in the repository leads to something sound, and alice's worktree is on its branch.
    #[track_caller]
    fn assert_sound(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
        let path = self.bed.root().join(".worktrees/w");
        let path = path.to_str().unwrap();
        assert_eq!(
            self.git(&["-C", path, "rev-parse", "HEAD"]),
            self.git(&["rev-parse", "wt/w"])
        );
    }
}

fn read(dir: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            read(&entry.path(), into);
        } else {
            into.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// What an agent does and what git then says: nothing, unless it is asked.
const VERBS: [(&str, &str); 17] = [
    (
        "echo b > b && git add b && git commit -q -m b",
        "(no output)",
    ),
    (
        "git commit -q --amend -m better && git log -1 --format=%s",
        "better",
    ),
    (
        "echo c > c && git add c && git commit -q -m c && git rebase -q other && git log --format=%s -4",
        "c\nbetter\nsecond\ntheirs",
    ),
    (
        "GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~2 && git rebase -q --onto other HEAD~2 && git log --format=%s -3",
        "c\nbetter\ntheirs",
    ),
    (
        "git branch mine && git branch -m mine yours && git branch -d yours -q",
        "(no output)",
    ),
    (
        "git tag v1 && git tag -a -m note v2 && git tag -d v1 > /dev/null && git tag",
        "v0\nv2",
    ),
    (
        "echo changed > b && git stash -q && git stash list",
        "stash@{0}: WIP on wt/w: ",
    ),
    ("git stash pop -q && cat b && git checkout -q b", "changed"),
    (
        "git switch -q -c side && echo s > s && git add s && git commit -q -m side && git switch -q wt/w",
        "(no output)",
    ),
    (
        "git merge -q --no-ff -m merged side && git log -1 --format=%s",
        "merged",
    ),
    (
        "git reset -q --hard HEAD~1 && git cherry-pick side > /dev/null && git log -1 --format=%s",
        "side",
    ),
    (
        "git revert --no-edit HEAD > /dev/null && git log -1 --format=%s",
        "Revert \"side\"",
    ),
    ("git notes add -m note && git notes show", "note"),
    (
        "git bisect start -q HEAD other > /dev/null && git bisect reset > /dev/null 2>&1 && git branch --show-current",
        "wt/w",
    ),
    (
        "git mv b d && git rm -q c && git commit -q -m moved && git status --porcelain",
        "(no output)",
    ),
    (
        "git gc -q && git fsck --no-dangling 2>&1 | grep -v ^notice || true",
        "(no output)",
    ),
    (
        "echo staged > staged && git add staged && git status --porcelain",
        "A  staged",
    ),
];

#[test]
fn usual_git_works_silently_and_only_the_own_branch_moves() {
    let team = Team::new();
    let before = team.rest();
    for (command, wanted) in VERBS {
        let said = team.alice.bash(command);
        assert!(
            said.starts_with(wanted) && said.lines().count() == wanted.lines().count(),
            "{command}: {said}"
        );
    }
    assert_eq!(team.git(&["log", "-1", "--format=%s", "wt/w"]), "moved");
    let staged = [".worktrees/w", ":staged"];
    assert_eq!(team.git(&["-C", staged[0], "show", staged[1]]), "staged");
    team.assert_rest_is(&before);
    team.assert_sound();
    again_as_user("sandbox::git::usual_git_works_silently_and_only_the_own_branch_moves");
}

#[test]
fn nothing_else_of_the_repository_can_be_changed() {
    let team = Team::new();
    let before = team.rest();
    let git = team.bed.root().join(".git");
    let git = git.display();
    for command in [
        "git update-ref refs/heads/main HEAD~1".to_owned(),
        "git branch -f main HEAD~1; git branch -D other; git tag -d v0".to_owned(),
        "echo x > x; git add x; git commit -qm x; git update-ref refs/heads/wt/v HEAD; git branch -f wt/v HEAD".to_owned(),
        "git stash drop; git stash clear; git update-ref -d refs/stash".to_owned(),
        "git config user.name evil; git config --worktree core.pager evil".to_owned(),
        format!("echo '#!/bin/sh' > {git}/hooks/post-commit; chmod +x {git}/hooks/*"),
        format!("echo evil >> {git}/config; echo evil >> {git}/HEAD; rm -f {git}/index"),
        format!("rm -rf {git}/objects/* {git}/base-objects/*; chmod -R a+w {git}/base-objects"),
        format!("echo /tmp > {git}/base-objects/info/alternates; mv {git}/base-objects {git}/gone"),
        format!("echo ../../.. > {git}/worktrees/w/commondir; echo x > {git}/worktrees/w/gitdir; echo x > .git; rm -f .git"),
        format!("mv {git}/worktrees {git}/gone; rm -rf {git}/refs {git}/logs {git}/packed-refs"),
        "git -C ../v commit --allow-empty -m evil; git -C ../.. reset --hard HEAD~1; git -C ../.. stash drop".to_owned(),
        "git --git-dir=../../.git update-ref refs/heads/main HEAD~1; GIT_DIR=../../.git git branch evil".to_owned(),
        "git worktree remove --force ../v; git worktree prune; git reflog expire --expire=now --all".to_owned(),
    ] {
        drop(team.alice.run("bash", &json!({"command": command})));
        team.assert_rest_is(&before);
    }
    assert_eq!(team.bob.bash("git status --porcelain"), "(no output)");
    team.git(&["fsck", "--strict", "--no-dangling"]);
    again_as_user("sandbox::git::nothing_else_of_the_repository_can_be_changed");
}

#[test]
fn agents_see_each_others_commits_and_the_lead_merges_them() {
    let team = Team::new();
    team.alice
        .bash("echo b > b && git add b && git commit -q -m 'by alice'");
    assert_eq!(team.bob.bash("git log -1 --format=%s wt/w"), "by alice");
    team.bob
        .bash("git merge -q wt/w && echo v > v && git add v && git commit -q -m 'by bob'");
    assert_eq!(team.alice.bash("git show wt/v:v"), "v");
    drop(team.bed.lead(&["worktree", "merge", "v"]).expect_code(0));
    assert_eq!(team.git(&["log", "-2", "--format=%s"]), "by bob\nby alice");
    assert_eq!(team.alice.bash("git log -1 --format=%s main"), "by bob");
}

#[test]
fn work_that_is_not_taken_over_is_told_and_taken_over_once_it_is_whole() {
    let team = Team::new();
    let before = team.git(&["rev-parse", "wt/w"]);
    let said = team.alice.bash(
        "echo b > b && git add b && git commit -q -m b && \
         blob=$(git rev-parse HEAD:b) && rm -f $(git rev-parse --git-path objects)/${blob:0:2}/${blob:2}",
    );
    assert!(
        said.contains("was not taken over") && said.contains("wt/w stays where it was"),
        "{said}"
    );
    assert_eq!(team.git(&["rev-parse", "wt/w"]), before);
    assert_eq!(team.alice.bash("git hash-object -w b | wc -l"), "1");
    assert_eq!(team.git(&["log", "-1", "--format=%s", "wt/w"]), "b");
    team.assert_sound();
}

/// ann is in the middle of a call in which she has committed.
fn with_a_commit_in_mid_call(bed: &Bed) -> Running {
    let lead = ann_in_worktree("w");
    let bash = |command: &str| tool("bash", json!({ "command": command }));
    let others: Vec<Value> = vec![
        turn(vec![bash(
            "echo b > b && git add b && git commit -q -m 'before the kill' && touch begun && sleep 300",
        )]),
        turn(vec![
            bash("git log -1 --format=%s > seen"),
            tool("complete_task", json!({"task_id": "${task}"})),
        ]),
        json!({"text": "Done."}),
    ];
    let model = bed.script(&script_of(lead, others));
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    bed.wait_for(".worktrees/w/begun");
    running
}

fn kill_ann(bed: &Bed) {
    let pid = member(bed, "ann")["pid"].as_i64().unwrap();
    send(pid.try_into().unwrap(), Signal::SIGKILL);
}

#[test]
fn what_a_killed_teammate_had_committed_is_there_when_she_goes_on() {
    let bed = Bed::git();
    let running = with_a_commit_in_mid_call(&bed);
    kill_ann(&bed);
    drop(running.wait(RUN).expect_code(0));
    assert_eq!(bed.read(".worktrees/w/seen"), "before the kill\n");
    let log = bed.run_git(&["log", "--format=%s", "wt/w"]);
    assert!(log.contains("before the kill"), "{log}");
    bed.run_git(&["fsck", "--strict", "--no-dangling"]);
    bed.assert_no_process_left();
}

#[test]
fn what_a_killed_team_had_committed_is_taken_over_by_whoever_looks_next() {
    let bed = Bed::git();
    let running = with_a_commit_in_mid_call(&bed);
    running.signal(Signal::SIGKILL);
    kill_ann(&bed);
    let listed = bed
        .lead(&["worktree", "list", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&listed[0]["ahead"], &listed[0]["problem"]),
        (&json!(1), &Value::Null)
    );
    let log = bed.run_git(&["log", "-1", "--format=%s", "wt/w"]);
    assert_eq!(log, "before the kill\n");
}
