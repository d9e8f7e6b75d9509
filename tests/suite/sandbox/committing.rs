//! The lead's own git commands in the workspace: they write the repository once the person agrees, and nothing that would
//! make git run something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::user::again_as_user;
use crate::lead::scripts::{RUN, run, script_of, tool, turn};
use crate::support::agent::Agent;
use crate::support::program::write_program;
use crate::support::{Bed, DEADLINE, Terminal};

const COMMIT: &str = "git add -A && git commit -qm 'by the lead'";

/// A bed whose hooks would tell that they ran.
fn bed() -> Bed {
    let bed = Bed::git();
    let ran = bed.root().join("ran").display().to_string();
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "reference-transaction",
    ] {
        let script = format!("#!/bin/sh\necho {hook} >> {ran}\n");
        write_program(&bed.root().join(".git/hooks").join(hook), &script);
    }
    bed.write("new", "new\n");
    bed
}

fn subject(bed: &Bed) -> String {
    bed.run_git(&["log", "-1", "--format=%s"]).trim().to_owned()
}

#[test]
fn usual_git_of_the_lead_works_in_the_workspace_and_runs_no_hook() {
    let bed = bed();
    let lead = Agent::new(&bed, "lead");
    lead.bash(COMMIT);
    assert_eq!(subject(&bed), "by the lead");
    for command in [
        "git commit -q --allow-empty -F - <<'EOF'\nfrom a text\nEOF",
        "git switch -q -c topic && git rm -q new && git commit -qm topic && git switch -q -",
        "git merge -q --no-ff -m merged topic && git tag v1 && git tag -d v1",
        "git reset -q --hard HEAD~1 && git cherry-pick topic && git revert --no-edit HEAD",
        "git rebase -q topic && git branch -q -D topic",
    ] {
        lead.bash(command);
    }
    bed.write("README.md", "changed\n");
    lead.bash("git stash -q && git stash pop -q && git restore README.md && git log -1");
    assert_eq!(bed.read("README.md"), "scratch\n");
    assert!(!bed.root().join("ran").exists(), "{}", bed.read("ran"));
    bed.run_git(&["fsck", "--strict", "--no-dangling"]);
    again_as_user(
        "sandbox::committing::usual_git_of_the_lead_works_in_the_workspace_and_runs_no_hook",
    );
}

/// All that decides what git runs, and what is not the lead's to change.
fn kept(bed: &Bed) -> BTreeMap<PathBuf, Vec<u8>> {
    fn read(path: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                read(&entry.unwrap().path(), into);
            }
        } else if path.exists() {
            into.insert(path.to_owned(), std::fs::read(path).unwrap());
        }
    }
    let mut found = BTreeMap::new();
    for name in [
        ".git/config",
        ".git/hooks",
        ".git/info",
        ".git/worktrees",
        ".tasks",
        ".worktrees",
    ] {
        read(&bed.root().join(name), &mut found);
    }
    found
}

#[test]
fn what_a_program_of_the_persons_does_in_that_call_reaches_neither_hooks_nor_configuration() {
    let bed = bed();
    let lead = Agent::new(&bed, "lead");
    lead.make_task(json!({"subject": "w", "worktree": "w"}));
    // A filter of the person's own runs what the workspace holds.
    bed.run_git(&["config", "filter.own.clean", "sh ./filter.sh"]);
    bed.write(".gitattributes", "*.own filter=own\n");
    bed.write("a.own", "a\n");
    let filter = "exec 2>/dev/null; cat; touch .git/began
        for file in hooks/pre-push hooks/pre-commit config info/attributes worktrees/w/HEAD worktrees/w/commondir; do
            echo evil >> .git/$file; echo evil > .git/new && mv -f .git/new .git/$file; rm -f .git/$file
        done
        rm -rf .git/hooks .git/info .git/worktrees; mv .git/hooks .git/h; mv .git gone
        echo evil > .tasks/evil; echo evil > .worktrees/w/README.md; umount .git/config; true";
    bed.write("filter.sh", filter);
    let before = kept(&bed);
    lead.bash("git add a.own && git commit -qm filtered");
    assert_eq!(subject(&bed), "filtered");
    assert!(
        bed.root().join(".git/began").exists(),
        "the filter did not run"
    );
    assert_eq!(kept(&bed), before);
    again_as_user(
        "sandbox::committing::what_a_program_of_the_persons_does_in_that_call_reaches_neither_hooks_nor_configuration",
    );
}

#[test]
fn whatever_is_not_plain_git_and_whoever_is_not_the_lead_writes_no_repository() {
    let bed = bed();
    let (lead, alice) = (Agent::new(&bed, "lead"), Agent::new(&bed, "alice"));
    let id = lead.make_task(json!({"subject": "in the workspace"}));
    alice.claim(&id);
    let before = subject(&bed);
    for (agent, command, told) in [
        (
            &lead,
            "git add -A && git commit -qm x && true",
            "nothing but plain git",
        ),
        (
            &lead,
            "git -c core.hooksPath=. commit -q --allow-empty -m x",
            "nothing but plain git",
        ),
        (&lead, "git config user.name evil", "nothing but plain git"),
        (&lead, "git mv new old", "nothing but plain git"),
        (&lead, "git rebase -q --root -x 'touch executed'", ""),
        (&alice, COMMIT, "who commits works in a worktree"),
    ] {
        let said = agent
            .run("bash", &json!({ "command": command }))
            .unwrap_err();
        assert!(said.contains("Read-only file system"), "{command}: {said}");
        assert!(said.contains(told), "{command}: {said}");
    }
    assert_eq!(subject(&bed), before);
    assert!(!bed.root().join("executed").exists());
}

#[test]
fn a_program_that_the_lead_has_written_is_not_taken_for_git() {
    let bed = bed();
    let planted = bed.root().join("bin");
    std::fs::create_dir(&planted).unwrap();
    write_program(&planted.join("git"), "#!/bin/sh\ntouch planted\n");
    let path = format!("{}:bin:/usr/bin:/bin:/usr/local/bin", planted.display());
    let bed = bed.with_env("PATH", path);
    let lead = Agent::new(&bed, "lead");
    lead.bash("git status");
    assert!(bed.root().join("planted").exists(), "it is the first git");
    let said = lead.bash("git commit -q --allow-empty -m real && git log -1 --format=%s");
    assert_eq!(said, "real");
}

#[test]
fn the_person_is_asked_and_where_nobody_is_asked_it_is_denied() {
    let bed = bed();
    let lead = || {
        vec![
            turn(vec![tool("bash", json!({"command": COMMIT}))]),
            json!({"text": "Over."}),
        ]
    };
    let script = script_of(lead(), Vec::new());
    let done = run(&bed, &script, &[]);
    assert!(
        done.stderr.contains("nobody is asked in this run"),
        "{}",
        done.stderr
    );
    assert_eq!(subject(&bed), "first");
    for (answer, wanted) in [("d", "first"), ("a", "by the lead")] {
        let model = bed.script(&script);
        let mut terminal = Terminal::start(bed.lead_command(&["--model", &model]));
        terminal.wait_for("lead> ", DEADLINE);
        terminal.line("go");
        terminal.wait_for("without running its hooks", DEADLINE);
        terminal.wait_for("llow once", DEADLINE);
        terminal.line(answer);
        terminal.wait_for("Over.", DEADLINE);
        terminal.line("/exit");
        assert_eq!(terminal.wait(RUN), Some(0));
        assert_eq!(subject(&bed), wanted);
    }
    let judged = bed.lead(&["permission", "test", COMMIT]).expect_code(0);
    assert!(judged.stdout.starts_with("ask: "), "{}", judged.stdout);
}
