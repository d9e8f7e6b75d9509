//! What would ask a person something finds nobody to ask and ends: there is no terminal, no input and no editor.

use serde_json::json;

use super::cell::has;
use crate::support::Bed;
use crate::support::agent::Agent;

/// A program that is needed, a command, and what its answer holds.
const COMMANDS: [(&[&str], &str, &str); 17] = [
    (&[], "git log", "second"),
    (&["less"], "less README.md", "scratch"),
    (&[], "git commit --allow-empty", "exit status 1"),
    (&[], "git commit --amend", "exit status 1"),
    (&[], "git rebase -i HEAD~1", "exit status 1"),
    (&[], "git tag -a v1", "exit status"),
    (
        &[],
        "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill",
        "terminal prompts disabled",
    ),
    (
        &[],
        "echo x >> README.md; git add -p; git checkout -q README.md; echo on",
        "on",
    ),
    (&[], "read x; echo \"got <$x> $?\"", "got <> 1"),
    (&[], "cat; echo $?", "0"),
    (&[], "dd of=/dev/null", "0"),
    (&[], "select x in a b; do echo $x; done; echo on", "on"),
    (&[], "bash -i; echo on", "on"),
    (&[], "rm -i README.md; ls", "README.md"),
    (
        &[],
        "test -t 0 || test -t 1 || echo none; : < /dev/tty; echo $?",
        "none",
    ),
    (&["python3"], "python3; echo $?", "0"),
    (
        &["ssh"],
        "ssh -o ConnectTimeout=2 nobody@host.invalid",
        "exit status 255",
    ),
];

#[test]
fn what_would_ask_a_person_ends_by_itself_and_changes_nothing() {
    let bed = Bed::git();
    bed.run_git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    let lead = Agent::new(&bed, "lead");
    let task = lead.make_task(json!({"subject": "try", "worktree": "w"}));
    let alice = Agent::new(&bed, "alice");
    alice.claim(&task);
    for (needs, command, wanted) in COMMANDS {
        if !has(needs) {
            continue;
        }
        let said = alice.run("bash", &json!({"command": command, "timeout_secs": 60}));
        let (Ok(said) | Err(said)) = said;
        assert!(said.contains(wanted), "{command}: {said}");
        assert!(!said.contains("timed out"), "{command}: {said}");
    }
    assert_eq!(
        alice.bash("git rev-list --count HEAD; git status --porcelain"),
        "2"
    );
    for command in ["sudo true", "vim README.md"] {
        let said = alice.run("bash", &json!({"command": command}));
        assert!(said.unwrap_err().contains("denied"), "{command}");
    }
}
