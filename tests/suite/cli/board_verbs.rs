//! `lead task …` with no lead running.

use serde_json::json;

use super::task;
use crate::support::Bed;

fn added(bed: &Bed, args: &[&str]) -> String {
    let done = bed.lead(&[&["task", "add"], args].concat()).expect_code(0);
    done.stdout.trim().to_owned()
}

#[test]
fn a_task_goes_its_way_by_verbs_alone() {
    let bed = Bed::new();
    let first = added(&bed, &["Write it", "--description", "All of it"]);
    let second = added(
        &bed,
        &["Check it", "--blocked-by", &first, "--assignee", "alice"],
    );
    let list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    assert_eq!(list[0]["id"], json!(first));
    assert_eq!(list[0]["ready"], true);
    assert_eq!(list[1]["ready"], false);
    assert!(
        list[1]["blockedReason"].as_str().unwrap().contains(&first),
        "{list}"
    );
    let shown = bed
        .lead(&["task", "show", &second, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(shown["assignee"], "alice");
    assert_eq!(shown["blockedBy"], json!([first]));

    drop(
        bed.lead(&[
            "task",
            "update",
            &second,
            "--assignee",
            "",
            "--subject",
            "Check all",
        ])
        .expect_code(0),
    );
    let done = bed.lead(&["task", "complete", &first]).expect_code(0);
    assert!(
        done.stdout.contains(&format!("{second} is ready now")),
        "{}",
        done.stdout
    );
    let shown = bed
        .lead(&["task", "show", &second, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&shown["ready"], &shown["subject"]),
        (&json!(true), &json!("Check all"))
    );
    assert!(shown["assignee"].is_null());

    drop(bed.lead(&["task", "cancel", &second]).expect_code(0));
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["tasks"]["completed"], 1);
    assert_eq!(status["tasks"]["cancelled"], 1);
    let journal = bed.read(".tasks/.journal.jsonl");
    assert!(
        journal.lines().all(|line| line.contains("\"by\":\"user\"")),
        "{journal}"
    );
}

#[test]
fn every_change_can_be_had_as_json() {
    let bed = Bed::new();
    let json = |args: &[&str]| {
        let args = [&["task"], args, &["--json"]].concat();
        bed.lead(&args).expect_code(0).json()
    };
    let first = json(&["add", "Write it"])["id"].clone();
    let first = first.as_str().unwrap();
    let second = added(&bed, &["Check it", "--blocked-by", first]);
    let updated = json(&["update", &second, "--subject", "Check all"]);
    assert_eq!(updated["subject"], "Check all");
    assert_eq!(json(&["release", first])["attempts"], 0);
    let done = json(&["complete", first]);
    assert_eq!(
        (&done["status"], &done["unblocked"]),
        (&json!("completed"), &json!([second]))
    );
    let third = added(&bed, &["Ship it", "--blocked-by", &second]);
    let cancelled = json(&["cancel", &second]);
    assert_eq!(
        (&cancelled["status"], &cancelled["dependents"]),
        (&json!("cancelled"), &json!([third]))
    );
}

#[test]
fn what_the_rules_refuse_changes_nothing() {
    let bed = Bed::new();
    let first = added(&bed, &["One"]);
    let second = added(&bed, &["Two", "--blocked-by", &first]);
    let before = bed.tasks();
    bed.lead(&["task", "add", ""]).expect_usage_error("subject");
    for (args, part) in [
        (
            &["task", "add", "x", "--blocked-by", "task_ffffffff"][..],
            "task_ffffffff",
        ),
        (
            &["task", "update", &first, "--add-blocked-by", &second],
            &first,
        ),
        (
            &["task", "update", &first, "--add-blocked-by", &first],
            &first,
        ),
        (
            &["task", "complete", "task_ffffffff"],
            "there is no task task_ffffffff",
        ),
        (
            &["task", "show", "task_ffffffff"],
            "there is no task task_ffffffff",
        ),
    ] {
        let done = bed.lead(args).expect_code(1);
        assert!(
            done.stderr.starts_with("error: ") && done.stderr.contains(part),
            "{}",
            done.stderr
        );
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
    assert_eq!(bed.tasks(), before);
}

#[test]
fn a_task_in_progress_is_taken_away_only_by_force() {
    let bed = Bed::new();
    let mut busy: serde_json::Value = serde_json::from_str(&task("task_00000001")).unwrap();
    busy["status"] = "in_progress".into();
    busy["owner"] = "alice".into();
    bed.write(".tasks/task_00000001.json", &busy.to_string());
    for verb in ["release", "complete", "cancel"] {
        let done = bed.lead(&["task", verb, "task_00000001"]).expect_code(1);
        assert!(
            done.stderr.contains("--force") || done.stderr.contains("in progress"),
            "{}",
            done.stderr
        );
    }
    drop(
        bed.lead(&["task", "release", "task_00000001", "--force"])
            .expect_code(0),
    );
    let task = bed.json(".tasks/task_00000001.json").unwrap();
    assert_eq!(
        (&task["status"], &task["owner"]),
        (&json!("pending"), &json!(null))
    );
}

#[test]
fn a_task_whose_attempts_are_used_up_says_why_nobody_takes_it() {
    let bed = Bed::new();
    let mut tried: serde_json::Value = serde_json::from_str(&task("task_00000001")).unwrap();
    tried["attempts"] = json!(3);
    bed.write(".tasks/task_00000001.json", &tried.to_string());
    let ready = |bed: &Bed| {
        let status = bed.lead(&["status", "--json"]).expect_code(0).json();
        status["tasks"]["ready"].clone()
    };
    assert_eq!(ready(&bed), 0);
    for args in [&["task", "list"][..], &["task", "show", "task_00000001"]] {
        let done = bed.lead(args).expect_code(0);
        assert!(
            done.stdout.contains("3 attempts; release it"),
            "{}",
            done.stdout
        );
    }
    drop(
        bed.lead(&["task", "release", "task_00000001"])
            .expect_code(0),
    );
    assert_eq!(ready(&bed), 1);
}

#[test]
fn damaged_files_are_listed_and_left_alone() {
    let bed = Bed::new();
    bed.write(".tasks/task_00000001.json", &task("task_00000001"));
    bed.write(".tasks/task_00000002.json", "{\"id\": \"task_0000");
    bed.write(".tasks/notes.txt", "mine");
    let list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(list[1]["id"], "task_00000002");
    assert_eq!(list[1]["ready"], false);
    assert!(list[1]["damaged"].is_string(), "{list}");
    let status = bed.lead(&["status", "--json"]).expect_code(0).json();
    assert_eq!(status["tasks"]["damaged"], 1);
    assert_eq!(
        bed.read(".tasks/task_00000002.json"),
        "{\"id\": \"task_0000"
    );
}

#[test]
fn what_a_file_says_cannot_reach_the_terminal_raw() {
    let bed = Bed::new();
    let mut evil: serde_json::Value = serde_json::from_str(&task("task_00000001")).unwrap();
    evil["subject"] = "x\u{1b}]52;c;AAAA\u{7}\u{9b}2J\u{202e}".into();
    evil["description"] = "\u{1b}[2J\r".into();
    bed.write(".tasks/task_00000001.json", &evil.to_string());
    for args in [
        &["task", "list"][..],
        &["task", "show", "task_00000001"],
        &["task", "list", "--json"],
    ] {
        let done = bed.lead(args).expect_code(0);
        let raw = |ch: char| ch.is_control() && ch != '\n' || ch == '\u{202e}';
        assert!(!done.stdout.contains(raw), "{args:?}: {:?}", done.stdout);
    }
}

#[test]
fn the_example_board_is_a_board() {
    let bed = Bed::new();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".tasks.example");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        bed.write(
            &format!(".tasks/{name}"),
            &std::fs::read_to_string(entry.path()).unwrap(),
        );
        count += 1;
    }
    let list = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), count);
    assert!(
        list.iter().all(|task| task["damaged"].is_null()),
        "{list:?}"
    );
    assert!(list.iter().any(|task| task["ready"] == true));
    assert!(list.iter().any(|task| task["ready"] == false));
}

#[test]
fn what_a_verb_makes_is_kept_out_of_git() {
    for args in [
        ["task", "add", "one"].as_slice(),
        &["mail", "send", "lead", "hello"],
    ] {
        let bed = Bed::git();
        drop(bed.lead(args).expect_code(0));
        assert_eq!(bed.run_git(&["status", "--porcelain"]), "", "{args:?}");
    }
}

#[test]
fn a_task_whose_worktree_cannot_be_made_is_not_made_either() {
    let bed = Bed::git();
    bed.run_git(&["branch", "wt/docs"]);
    let done = bed.lead(&["task", "add", "one", "--worktree", "docs"]);
    assert_ne!(done.code, Some(0));
    assert!(
        done.stderr.contains("nothing was changed"),
        "{}",
        done.stderr
    );
    assert_eq!(bed.tasks().len(), 0);
    bed.lead(&["task", "add", " ", "--worktree", "other"])
        .expect_usage_error("subject");
    assert!(!bed.root().join(".worktrees").exists());
}
