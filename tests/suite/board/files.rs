//! Files that are no tasks, as the programs see them.

use serde_json::json;

use crate::support::Bed;

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
