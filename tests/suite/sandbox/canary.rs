//! A key in the lead's environment is nowhere but in the processes that call the model (SPEC §13.1).

use std::fs::File;

use serde_json::json;

use super::user::{again_as_user, is_root};
use crate::support::model_server::{Answer, Ask, ModelServer};
use crate::support::{Bed, DEADLINE, Done, wait_until};

const CANARY: &str = "canary-3f9c1d77e2";

/// Looks for secrets wherever a command can; what it sees goes to the model, the transcript and a file.
const PRY: &str = "{ echo PRIED=$((40 + 2)); env; set; export -p; cat /proc/*/{environ,cmdline,task/*/environ} .team/state/session.json; git log; \
    git config -l; printf 'protocol=https\\nhost=h\\n\\n' | git credential fill; } 2>/dev/null | tr '\\0' '\\n' | tee -a pried.txt";

/// The same for what the person's own hook is given; what it says on standard error is told to the person, and of one event
/// to the model.
const HOOK: &str =
    "{ env; set; cat /proc/$$/environ; cat; } | tr '\\0' '\\n' | tee -a \"$HOME/of-hook.txt\" >&2";

/// Hands out what it was given as the password.
const HELPER: &str = "!f() { env > \"$HOME/of-helper.txt\"; env | sed 's/^/password=/'; }; f";

/// A bed whose processes all have the key, once under another name.
fn bed_with_key(server: &ModelServer) -> Bed {
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", CANARY)
        .with_env("ANTHROPIC_AUTH_TOKEN", CANARY)
        .with_env("OPENAI_API_KEY", CANARY)
        .with_env("MY_OWN_NOTE", format!("keep {CANARY} here"))
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base());
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        &json!({"hooks": {
            "UserPromptSubmit": [HOOK], "PreToolUse": [format!("{HOOK}; exit 1")], "PostToolUse": [format!("{HOOK}; exit 2")],
            "Stop": [HOOK], "TeammateIdle": [HOOK], "TaskCompleted": [format!("{HOOK}; exit 1")],
        }})
        .to_string(),
    );
    bed.run_git(&["config", "credential.helper", HELPER]);
    bed.program(
        "git",
        "#!/bin/sh\n{ env; cat /proc/self/environ; } >> \"$HOME/of-git.txt\"\nPATH=${PATH#*:}\nexec git \"$@\"\n",
    );
    bed
}

/// No file of the bed holds the key.
#[track_caller]
fn assert_no_file_holds_it(bed: &Bed) {
    let mut found = Vec::new();
    let mut open = vec![bed.root().parent().unwrap().to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && has_canary(&std::fs::read(&path).unwrap()) {
                found.push(path);
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

fn has_canary(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(CANARY)
}

#[track_caller]
fn assert_silent(what: &str, done: &Done) {
    for stream in [&done.stdout, &done.stderr] {
        assert!(!stream.contains(CANARY), "{what} says the key: {stream}");
    }
}

/// The lead pries and starts two teammates; one pries, the other is refused by the server, which repeats the key.
fn answer(ask: &Ask) -> Answer {
    let refuse = || {
        let body = json!({"type": "error", "error": {
            "type": "authentication_error", "message": format!("invalid x-api-key {CANARY}, Bearer {CANARY}"),
        }});
        Answer::fail(401).body(&body.to_string())
    };
    let member = |name: &str| json!({"name": name, "role": "coder"});
    let spawn = |name: &str| json!({"name": name, "role": "coder", "prompt": "Look around."});
    match (ask.agent.as_str(), ask.step()) {
        ("lead", 0) => Answer::call("bash", json!({"command": PRY}))
            .and(
                "create_task",
                json!({"subject": "look", "verify": PRY, "worktree": "w"}),
            )
            .and(
                "propose_team",
                json!({"members": [member("alice"), member("bob")], "rationale": "eyes"}),
            ),
        ("lead", 1) => {
            Answer::call("spawn_teammate", spawn("alice")).and("spawn_teammate", spawn("bob"))
        }
        ("alice", 0) => Answer::say("I wait for work."),
        ("alice", 1) => Answer::call("bash", json!({"command": PRY})),
        ("alice", 2) => {
            let id = ask.assigned_task().unwrap();
            Answer::call("complete_task", json!({"task_id": id, "result": "looked"}))
        }
        ("bob", _) => refuse(),
        _ => Answer::say("Noted."),
    }
}

#[test]
fn the_key_is_in_no_file_no_output_and_no_request() {
    let server = ModelServer::start(answer);
    let bed = bed_with_key(&server);
    let goal = |format| {
        let mut args = vec!["-p", "go", "--yes", "--permissions", "bypass", "-v"];
        args.extend(["--model", "anthropic:x", "--output-format", format]);
        args
    };
    let done = bed.lead(&goal("stream-json"));
    assert_silent("the run", &done);
    let tasks = bed.tasks();
    assert_eq!(
        tasks[0]["status"], "completed",
        "{}\n{}",
        done.stdout, done.stderr
    );
    // Both have pried, and verify.
    let seen = |agent: &str| {
        let asks = server.asks();
        asks.iter()
            .any(|ask| ask.agent == agent && ask.everything().contains("PRIED=42"))
    };
    assert!(seen("lead") && seen("alice"));
    for of in ["git", "hook"] {
        let told = std::fs::read_to_string(bed.home().join(format!("of-{of}.txt"))).unwrap();
        assert!(told.contains("HOME="), "{of}: {told}");
    }
    let heard = |ask: &Ask| ask.everything().contains("A hook of the person says");
    assert!(server.asks().iter().any(heard));
    let bob = bed.json(".team/state/members/bob.json").unwrap();
    assert!(
        bob["lastError"].as_str().unwrap().contains("401"),
        "{bob:#}"
    );
    for ask in server.asks() {
        assert!(!ask.body.to_string().contains(CANARY), "{:#}", ask.body);
    }
    for verb in [
        "status",
        "doctor",
        "config",
        "log",
        "usage",
        "sessions",
        "task list",
        "team list",
        "mail list lead --all",
        "plan list",
        "permission list",
        "worktree list",
    ] {
        for more in [&[][..], &["--json"]] {
            let args: Vec<&str> = verb.split(' ').chain(more.iter().copied()).collect();
            assert_silent(verb, &bed.lead(&args));
        }
    }
    assert_no_file_holds_it(&bed);
}

#[test]
fn the_key_is_nowhere_as_a_user_either() {
    again_as_user("sandbox::canary::the_key_is_in_no_file_no_output_and_no_request");
}

/// Addresses that hold the key, and a server that repeats it in every way there is.
#[test]
fn no_error_says_the_key() {
    let bodies = [
        format!("{{\"error\":{{\"type\":\"x\",\"message\":\"no {CANARY}\"}}}}"),
        format!("<html>key {CANARY}</html>"),
    ];
    for status in [400, 401, 403, 404] {
        let bodies = bodies.clone();
        let server = ModelServer::start(move |ask| {
            Answer::fail(status).body(&bodies[usize::from(ask.agent.len() % 2 == 0)])
        });
        for (model, base, url) in [
            ("anthropic:x", "ANTHROPIC_BASE_URL", server.anthropic_base()),
            ("openai:x", "OPENAI_BASE_URL", server.openai_base()),
        ] {
            let bed = bed_with_key(&server).with_env(base, url);
            let done = bed.lead(&[
                "-p",
                "go",
                "-v",
                "--model",
                model,
                "--output-format",
                "json",
            ]);
            assert_eq!(done.code, Some(1), "{}", done.stderr);
            assert!(
                done.stdout.contains(&status.to_string())
                    || done.stderr.contains(&status.to_string())
            );
            assert_silent(&format!("{model} {status}"), &done);
            assert_no_file_holds_it(&bed);
        }
    }
    let server = ModelServer::start(|_| Answer::say("ok"));
    for url in [
        format!("{CANARY} host"),
        format!("ftp://{CANARY}@host"),
        format!("http://u:{CANARY}@[::bad/v1"),
        format!("http://ho st/{CANARY}?key={CANARY}"),
    ] {
        for (model, base) in [
            ("anthropic:x", "ANTHROPIC_BASE_URL"),
            ("openai:x", "OPENAI_BASE_URL"),
        ] {
            let bed = bed_with_key(&server).with_env(base, url.clone());
            for args in [
                &["-p", "go", "--model", model][..],
                &[
                    "-p",
                    "go",
                    "--model",
                    model,
                    "--output-format",
                    "stream-json",
                ],
                &["doctor", "--json"],
                &["config", "--json"],
            ] {
                assert_silent(&format!("{args:?} with {url}"), &bed.lead(args));
            }
            assert_no_file_holds_it(&bed);
        }
    }
}

/// The bytes of a file of a process, as far as this one may read them.
fn of_process(pid: u64, name: &str) -> std::io::Result<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/{name}"))
}

#[test]
fn neither_lead_nor_teammate_can_be_looked_into() {
    let server = ModelServer::start(|ask| match (ask.agent.as_str(), ask.step()) {
        ("lead", 0) => Answer::call(
            "propose_team",
            json!({"members": [{"name": "alice", "role": "coder"}], "rationale": "one"}),
        ),
        ("lead", 1) => Answer::call(
            "spawn_teammate",
            json!({"name": "alice", "role": "coder", "prompt": "Wait."}),
        ),
        _ => Answer::say("I wait."),
    });
    let bed = bed_with_key(&server);
    let mut lead = bed.start_lead(&["--yes", "--model", "anthropic:x"]);
    lead.line("go");
    let member = |status: &str| {
        let member = bed.json(".team/state/members/alice.json")?;
        (member["status"] == status).then(|| member["pid"].as_u64())?
    };
    let alice = wait_until("alice is idle", DEADLINE, || member("idle"));
    let lead_pid = u64::from(lead.pid());
    let by_hand = bed.start_teammate(&["--name", "bob", "--model", "anthropic:x"]);
    wait_until("bob is there", DEADLINE, || {
        bed.json(".team/state/members/bob.json")
            .filter(|bob| bob["pid"].is_u64())
    });
    for pid in [lead_pid, alice, u64::from(by_hand.pid())] {
        let cmdline = of_process(pid, "cmdline").unwrap();
        assert!(!has_canary(&cmdline));
        if is_root() {
            continue;
        }
        for name in ["environ", "auxv", "maps"] {
            let refused = of_process(pid, name).unwrap_err();
            assert_eq!(
                refused.kind(),
                std::io::ErrorKind::PermissionDenied,
                "{name}"
            );
        }
        let memory = File::options().read(true).open(format!("/proc/{pid}/mem"));
        assert!(memory.is_err());
    }
    // Whoever may read it finds no key where none is needed.
    if is_root() {
        assert!(!has_canary(&of_process(alice, "environ").unwrap()));
    }
    drop((lead, by_hand));
}

#[test]
fn no_process_of_a_user_can_be_looked_into() {
    again_as_user("sandbox::canary::neither_lead_nor_teammate_can_be_looked_into");
}
