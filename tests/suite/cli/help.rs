//! Every example that a verb's help shows does what it says, over a workspace that has what it names.

use serde_json::json;

use super::task;
use crate::support::{Bed, DEADLINE, Running, wait_until};

/// Verbs with the verbs beneath them, from the help of `path`.
fn verbs(bed: &Bed, path: &[String], into: &mut Vec<Vec<String>>) {
    let help = help(bed, path);
    into.push(path.to_vec());
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return;
    };
    let list = list.split("\n\n").next().unwrap();
    let names = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    for name in names {
        verbs(bed, &[path, &[name.to_owned()]].concat(), into);
    }
}

fn help(bed: &Bed, path: &[String]) -> String {
    let mut call: Vec<&str> = path.iter().map(String::as_str).collect();
    call.push("--help");
    bed.lead(&call).expect_code(0).stdout
}

fn examples(help: &str) -> Vec<String> {
    let after = help.split_once("\nExample").map_or("", |(_, after)| after);
    let lines = after.lines().filter_map(|line| line.strip_prefix("  "));
    lines.map(str::to_owned).collect()
}

/// A workspace with everything that the examples name; the worktree takes a while to make.
pub(super) fn fixture(worktree: bool) -> Bed {
    let bed = Bed::git();
    for id in ["task_1a2b3c4d", "task_99887766"] {
        bed.write(&format!(".tasks/{id}.json"), &task(id));
    }
    if worktree {
        let add = ["task", "add", "in a worktree", "--worktree", "docs"];
        let made = bed.lead(&add).expect_code(0).stdout;
        drop(bed.lead(&["task", "cancel", made.trim()]).expect_code(0));
    }
    bed.write(
        ".team/state/members/alice.json",
        &json!({"name": "alice", "role": "coder", "model": "ollama:x", "status": "stopped", "pid": null, "task": null,
            "planGate": "not_required", "startedAt": "2026-11-30T17:00:00.000Z", "turns": 0, "tokens": 0, "lastError": null})
        .to_string(),
    );
    bed.write(
        ".mailboxes/lead.jsonl",
        "{\"id\":\"msg_9f86d081884c7d65\",\"from\":\"alice\",\"to\":\"lead\",\"type\":\"message\",\"content\":\"x\",\"timestamp\":1764522000123}\n",
    );
    let request = |id: &str, kind: &str, sender: &str, payload: serde_json::Value| {
        json!({"request_id": id, "type": kind, "sender": sender, "target": "user", "status": "pending",
            "payload": payload, "created_at": "2026-11-30T17:00:00.000Z"})
        .to_string()
    };
    let plan = request(
        "req_0a1b2c3d",
        "plan_approval",
        "alice",
        json!({"title": "x", "steps": ["y"]}),
    );
    bed.write(".team/state/requests/req_0a1b2c3d.json", &plan);
    let call = json!({"tool": "bash", "input": {"command": "rm x"}, "always": "bash(rm *)"});
    let permission = request("req_0a1b2c3e", "permission", "lead", call);
    bed.write(".team/state/requests/req_0a1b2c3e.json", &permission);
    bed
}

fn run(bed: &Bed, example: &str) -> crate::support::Done {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_lead"));
    let bin = bin.parent().unwrap().display();
    std::fs::create_dir_all(bed.home().join(".local/share/bash-completion/completions")).unwrap();
    let mut shell = bed.command("sh");
    shell.args(["-c", &format!("PATH={bin}:$PATH; {example}")]);
    Running::start(&mut shell).wait(DEADLINE)
}

/// A process for the record of alice; dropping it ends it.
pub(super) fn living_alice(bed: &Bed) -> Running {
    let model = bed.script(&json!({ "agents": { "*": [] } }));
    let alice = bed.start_teammate(&["--name", "alice", "--model", &model]);
    wait_until("alice waits", DEADLINE, || {
        let list = bed.lead(&["team", "list", "--json"]).expect_code(0).json();
        (list[0]["alive"] == true && list[0]["status"] == "idle").then_some(())
    });
    alice
}

/// Verbs whose examples change something that another example names.
const CHANGING: [&str; 15] = [
    "add", "update", "release", "complete", "cancel", "send", "approve", "reject", "allow", "deny",
    "merge", "remove", "doctor", "stop", "kill",
];

#[test]
fn every_example_works() {
    let mut bed = fixture(false);
    let mut all = Vec::new();
    verbs(&bed, &[], &mut all);
    assert!(all.len() > 35, "{all:?}");
    for path in all {
        // The session's own calls want a model; the demo and what follows have tests of their own.
        if path.is_empty() || path == ["demo"] || path == ["log"] {
            continue;
        }
        let changing = CHANGING.contains(&path.last().unwrap().as_str());
        for example in examples(&help(&bed, &path)) {
            if example.contains("--watch") {
                continue;
            }
            if path == ["doctor"] {
                // What is written by hand is not as private as it finds good.
                bed = Bed::git();
            } else if changing || path[0] == "worktree" {
                bed = fixture(path[0] == "worktree");
            }
            // Whoever is ended must live.
            let alice = (path[0] == "team" && changing).then(|| living_alice(&bed));
            let done = run(&bed, &example);
            drop(alice);
            // Without a session there is no way back; the reader of manual pages may be missing.
            let code = match path[0].as_str() {
                "man" => done.code,
                "diff" | "undo" => Some(1),
                _ => Some(0),
            };
            assert_eq!(done.code, code, "{example}: {}{}", done.stdout, done.stderr);
        }
    }
}

#[test]
fn what_is_unknown_has_its_nearest_named() {
    let bed = Bed::new();
    for (call, near) in [
        (&["statu"][..], "`lead status`"),
        (&["task", "ad", "x"], "`lead task add`"),
        (&["worktree", "merg"], "`lead worktree merge`"),
        (&["task", "add", "x", "--asignee", "bob"], "\"--assignee\""),
        (&["--permisions", "ask"], "\"--permissions\""),
        (&["--permissions", "bypas"], "\"bypass\""),
        (&["completions", "bsh"], "\"bash\""),
        (&["--output-format", "jsn", "-p", "x"], "\"json\""),
    ] {
        bed.lead(call)
            .expect_usage_error(&format!("did you mean {near}?"));
    }
}
