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
        "That was it: all 6 tasks are completed.",
        "lead status --root ",
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
    let done = bed.lead_fed(&["demo"], "n not now\n").expect_code(0);
    for part in [
        "team declined by user: not now",
        "Then I start nobody",
        "nobody was started and nothing was changed; `lead demo` shows it again",
    ] {
        assert!(
            done.stdout.contains(part),
            "{part:?} not in\n{}",
            done.stdout
        );
    }
    assert!(!done.stdout.contains("The suite\n"), "{}", done.stdout);
    assert!(!project(&bed).join(".team/state/members").exists());
    bed.assert_no_process_left();
}

#[test]
fn a_demo_that_nobody_answers_says_what_to_do() {
    let bed = Bed::new();
    let done = bed.lead(&["demo"]).expect_code(1);
    let told = "error: the demo was not shown to its end; standard input ended";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    assert!(done.stderr.contains("--yes"), "{}", done.stderr);
    bed.assert_no_process_left();
}

#[test]
fn two_plans_turned_down_end_the_demo_plainly() {
    let bed = Bed::new();
    let mut demo = bed.start_lead(&["demo"]);
    let mut answered = 0;
    // Whether the permission is asked for before the second plan is a matter of time.
    loop {
        let question = crate::support::wait_until("a question or the end", DEADLINE, || {
            let ended = demo.has_ended().is_some();
            let seen = demo.stdout();
            let last = seen
                .split("(the script's person would say: ")
                .nth(answered + 1);
            match last.and_then(|last| last.lines().nth(1)) {
                Some(asked) if asked.contains("] ") => Some(Some(asked.to_owned())),
                _ => ended.then_some(None),
            }
        });
        let Some(question) = question else { break };
        answered += 1;
        let plan = question.starts_with("plan of");
        demo.line(if plan { "n not so" } else { "y" });
    }
    let done = demo.wait(LIMIT).expect_code(0);
    let told = "You turned the plan down twice, so it was left at that with ";
    assert!(done.stdout.contains(told), "{}", done.stdout);
    bed.assert_no_process_left();
}

#[test]
fn a_demo_without_its_tools_says_what_it_needs() {
    let bed = Bed::new();
    std::fs::create_dir(bed.outside("nothing")).unwrap();
    let nothing = bed.outside("nothing").display().to_string();
    let bed = bed.with_env("PATH", nothing);
    let done = bed.lead(&["demo", "--yes"]).expect_code(1);
    let told = "error: cannot run sh; ";
    assert!(done.stderr.starts_with(told), "{}", done.stderr);
    assert!(
        done.stderr.contains("the demo needs it and git"),
        "{}",
        done.stderr
    );
}

#[test]
fn the_demo_is_made_where_the_person_says() {
    let bed = Bed::new();
    let done = bed.lead_fed(&["demo", "--root", "."], "n\n").expect_code(0);
    let made: Vec<String> = bed
        .listing()
        .into_iter()
        .filter(|name| name.ends_with("/tally") && name.matches('/').count() == 1)
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(done.stdout.contains(&made[0]), "{}", done.stdout);
    bed.lead(&["demo", "--root", "nowhere"])
        .expect_usage_error("is not a directory");
}
