//! The area `demo` as real processes see it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Bed, DEADLINE, facts};

/// The longest the demo may take.
const LIMIT: Duration = DEADLINE;

fn project(bed: &Bed) -> PathBuf {
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(bed.outside("tmp"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("tally"))
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    dirs.remove(0)
}

fn tasks(project: &std::path::Path) -> Vec<Value> {
    std::fs::read_dir(project.join(".tasks"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("task_"))
        .map(|entry| serde_json::from_str(&std::fs::read_to_string(entry.path()).unwrap()).unwrap())
        .collect()
}

#[test]
fn the_demo_shows_the_whole_machinery_by_itself() {
    let bed = Bed::new();
    let from = facts::now();
    let done = bed.lead(&["demo", "--yes"]).expect_code(0);
    assert!(from.elapsed() < LIMIT, "took {:?}", from.elapsed());
    assert_eq!(done.stderr, "");
    for part in [
        "The model is scripted",
        "Everything else is real",
        "lead proposes a team",
        "team accepted",
        "alice starts",
        "bob submits a plan",
        "plan of bob rejected by user: say first what it starts from",
        "Write max, starting from the first number",
        "plan of bob approved by user",
        "carol asks for permission",
        "command: rm -r build",
        "permission for carol allowed by user",
        "Farewell: sum and mean are repaired",
        "Farewell: max is written",
        "Farewell: the explanation waits",
        "alice has stopped",
        "$ git merge -q --no-edit wt/docs",
        "+        total=$((total + number))",
        "ok      tally sum 2 -3",
        "ok      tally help",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in\n{}",
            done.stdout
        );
    }
    assert!(
        !done
            .stdout
            .split("The suite\n")
            .last()
            .unwrap()
            .contains("FAILED")
    );
    let project = project(&bed);
    assert!(done.stdout.contains(&project.display().to_string()));
    let tasks = tasks(&project);
    assert_eq!(tasks.len(), 6);
    assert!(
        tasks.iter().all(|task| task["status"] == "completed"),
        "{tasks:?}"
    );
    assert!(tasks.iter().any(|task| task["worktree"] == "docs"));
    assert!(!project.join("build").exists());
    for dir in [".mailboxes", ".team/state/transcripts", ".worktrees/docs"] {
        assert!(project.join(dir).is_dir(), "{dir}");
    }
    bed.assert_no_process_left();
    assert_eq!(bed.listing(), [""; 0]);
}

#[test]
fn a_person_may_answer_otherwise() {
    let bed = Bed::new();
    let mut demo = bed.start_lead(&["demo"]);
    for answered in 0..3 {
        let question = crate::support::wait_until("a question", DEADLINE, || {
            let seen = demo.stdout();
            let suggestions: Vec<&str> = seen.split("(the script's person would say: ").collect();
            let last = suggestions.get(answered + 1)?;
            last.contains("] ").then(|| (*last).to_owned())
        });
        demo.line(if question.starts_with("a ") {
            "d leave it there"
        } else {
            "y"
        });
    }
    let done = demo.wait(LIMIT).expect_code(0);
    for part in [
        "permission for carol denied by user: leave it there",
        "plan of bob approved by user",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in\n{}",
            done.stdout
        );
    }
    let project = project(&bed);
    assert!(project.join("build").exists());
    assert!(
        tasks(&project)
            .iter()
            .all(|task| task["status"] == "completed")
    );
    bed.assert_no_process_left();
}

#[test]
fn a_declined_team_ends_the_demo_plainly() {
    let bed = Bed::new();
    let done = bed.lead_fed(&["demo"], "n not now\n").expect_code(1);
    for part in [
        "team declined by user: not now",
        "Then I start nobody",
        "FAILED",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in\n{}",
            done.stdout
        );
    }
    assert!(!project(&bed).join(".team/state/members").exists());
    bed.assert_no_process_left();
}
