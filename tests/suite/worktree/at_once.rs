//! Many processes that want the same worktree.

use std::time::Duration;

use crate::support::{Bed, Done, Running};

#[test]
fn one_gets_the_worktree_and_nobody_is_told_to_remove_it() {
    let bed = Bed::git();
    let wanting: Vec<Running> = (0..12)
        .map(|n| {
            let subject = format!("c{n}");
            bed.start_lead(&["task", "add", &subject, "--worktree", "same"])
        })
        .collect();
    let (won, lost): (Vec<Done>, Vec<Done>) = wanting
        .into_iter()
        .map(|one| one.wait(Duration::from_mins(1)))
        .partition(|done| done.code == Some(0));
    assert_eq!(won.len(), 1);
    for done in lost {
        let said = done.stderr;
        assert!(said.contains("exists already"), "{said}");
        assert!(
            !said.contains("Partial") && !said.contains("--force"),
            "{said}"
        );
    }
    let tasks = bed.tasks();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0]["id"], won[0].stdout.trim());
    assert_eq!(tasks[0]["worktree"], "same");
}
