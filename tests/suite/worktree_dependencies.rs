//! Work that was done on a branch is found by whoever builds on it, with real processes and real git.

use nix::sys::signal::Signal;
use pitcrew::ids::WorktreeName;
use pitcrew::workspace::Workspace;
use pitcrew::worktree::{self, Branches, BringError};
use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, wait_until};

fn task(label: &str, worktree: Option<&str>, blocked_by: &[&str]) -> Value {
    let blocked_by: Vec<String> = blocked_by.iter().map(|id| format!("${{{id}}}")).collect();
    let mut input = json!({"subject": label, "blockedBy": blocked_by});
    if let Some(worktree) = worktree {
        input["worktree"] = json!(worktree);
    }
    named("create_task", input, label)
}

/// A lead that makes these tasks and starts these teammates, the first with task `a`.
fn lead_with(tasks: Vec<Value>, names: &[&str]) -> Vec<Value> {
    vec![
        turn(vec![proposal(names)]),
        turn(tasks),
        turn(
            names
                .iter()
                .map(|name| spawn(name, (*name == "ann").then_some("a")))
                .collect(),
        ),
        json!({"text": "They are at work."}),
    ]
}

/// The ids of the tasks by subject.
fn id_of(bed: &Bed, subject: &str) -> String {
    let tasks = bed.tasks();
    let task = tasks
        .iter()
        .find(|task| task["subject"] == subject)
        .unwrap();
    task["id"].as_str().unwrap().to_owned()
}

fn view(bed: &Bed, subject: &str) -> Value {
    let list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    let tasks = list.as_array().unwrap().clone();
    tasks
        .into_iter()
        .find(|task| task["subject"] == subject)
        .unwrap()
}

/// The files below `out/` of the last commit of a branch.
fn files(bed: &Bed, branch: &str) -> Vec<String> {
    let listed = bed.run_git(&["ls-tree", "-r", "--name-only", branch, "out/"]);
    let mut names: Vec<String> = listed.lines().map(str::to_owned).collect();
    names.sort();
    names
}

fn outputs(bed: &Bed, subjects: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = subjects
        .iter()
        .map(|subject| format!("out/{}.txt", id_of(bed, subject)))
        .collect();
    names.sort();
    names
}

#[test]
fn a_diamond_of_four_worktrees_ends_with_all_the_work_in_the_last() {
    let bed = Bed::git();
    let tasks = vec![
        task("a", Some("a"), &[]),
        task("b", Some("b"), &["a"]),
        task("c", Some("c"), &["a"]),
        task("d", Some("d"), &["b", "c"]),
    ];
    let config = std::fs::read(bed.root().join(".git/config")).unwrap();
    let script = script_of(lead_with(tasks, &["ann", "bob"]), workers(5));
    drop(run(&bed, &script, &["--yes"]).expect_code(0));
    assert_eq!(count(&bed, "completed"), 4);
    assert_eq!(files(&bed, "wt/d"), outputs(&bed, &["a", "b", "c", "d"]));
    assert_eq!(files(&bed, "wt/b"), outputs(&bed, &["a", "b"]));
    for name in ["a", "b", "c", "d"] {
        let dir = format!(".worktrees/{name}");
        let status = bed.run_git(&["-C", &dir, "status", "--porcelain"]);
        assert_eq!(status, "", "{name}");
    }
    assert_eq!(
        std::fs::read(bed.root().join(".git/config")).unwrap(),
        config
    );

    // One made after its dependencies were done starts with their work.
    let (b, d) = (id_of(&bed, "b"), id_of(&bed, "d"));
    let add = [
        "task",
        "add",
        "e",
        "--worktree",
        "e",
        "--blocked-by",
        &b,
        "--blocked-by",
        &d,
    ];
    drop(bed.lead(&add).expect_code(0));
    assert_eq!(files(&bed, "wt/e"), files(&bed, "wt/d"));
    assert_eq!(view(&bed, "e")["ready"], true);
    bed.assert_no_process_left();
}

/// What a teammate does that writes its task's id into one file that all write.
fn rewrites(count: usize) -> Vec<Value> {
    (0..count)
        .flat_map(|_| {
            [
                turn(vec![
                    tool("bash", json!({"command": "echo ${task} > README.md"})),
                    tool("complete_task", json!({"task_id": "${task}"})),
                ]),
                json!({"text": "That one is done."}),
            ]
        })
        .collect()
}

#[test]
fn a_conflict_blocks_the_task_and_tells_the_lead_until_somebody_has_resolved_it() {
    let bed = Bed::git();
    let tasks = vec![
        task("a", Some("a"), &[]),
        task("b", Some("b"), &[]),
        task("c", Some("c"), &["a", "b"]),
    ];
    let script = script_of(lead_with(tasks, &["ann"]), rewrites(3));
    let done = run(&bed, &script, &["--yes"]).expect_code(1);
    assert!(
        done.stderr.contains("conflict in README.md"),
        "{}",
        done.stderr
    );
    let session = bed.json(".team/state/session.json").unwrap();
    let transcript = format!(
        ".team/state/transcripts/lead.{}.jsonl",
        session["id"].as_str().unwrap()
    );
    let told = bed
        .read(&transcript)
        .matches("is blocked: conflict in README.md")
        .count();
    assert_eq!(told, 1, "the lead's model is told once");
    let blocked = view(&bed, "c");
    assert_eq!(blocked["ready"], false);
    let why = blocked["blockedReason"].as_str().unwrap();
    assert!(
        why.starts_with("conflict in README.md: wt/b cannot be merged"),
        "{why}"
    );
    let status = bed.run_git(&["-C", ".worktrees/c", "status", "--porcelain"]);
    assert_eq!(status, "", "nothing is half merged");

    let (a, b) = (id_of(&bed, "a"), id_of(&bed, "b"));
    let add = [
        "task",
        "add",
        "d",
        "--worktree",
        "d",
        "--blocked-by",
        &a,
        "--blocked-by",
        &b,
    ];
    let added = bed.lead(&add).expect_code(0);
    assert!(
        added
            .stderr
            .contains("the task is blocked: conflict in README.md"),
        "{}",
        added.stderr
    );
    assert_eq!(view(&bed, "d")["ready"], false);

    bed.run_git(&["-C", ".worktrees/c", "merge", "-q", "-X", "ours", "wt/b"]);
    assert_eq!(view(&bed, "c")["ready"], true);
    bed.assert_no_process_left();
}

#[test]
fn a_task_of_the_workspace_waits_for_the_merge_and_goes_on_at_once_after_it() {
    let bed = Bed::git();
    let tasks = vec![task("a", Some("a"), &[]), task("b", None, &["a"])];
    let model = bed.script(&script_of(lead_with(tasks, &["ann"]), workers(2)));
    let mut lead = bed.start_lead(&["--yes", "--model", &model]);
    lead.line("go");
    wait_until("a is done and ann rests", DEADLINE, || {
        let done = count(&bed, "completed") == 1;
        (done && member(&bed, "ann")["status"] == "idle").then_some(())
    });
    let waiting = view(&bed, "b");
    assert_eq!(waiting["blockedReason"], "waits for wt/a to be merged");
    let listed = bed.lead(&["task", "list"]).expect_code(0).stdout;
    assert!(
        listed.contains("blocked: waits for wt/a to be merged"),
        "{listed}"
    );
    let merged = std::time::Duration::from_secs(25);
    drop(bed.lead(&["worktree", "merge", "a"]).expect_code(0));
    // Well before the slow look of 30 s.
    wait_until("b is done", merged, || {
        (count(&bed, "completed") == 2).then_some(())
    });
    for name in outputs(&bed, &["a", "b"]) {
        assert!(bed.root().join(&name).exists(), "{name}");
    }
    drop(lead.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}

#[test]
fn a_lead_that_may_merge_learns_at_a_standstill_what_is_waited_for() {
    let bed = Bed::git();
    let settings = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&settings, r#"{"mergeBy": "lead"}"#);
    let tasks = vec![task("a", Some("a"), &[]), task("b", None, &["a"])];
    let mut lead = lead_with(tasks, &["ann"]);
    let mut merge = turn(vec![tool("merge_worktree", json!({"name": "a"}))]);
    merge["when"] = json!("b (blocked: waits for wt/a to be merged)");
    lead.push(merge);
    drop(run(&bed, &script_of(lead, workers(2)), &["--yes"]).expect_code(0));
    for name in outputs(&bed, &["a", "b"]) {
        assert!(bed.root().join(&name).exists(), "{name}");
    }
    bed.assert_no_process_left();
}

#[test]
fn a_merge_by_hand_and_a_branch_that_is_gone_count_as_well() {
    let bed = Bed::git();
    let tasks = vec![task("a", Some("a"), &[]), task("b", None, &["a"])];
    let script = script_of(lead_with(tasks, &["ann"]), workers(1));
    drop(run(&bed, &script, &["--yes"]).expect_code(1));
    assert_eq!(view(&bed, "b")["ready"], false);
    bed.run_git(&["merge", "-q", "wt/a"]);
    assert_eq!(view(&bed, "b")["ready"], true);
    bed.run_git(&["reset", "-q", "--hard", "HEAD^"]);
    assert_eq!(view(&bed, "b")["ready"], false);
    bed.run_git(&["worktree", "remove", ".worktrees/a"]);
    bed.run_git(&["pack-refs", "--all"]);
    assert_eq!(view(&bed, "b")["ready"], false);
    bed.run_git(&["branch", "-q", "-D", "wt/a"]);
    assert_eq!(view(&bed, "b")["ready"], true);
}

#[test]
fn what_was_completed_while_no_lead_lived_is_brought_along_at_the_next_start() {
    let bed = Bed::git();
    let tasks = vec![task("a", Some("a"), &[]), task("b", Some("b"), &["a"])];
    let wait = tool(
        "bash",
        json!({"command": "touch /tmp/begun; until [ -e ../../go ]; do sleep 0.02; done"}),
    );
    let mut ann = workers(2);
    ann[0]["tools"].as_array_mut().unwrap().insert(0, wait);
    let model = bed.script(&script_of(lead_with(tasks, &["ann"]), ann));
    let mut lead = bed.start_lead(&["--yes", "--permissions", "bypass", "--model", &model]);
    lead.line("go");
    wait_until("ann is at work", DEADLINE, || {
        let begun = bed.root().join(".team/state/tmp/ann/begun");
        begun.exists().then_some(())
    });
    lead.signal(Signal::SIGKILL);
    drop(lead);
    bed.write("go", "");
    wait_until("a is done", DEADLINE, || {
        (count(&bed, "completed") == 1).then_some(())
    });
    let why = view(&bed, "b")["blockedReason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(why, "waits for wt/a to be merged into worktree b");
    let again = bed.start_lead(&["--yes", "--continue", "--model", &model]);
    wait_until("b is done", DEADLINE, || {
        (count(&bed, "completed") == 2).then_some(())
    });
    assert_eq!(files(&bed, "wt/b"), outputs(&bed, &["a", "b"]));
    drop(again.wait(RUN).expect_code(0));
    bed.assert_no_process_left();
}

fn name(text: &str) -> WorktreeName {
    WorktreeName::parse(text).unwrap()
}

/// A workspace with the worktrees `a` and `b`.
fn two() -> (Bed, Workspace) {
    let bed = Bed::git();
    for (key, value) in [
        ("user.name", "Test"),
        ("user.email", "test@example.invalid"),
    ] {
        bed.run_git(&["config", key, value]);
    }
    let workspace = Workspace::at(bed.root());
    for each in ["a", "b"] {
        worktree::create(&workspace, &name(each)).unwrap();
    }
    (bed, workspace)
}

fn commit_left(workspace: &Workspace, worktree: &str) -> Option<String> {
    let left = worktree::leftovers(workspace, &name(worktree)).unwrap()?;
    Some(left.commit("left").unwrap().told())
}

#[test]
fn what_is_left_uncommitted_is_committed_and_nothing_else() {
    let (bed, workspace) = two();
    assert_eq!(commit_left(&workspace, "a"), None);
    bed.write(".gitignore", "*.log\n");
    bed.write(".worktrees/a/README.md", "changed\n");
    bed.write(".worktrees/a/new \"ü\".txt", "new\n");
    bed.write(".worktrees/a/.gitignore", "*.log\n");
    bed.write(".worktrees/a/x.log", "ignored\n");
    bed.run_git(&["init", "-q", ".worktrees/a/inner"]);
    bed.write(".worktrees/a/inner/file", "x\n");
    bed.run_git(&["-C", ".worktrees/a/inner", "add", "-A"]);
    bed.run_git(&["-C", ".worktrees/a/inner", "commit", "-q", "-m", "inner"]);
    // What has been staged already and is changed again.
    bed.run_git(&["-C", ".worktrees/a", "add", "README.md"]);
    bed.write(".worktrees/a/README.md", "changed again\n");
    let left = worktree::leftovers(&workspace, &name("a"))
        .unwrap()
        .unwrap();
    bed.write(".worktrees/a/made-by-verify.txt", "x\n");
    let told = left.commit("left").unwrap().told();
    assert!(told.starts_with("3 files left uncommitted"), "{told}");
    assert!(
        told.contains("repositories within this one: inner"),
        "{told}"
    );
    let listed = bed.run_git(&["ls-tree", "-r", "--name-only", "-z", "wt/a"]);
    let listed: Vec<&str> = listed.trim_end_matches('\0').split('\0').collect();
    assert_eq!(listed, [".gitignore", "README.md", "new \"ü\".txt"]);
    assert_eq!(bed.run_git(&["show", "wt/a:README.md"]), "changed again\n");
    let status = bed.run_git(&["-C", ".worktrees/a", "status", "--porcelain"]);
    assert_eq!(status, "?? inner/\n?? made-by-verify.txt\n");
}

#[test]
fn what_the_person_completes_is_not_committed_unasked() {
    let bed = Bed::git();
    let id = bed
        .lead(&["task", "add", "a", "--worktree", "a"])
        .expect_code(0)
        .stdout;
    bed.write(".worktrees/a/new.txt", "new\n");
    let done = bed.lead(&["task", "complete", id.trim()]).expect_code(0);
    assert!(
        done.stderr.contains("1 file in .worktrees/a in no commit"),
        "{}",
        done.stderr
    );
    let status = bed.run_git(&["-C", ".worktrees/a", "status", "--porcelain"]);
    assert_eq!(status, "?? new.txt\n");
}

#[test]
fn an_unfinished_rebase_is_no_state_to_complete_in() {
    let (bed, workspace) = two();
    bed.write(".worktrees/a/README.md", "a\n");
    commit_left(&workspace, "a").unwrap();
    bed.write(".worktrees/b/README.md", "b\n");
    commit_left(&workspace, "b").unwrap();
    let mut rebase = bed.command("git");
    rebase.args(["-C", ".worktrees/b", "rebase", "wt/a"]);
    drop(
        crate::support::Running::start(&mut rebase)
            .wait(DEADLINE)
            .expect_code(1),
    );
    let why = worktree::leftovers(&workspace, &name("b")).err().unwrap();
    assert!(
        why.contains("a rebase is in progress in worktree b"),
        "{why}"
    );
    let said = worktree::bring(&workspace, &name("b"), &name("a"));
    assert!(
        matches!(&said, Err(BringError::Failed(why)) if why.contains("a rebase")),
        "{said:?}"
    );
}

#[test]
fn a_branch_is_brought_in_wholly_or_not_at_all() {
    let (bed, workspace) = two();
    let branches = Branches::new(workspace.clone());
    let (a, b) = (name("a"), name("b"));
    assert_eq!(
        branches.contains(Some(&b), &a),
        Ok(()),
        "nothing was done in it"
    );
    bed.write(".worktrees/a/README.md", "a\n");
    bed.write(".worktrees/a/more.txt", "a\n");
    commit_left(&workspace, "a").unwrap();
    let why = branches.contains(Some(&b), &a).unwrap_err();
    assert_eq!(why, "waits for wt/a to be merged into worktree b");

    // Uncommitted changes of an attempt that failed are not overwritten.
    bed.write(".worktrees/b/README.md", "of an earlier attempt\n");
    bed.write(".worktrees/b/more.txt", "of an earlier attempt\n");
    let said = worktree::bring(&workspace, &b, &a).unwrap_err().to_string();
    assert!(said.contains("uncommitted changes in worktree b"), "{said}");
    assert!(
        said.contains("README.md") && said.contains("more.txt"),
        "{said}"
    );
    assert_eq!(
        bed.read(".worktrees/b/README.md"),
        "of an earlier attempt\n"
    );

    bed.run_git(&["-C", ".worktrees/b", "checkout", "-q", "README.md"]);
    std::fs::remove_file(bed.root().join(".worktrees/b/more.txt")).unwrap();
    bed.write(".worktrees/b/own.txt", "b\n");
    commit_left(&workspace, "b").unwrap();
    bed.write(".worktrees/b/untracked.txt", "stays\n");
    assert_eq!(worktree::bring(&workspace, &b, &a).unwrap(), 1);
    assert_eq!(branches.contains(Some(&b), &a), Ok(()));
    assert_eq!(worktree::bring(&workspace, &b, &a).unwrap(), 0);
    assert_eq!(bed.read(".worktrees/b/README.md"), "a\n");
    let status = bed.run_git(&["-C", ".worktrees/b", "status", "--porcelain"]);
    assert_eq!(status, "?? untracked.txt\n");
    let parents = bed.run_git(&["log", "-1", "--format=%p", "wt/b"]);
    assert_eq!(parents.split_whitespace().count(), 2, "a merge");
}

#[test]
fn nobodys_name_is_needed_for_a_commit_of_the_runtime() {
    let (bed, workspace) = two();
    for key in ["user.name", "user.email"] {
        bed.run_git(&["config", "--unset", key]);
    }
    bed.run_git(&["config", "user.useConfigOnly", "true"]);
    bed.write(".worktrees/a/x.txt", "x\n");
    commit_left(&workspace, "a").unwrap();
    let author = bed.run_git(&["log", "-1", "--format=%an", "wt/a"]);
    assert!(!author.trim().is_empty());
}
