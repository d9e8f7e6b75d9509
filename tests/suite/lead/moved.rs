//! A workspace that is moved or removed beneath a running team (SPEC §6.1): its lead no longer holds it.

use std::fs;

use serde_json::json;

use super::scripts::*;
use crate::support::Bed;

/// Runs a team whose files `lose` takes away in the middle of a command, and gives what it said on standard error.
fn lost(bed: &Bed, lose: impl FnOnce(&Bed)) -> String {
    let command = "touch begun; while [ ! -e go ]; do sleep 0.02; done";
    let work = turn(vec![tool("bash", json!({ "command": command }))]);
    let script = script_of(ann_with_a_task(), vec![work, json!({"text": "done"})]);
    let model = bed.script(&script);
    let running = bed.start_lead(&goal(&model, &["--yes"]));
    bed.wait_for("begun");
    lose(bed);
    let done = running.wait(RUN).expect_code(1);
    bed.assert_no_process_left();
    done.stderr
}

#[test]
fn moved_it_is_given_up_and_nothing_comes_up_in_its_old_place() {
    let bed = Bed::git();
    let moved = bed.outside("moved");
    let said = lost(&bed, |bed| {
        fs::rename(bed.root(), &moved).unwrap();
        fs::write(moved.join("go"), "").unwrap();
    });
    assert!(
        said.contains("start lead again where the files are now"),
        "{said}"
    );
    assert!(!bed.root().exists(), "{said}");
    // There the next one goes on.
    fs::rename(&moved, bed.root()).unwrap();
    let script = script_of(vec![json!({"text": "Seen."})], workers(1));
    let model = bed.script(&script);
    drop(bed.start_lead(&goal(&model, &["--yes"])).wait(RUN));
    assert_eq!(statuses(&bed), ["pending"]);
}

#[test]
fn removed_it_stays_removed() {
    let bed = Bed::git();
    let said = lost(&bed, |bed| {
        bed.write("go", "");
        // At once: what is removed file by file comes up again while it is written to.
        let gone = bed.outside("gone");
        fs::rename(bed.root(), &gone).unwrap();
        fs::remove_dir_all(gone).ok();
    });
    assert!(!bed.root().exists(), "{said}");
}

#[test]
fn without_its_state_no_second_lead_can_come_beside_it() {
    let bed = Bed::git();
    let said = lost(&bed, |bed| {
        fs::rename(bed.root().join(".team/state"), bed.outside("state")).unwrap();
        bed.write("go", "");
    });
    assert!(said.contains("it holds the workspace no longer"), "{said}");
}
