//! The board as real processes see it.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use crate::support::Bed;

const PROCESSES: usize = 8;

#[test]
fn tasks_added_by_many_processes_at_once_are_all_there_once() {
    let bed = Bed::new();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let bed = &bed;
            scope.spawn(move || {
                for nr in 0..5 {
                    let subject = format!("{process}:{nr}");
                    drop(bed.lead(&["task", "add", &subject]).expect_code(0));
                }
            });
        }
    });
    let tasks = bed.tasks();
    let subjects: BTreeSet<&str> = tasks
        .iter()
        .filter_map(|task| task["subject"].as_str())
        .collect();
    assert_eq!(
        (tasks.len(), subjects.len()),
        (PROCESSES * 5, PROCESSES * 5)
    );
    // The journal numbers them without a gap and without one number twice.
    let numbers: Vec<u64> = bed
        .read(".tasks/.journal.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[test]
fn of_many_processes_that_complete_one_task_one_does() {
    let bed = Bed::new();
    let id = bed
        .lead(&["task", "add", "One"])
        .expect_code(0)
        .stdout
        .trim()
        .to_owned();
    let done: Vec<Option<i32>> = thread::scope(|scope| {
        let tries: Vec<_> = (0..PROCESSES)
            .map(|_| scope.spawn(|| bed.lead(&["task", "complete", &id]).code))
            .collect();
        tries
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    assert_eq!(
        done.iter().filter(|code| **code == Some(0)).count(),
        1,
        "{done:?}"
    );
    assert_eq!(bed.tasks()[0]["status"], "completed");
}

#[test]
fn a_damaged_file_is_listed_and_stops_nobody() {
    let bed = Bed::new();
    let torn = "{\"id\": \"task_0000000a\", \"subj";
    bed.write(".tasks/task_0000000a.json", torn);
    let id = bed
        .lead(&["task", "add", "Waits", "--blocked-by", "task_0000000a"])
        .expect_code(0)
        .stdout
        .trim()
        .to_owned();
    let listed = bed.lead(&["task", "list", "--json"]).expect_code(0).json();
    let listed = listed.as_array().unwrap();
    let damaged = listed
        .iter()
        .find(|entry| entry["id"] == "task_0000000a")
        .unwrap();
    assert_eq!(
        (&damaged["damaged"].is_null(), &damaged["ready"]),
        (&false, &json!(false))
    );
    let waits = listed.iter().find(|entry| entry["id"] == id).unwrap();
    assert_eq!(waits["blockedReason"], "task_0000000a is damaged");
    assert_eq!(bed.read(".tasks/task_0000000a.json"), torn);
}
