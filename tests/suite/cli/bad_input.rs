//! Mistakes in the call or in the settings: one line, exit code 2, nothing changed on disk.

use crate::support::Bed;

#[test]
fn a_mistake_in_the_call_is_one_line_and_changes_nothing() {
    let bed = Bed::new();
    bed.write("file.txt", "x");
    for (args, part) in [
        (&["frobnicate"][..], "unknown verb \"frobnicate\""),
        (&["statsu"], "did you mean `lead status`?"),
        (&["tasks"], "did you mean `lead task list`?"),
        (&["task", "new", "x"], "did you mean `lead task add`?"),
        (&["--modle", "x"], "did you mean \"--model\"?"),
        (&["task"], "a verb is missing"),
        (&["task", "show"], "<ID>"),
        (
            &["task", "show", "task_1"],
            "is not an id of the form task_<8 hex>",
        ),
        (&["-p", ""], "the goal is empty"),
        (&["-p", " \n "], "the goal is empty"),
        (&["--model", "acme:x", "-p", "go"], "acme"),
        (&["--model", "claude", "-p", "go"], "claude"),
        (&["--model", "anthropic:x", "-p", "go"], "ANTHROPIC_API_KEY"),
        (&["--model", "openai:x", "-p", "go"], "OPENAI_API_KEY"),
        (&["--model", "script:none.json", "-p", "go"], "none.json"),
        (&["--root", "file.txt", "status"], "is not a directory"),
        (&["--root", "nowhere", "status"], "is not a directory"),
        (&["--max-tokens", "many", "-p", "go"], "--max-tokens"),
        (&["--max-time", "soon", "-p", "go"], "--max-time"),
        (&["--permissions", "yolo", "-p", "go"], "--permissions"),
        (&["--output-format", "json"], "<GOAL>"),
        (&["--resume", "last", "-p", "go"], "ses_<8 hex>"),
        (
            &["--yes", "status"],
            "flags of a session were given with a verb",
        ),
        (&["mail", "send", "no/name", "hi"], "is not an agent name"),
    ] {
        let before = bed.listing();
        bed.lead(args).expect_usage_error(part);
        assert_eq!(bed.listing(), before, "{args:?}");
    }
}

#[test]
fn an_address_where_no_server_can_be_is_a_mistake_in_the_settings() {
    for (variable, model) in [
        ("OPENAI_BASE_URL", "openai:m"),
        ("ANTHROPIC_BASE_URL", "anthropic:m"),
        ("OLLAMA_HOST", "ollama:m"),
    ] {
        for base in ["http://host:99999", "http://host:1x", "ftp://host"] {
            let bed = Bed::new()
                .with_env("ANTHROPIC_API_KEY", "a-key")
                .with_env(variable, base);
            let part = format!("{variable} is no address of a server; ");
            bed.lead(&["-p", "go", "--model", model])
                .expect_usage_error(&part);
            assert_eq!(bed.listing(), [""; 0], "{variable} {base}");
        }
    }
}

#[test]
fn a_broken_script_is_found_before_anything_is_made() {
    let bed = Bed::new();
    let model = bed.script(&serde_json::json!({ "agents": { "lead": [{ "txet": "x" }] } }));
    bed.lead(&["--model", &model, "-p", "go"])
        .expect_usage_error("script.json");
    assert_eq!(bed.listing(), [""; 0]);
}

#[test]
fn teammates_refuse_what_they_cannot_be() {
    // No Ollama of the machine's own answers.
    let bed = Bed::new().with_env("OLLAMA_HOST", "127.0.0.1:1");
    for (args, part) in [
        (&["--name", "lead"][..], "reserved"),
        (&["--name", "a/b"], "is not an agent name"),
        (&["--name", "alice", "--task", "x"], "task_<8 hex>"),
        (&["--name", "alice", "--model", "acme:x"], "acme"),
        (&["--nmae", "alice"], "did you mean \"--name\"?"),
        (&[], "`lead` starts those by itself"),
        (
            &["--name", "alice"],
            "start `lead`, which starts teammates itself",
        ),
        (
            &["--name", "alice", "--model", "openai:x"],
            "OPENAI_API_KEY",
        ),
        (
            &["--name", "alice", "--model", "script:none.json"],
            "none.json",
        ),
        (
            &["--name", "alice", "--keys-on-stdin"],
            "no credentials on standard input",
        ),
    ] {
        bed.start_teammate(args)
            .wait(crate::support::DEADLINE)
            .expect_usage_error(part);
        assert_eq!(bed.listing(), [""; 0], "{args:?}");
    }
}

#[test]
fn a_process_that_hides_whose_it_is_only_reads() {
    for hidden in ["x", "garbage", "@/tmp", "al@", "al@tmp", "a l@/tmp"] {
        let bed = Bed::new().with_env("PITCREW_AGENT", hidden);
        bed.lead(&["task", "add", "x"])
            .expect_usage_error(&format!("PITCREW_AGENT={hidden}, which names no agent"));
        drop(bed.lead(&["task", "list"]).expect_code(0));
    }
    let bed = Bed::new().with_env("PITCREW_AGENT", "al@/");
    drop(bed.lead(&["task", "add", "x"]).expect_code(0));
}

#[test]
fn a_process_started_by_an_agents_tool_only_reads() {
    let bed = Bed::new();
    let bed = {
        let root = bed.root().display().to_string();
        bed.with_env("PITCREW_AGENT", format!("alice@{root}"))
    };
    for args in [
        &["task", "add", "x"][..],
        &["mail", "send", "lead", "x"],
        &["permission", "allow", "req_00000001"],
        &["plan", "approve", "req_00000001"],
        &["-p", "go", "--model", "script:x"],
        &[],
    ] {
        bed.lead(args)
            .expect_usage_error("started by a tool of alice");
    }
    bed.start_teammate(&["--name", "bob"])
        .wait(crate::support::DEADLINE)
        .expect_usage_error("started by a tool of alice");
    assert_eq!(bed.listing(), [""; 0]);
    for args in [
        &["status"][..],
        &["task", "list"],
        &["mail", "list"],
        &["plan", "list"],
    ] {
        drop(bed.lead(args).expect_code(0));
    }
    drop(
        bed.lead(&[
            "task",
            "add",
            "x",
            "--root",
            &bed.home().display().to_string(),
        ])
        .expect_code(0),
    );
}

#[test]
fn a_link_in_the_place_of_the_teams_directories_is_refused() {
    let below = [
        "archive",
        "git",
        "hooks",
        "leases",
        "logs",
        "members",
        "quarantine",
        "requests",
        "tmp",
        "transcripts",
    ]
    .map(|name| format!(".team/state/{name}"));
    let above = [".tasks", ".mailboxes", ".worktrees", ".team", ".team/state"];
    for name in above.into_iter().chain(below.iter().map(String::as_str)) {
        let bed = Bed::new();
        let elsewhere = bed.outside("elsewhere");
        std::fs::create_dir_all(elsewhere.join("lead")).unwrap();
        let link = bed.root().join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        for args in [
            &["task", "add", "x"][..],
            &["-p", "go", "--model", "script:x"],
            &["status"],
            &["doctor", "--repair"],
        ] {
            bed.lead(args).expect_usage_error("is a symbolic link");
        }
        let checks = bed.lead(&["doctor", "--json"]).expect_code(1).json();
        let checks = checks["checks"].as_array().unwrap();
        let links = checks
            .iter()
            .find(|check| check["name"] == "links")
            .unwrap();
        assert_eq!(links["ok"], false);
        assert!(links["detail"].as_str().unwrap().contains(name), "{links}");
        for other in ["locking", "space", "git", "settings", "model"] {
            let listed = checks.iter().any(|check| check["name"] == other);
            assert!(listed, "{name}: no {other} in {checks:#?}");
        }
        bed.start_teammate(&["--name", "bob"])
            .wait(crate::support::DEADLINE)
            .expect_usage_error("is a symbolic link");
        let there = std::fs::read_dir(&elsewhere).unwrap();
        let there: Vec<_> = there.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(there, ["lead"], "{name}: nothing is made or removed");
    }
}
