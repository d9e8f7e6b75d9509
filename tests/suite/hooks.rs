//! Hooks: what each is told, what its end means, and that nothing of it stays.

use serde_json::{Value, json};

use crate::lead::scripts::*;
use crate::support::{Bed, DEADLINE, Done, wait_until};

const CANARY: &str = "canary-5b20e8";

const EVENTS: [&str; 6] = [
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "TeammateIdle",
    "TaskCompleted",
];

fn set(bed: &Bed, hooks: &Value) {
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        &json!({ "hooks": hooks }).to_string(),
    );
}

fn write(path: &str) -> Value {
    tool("write_file", json!({"path": path, "content": "x\n"}))
}

/// A lead that gives ann one task.
fn with_ann(ann: Vec<Value>) -> Value {
    let lead = vec![
        turn(vec![
            proposal(&["ann"]),
            named("create_task", json!({"subject": "docs"}), "t1"),
        ]),
        turn(vec![spawn("ann", Some("t1"))]),
        json!({"text": "ann is at work."}),
    ];
    script_of(lead, ann)
}

fn completes() -> Value {
    turn(vec![tool(
        "complete_task",
        json!({"task_id": "${task}", "result": "written"}),
    )])
}

/// What the lead's only conversation holds.
fn transcript(bed: &Bed) -> String {
    let name = bed
        .listing()
        .into_iter()
        .find(|name| name.starts_with(".team/state/transcripts/lead."))
        .unwrap();
    bed.read(&name)
}

fn anns_transcript(bed: &Bed) -> String {
    bed.read(".team/state/transcripts/ann.jsonl")
}

/// Lines of the conversation that the runtime put before the model, with exactly that text.
fn times_told(transcript: &str, text: &str) -> usize {
    let lines = transcript.lines().map(serde_json::from_str::<Value>);
    lines
        .flatten()
        .filter(|line| line["type"] == "user" && line["text"] == text)
        .count()
}

/// A lead alone that writes two files and says a word.
fn alone(bed: &Bed) -> Done {
    let lead = vec![
        turn(vec![write("bad.txt"), write("good.txt")]),
        json!({"text": "Written."}),
    ];
    run(bed, &script_of(lead, Vec::new()), &[])
}

#[test]
fn each_event_is_told_for_lead_and_teammate_and_nothing_stays() {
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", CANARY)
        .with_env("MY_OWN_NOTE", format!("keep {CANARY} here"));
    let told = bed.outside("told");
    std::fs::create_dir(&told).unwrap();
    let command = format!(
        "cat >\"$(mktemp {0}/XXXXXX)\"; env >\"$(mktemp {0}/env.XXXXXX)\"; setsid nohup sleep 300 &",
        told.display()
    );
    let hooks: Value = EVENTS
        .iter()
        .map(|event| ((*event).to_owned(), json!([command])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    set(&bed, &hooks);
    let ann = vec![
        turn(vec![write("docs.md")]),
        completes(),
        json!({"text": "Done."}),
    ];
    let done = run(&bed, &with_ann(ann), &["--yes"]).expect_code(0);
    let texts = std::fs::read_dir(&told).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(CANARY), "{}: {text}", path.display());
        text
    });
    let told: Vec<Value> = texts
        .filter_map(|text| serde_json::from_str(&text).ok())
        .collect();
    let task = bed.tasks().pop().unwrap();
    assert_eq!(task["status"], "completed", "{}", done.stderr);
    for (agent, event, key, value) in [
        ("lead", "UserPromptSubmit", "/text", json!("go")),
        ("lead", "PreToolUse", "/tool", json!("create_task")),
        ("lead", "PostToolUse", "/input/subject", json!("docs")),
        ("lead", "Stop", "/text", json!("ann is at work.")),
        ("ann", "PreToolUse", "/input/path", json!("docs.md")),
        ("ann", "PostToolUse", "/task_id", task["id"].clone()),
        ("ann", "TaskCompleted", "/text", json!("written")),
        ("ann", "TaskCompleted", "/task_id", task["id"].clone()),
        ("ann", "TaskCompleted", "/cwd", json!(bed.root())),
        ("ann", "Stop", "/text", json!("Done.")),
        ("ann", "TeammateIdle", "/tool", json!(null)),
    ] {
        let found = told.iter().any(|one| {
            one["agent"] == agent && one["event"] == event && one.pointer(key) == Some(&value)
        });
        assert!(found, "{agent} {event} {key} {value} in {told:#?}");
    }
    let output = told
        .iter()
        .find(|one| one["tool"] == "write_file" && one["output"].is_string());
    assert!(output.is_some(), "{told:#?}");
    assert_eq!(
        std::fs::read_dir(bed.root().join(".team/state/hooks"))
            .unwrap()
            .count(),
        0
    );
    bed.assert_no_process_left();
}

#[test]
fn a_tool_is_refused_others_run_and_a_result_is_added_to() {
    let bed = Bed::new();
    set(
        &bed,
        &json!({
            "PreToolUse": ["grep -q 'path\":\"bad' || exit 0; echo no such name >&2; exit 2"],
            "PostToolUse": ["grep -q 'path\":\"good' || exit 0; echo look at it >&2; exit 2"],
        }),
    );
    drop(alone(&bed).expect_code(0));
    assert!(!bed.root().join("bad.txt").exists());
    assert!(bed.root().join("good.txt").exists());
    let said = transcript(&bed);
    assert!(said.contains("no such name"), "{said}");
    assert!(
        said.contains("A hook of the person says: look at it"),
        "{said}"
    );
}

#[test]
fn a_round_goes_on_three_times_at_most() {
    let bed = Bed::new();
    set(&bed, &json!({"Stop": ["echo and the rest >&2; exit 2"]}));
    let words = ["one", "two", "three", "four", "five"].map(|text| json!({"text": text}));
    let done = run(&bed, &script_of(words.to_vec(), Vec::new()), &[]).expect_code(0);
    assert_eq!(done.json()["result"], "four");
    assert_eq!(times_told(&transcript(&bed), "and the rest"), 3);
}

#[test]
fn a_teammate_is_kept_from_idleness_three_times_at_most() {
    let bed = Bed::git();
    set(
        &bed,
        &json!({"TeammateIdle": ["echo look around >&2; exit 2"]}),
    );
    let mut ann = vec![completes()];
    ann.extend(vec![json!({"text": "Done."}); 9]);
    drop(run(&bed, &with_ann(ann), &["--yes"]).expect_code(0));
    assert_eq!(times_told(&anns_transcript(&bed), "look around"), 3);
}

#[test]
fn a_task_stays_in_progress_until_no_hook_blocks() {
    let bed = Bed::git();
    let once = "test -e seen || { touch seen; echo the tests are missing >&2; exit 2; }";
    set(&bed, &json!({"TaskCompleted": [once]}));
    let ann = vec![completes(), completes(), json!({"text": "Done."})];
    drop(run(&bed, &with_ann(ann), &["--yes"]).expect_code(0));
    assert_eq!(statuses(&bed), ["completed"]);
    let said = anns_transcript(&bed);
    assert!(
        said.contains("is not completed: the tests are missing"),
        "{said}"
    );
}

#[test]
fn what_the_person_says_is_not_sent() {
    let bed = Bed::new();
    let hook = "grep -q secret || exit 0; echo keep it >&2; exit 2";
    set(&bed, &json!({"UserPromptSubmit": [hook]}));
    let model = bed.script(&script_of(vec![json!({"text": "Hello."})], Vec::new()));
    let args = ["--model", &model];
    let done = bed
        .lead_fed(&args, "my secret is 7\ngood day\n")
        .expect_code(0);
    let shown = [done.stdout, done.stderr].concat();
    assert!(shown.contains("refuses it: keep it"), "{shown}");
    let said = transcript(&bed);
    assert!(
        said.contains("good day") && !said.contains("is 7"),
        "{said}"
    );
    let done = bed
        .lead(&["--model", &model, "-p", "my secret"])
        .expect_code(1);
    assert!(
        done.stderr.contains("refuses it: keep it"),
        "{}",
        done.stderr
    );
}

#[test]
fn any_other_end_is_shown_and_ignored() {
    let bed = Bed::git();
    set(
        &bed,
        &json!({"PreToolUse": ["printf 'a \\033[31mred word' >&2; exit 3", "kill -9 $$"]}),
    );
    let done = alone(&bed).expect_code(0);
    assert!(bed.root().join("bad.txt").exists());
    for part in ["ended with status 3", "red word", "ended by signal 9"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert!(!done.stderr.contains("\u{1b}[31m"), "{}", done.stderr);
    assert!(!transcript(&bed).contains("red word"));
    let ann = vec![completes(), json!({"text": "Done."})];
    drop(run(&bed, &with_ann(ann), &["--yes"]).expect_code(0));
    assert_eq!(statuses(&bed), ["completed"]);
    let args = ["mail", "list", "lead", "--all", "--json"];
    let mail = bed.lead(&args).expect_code(0).json();
    let shown = mail.as_array().unwrap().iter().any(|message| {
        message["from"] == "ann"
            && message["type"] == "status_update"
            && message["content"]
                .to_string()
                .contains("ended with status 3")
    });
    assert!(shown, "{mail:#}");
}

#[test]
fn one_that_prints_without_end_is_cut() {
    let bed = Bed::new();
    set(
        &bed,
        &json!({"PreToolUse": ["yes | head -c 100000000; yes | head -c 100000000 >&2; exit 2"]}),
    );
    drop(alone(&bed).expect_code(0));
    let said = transcript(&bed);
    assert!(said.contains("characters left out"));
    assert!(said.len() < 100_000, "{}", said.len());
    assert_eq!(
        std::fs::read_dir(bed.root().join(".team/state/hooks"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn an_interrupt_ends_one_that_hangs() {
    let bed = Bed::git();
    set(
        &bed,
        &json!({"PreToolUse": ["grep -q 'agent\":\"ann' || exit 0; touch begun; sleep 300"]}),
    );
    let model = bed.script(&with_ann(vec![completes()]));
    let mut lead = bed.start_lead(&["--yes", "--model", &model]);
    lead.line("go");
    bed.wait_for("begun");
    lead.line("/team interrupt ann");
    wait_until("the call is cut", DEADLINE, || {
        anns_transcript(&bed)
            .contains("interrupted before it began")
            .then_some(())
    });
    drop(lead.wait(RUN));
    bed.assert_no_process_left();
}

#[test]
fn those_of_an_untrusted_workspace_are_ignored() {
    for (trust, runs) in [(&[][..], false), (&["--trust"][..], true)] {
        let bed = Bed::new();
        bed.write(
            ".team/team.json",
            r#"{"hooks": {"PreToolUse": ["touch ran"]}}"#,
        );
        let lead = vec![turn(vec![write("a.txt")]), json!({"text": "Written."})];
        let done = run(&bed, &script_of(lead, Vec::new()), trust).expect_code(0);
        assert_eq!(bed.root().join("ran").exists(), runs);
        let warned = done.stderr.contains("hooks.PreToolUse");
        assert_eq!(warned, !runs, "{}", done.stderr);
    }
}
