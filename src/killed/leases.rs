//! Alice edits a file, bob is refused, and alice's round ends.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::steps::{Act, Check, Victim, anywhere};
use crate::cancel::Cancel;
use crate::ids::AgentName;
use crate::lease::Leases;
use crate::mailbox::inbox;
use crate::store::Durability;
use crate::team::Presence;
use crate::tool::{AgentContext, Outcome, ToolBox, leases};
use crate::workspace::Workspace;

pub(super) fn acts() -> Vec<Act> {
    vec![Act {
        name: "lease",
        prepare,
        perform,
        covers: anywhere,
    }]
}

/// An edit of `a.txt` in a process that holds no lock of `agent` unless the caller does.
fn edit(workspace: &Workspace, agent: &str, old: &str, new: &str) -> Outcome {
    let toolbox = ToolBox::new(Arc::new(AgentContext::alone(
        workspace,
        agent,
        Durability::Power,
    )));
    let dir = workspace.root().to_path_buf();
    let task = crate::ids::TaskId::random();
    toolbox.context().desk.state().assignment = Some(crate::tool::Assignment {
        task: task.clone(),
        version: 1,
        dir,
        worktree: None,
        over: false,
        snapshot: Box::new(
            serde_json::from_value(json!({
                "id": task, "subject": "x", "description": "", "status": "in_progress",
                "owner": agent, "blockedBy": [], "worktree": null,
            }))
            .unwrap(),
        ),
    });
    let input = json!({"path": "a.txt", "old_text": old, "new_text": new});
    toolbox.run("edit_file", &input, &Arc::new(Cancel::new()))
}

fn perform(root: &Path, victim: &Victim) {
    let workspace = Workspace::at(root.to_path_buf());
    let alice = AgentName::parse("alice").unwrap();
    let _life = Presence::take(&workspace, &alice).unwrap().unwrap();
    victim.begin();
    let done = edit(&workspace, "alice", "one", "two");
    assert!(!done.is_error, "{}", done.content);
    let refused = edit(&workspace, "bob", "two", "three");
    assert!(refused.is_error, "{}", refused.content);
    victim.say("refused");
    leases::round_over(&AgentContext::alone(&workspace, "alice", Durability::Power));
    victim.say("over");
}

fn prepare(root: &Path) -> Check {
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    let root = root.to_path_buf();
    Box::new(move |said| {
        let workspace = Workspace::at(root.clone());
        let text = std::fs::read_to_string(root.join("a.txt")).unwrap();
        assert!(["one\n", "two\n"].contains(&text.as_str()), "{text:?}");
        let done = edit(&workspace, "bob", text.trim(), "three");
        assert!(!done.is_error, "nothing is in the way: {}", done.content);
        leases::round_over(&AgentContext::alone(&workspace, "bob", Durability::Power));

        let book = Leases::new(workspace.clone()).read().unwrap().unwrap();
        assert_eq!((book.leases(), book.owed()), (&[][..], &[][..]));
        let told = |name: &str| {
            let mail = inbox::waiting(&workspace, &AgentName::parse(name).unwrap()).unwrap();
            let ids: std::collections::BTreeSet<String> =
                mail.into_iter().map(|message| message.id).collect();
            ids.len()
        };
        assert!(told("bob") <= 1 && told("lead") <= 1);
        if said.iter().any(|line| line == "refused") {
            assert_eq!((told("bob"), told("lead")), (1, 1), "each once");
        }
    })
}
