//! `lead log` over real files, with and without somebody who writes them.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::task;
use crate::support::{Bed, DEADLINE, Running, wait_until};

fn lines(of: &[Value]) -> String {
    of.iter()
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect()
}

fn message(id: &str, content: &str) -> Value {
    json!({"id": id, "from": "alice", "to": "lead", "type": "result", "content": content, "timestamp": 1_764_522_000_500_u64})
}

#[test]
fn a_session_is_told_from_its_first_word_to_its_last_task() {
    let bed = Bed::new();
    let empty = bed.lead(&["log", "--json"]).expect_code(0);
    assert_eq!(empty.json(), json!([]));
    assert_eq!(bed.lead(&["log"]).expect_code(0).stdout, "");
    assert_eq!(bed.listing(), [""; 0]);

    let model = bed.script(&json!({"agents": {"lead": [
        {"text": "A plan.", "tools": [{"name": "create_task", "input": {"subject": "Config"}}]},
        {"text": "All is planned."},
    ]}}));
    drop(bed.lead(&["-p", "go", "--model", &model]));
    let log = bed.lead(&["log", "--json"]).expect_code(0);
    assert_eq!(log.stderr, "");
    let log = log.json();
    let log = log.as_array().unwrap();
    let times: Vec<&str> = log
        .iter()
        .map(|event| event["at"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let found = |name: &str, path: &str, value: &str| {
        let there = log
            .iter()
            .any(|event| event["event"] == name && event.pointer(path) == Some(&json!(value)));
        assert!(there, "{name} with {path} {value} in {log:#?}");
    };
    found("init", "/agent", "lead");
    found("text", "/text", "A plan.");
    found("tool_use", "/name", "create_task");
    found("tool_result", "/agent", "lead");
    found("task", "/task/subject", "Config");
    found("task", "/change/status/new", "pending");
    found("usage", "/usage/model", &model);
    let all = bed.lead(&["log", "-v"]).expect_code(0).stdout;
    assert_eq!(all.lines().count(), log.len(), "one line each: {all}");
    let plain = bed.lead(&["log"]).expect_code(0).stdout;
    for part in [
        "  lead        says     All is planned.\n",
        "  lead        calls    create_task Config\n",
        " new: Config\n",
    ] {
        assert!(plain.contains(part), "{part:?} not in\n{plain}");
    }
    for routine in ["  used  ", "  got  "] {
        assert!(all.contains(routine) && !plain.contains(routine), "{plain}");
    }
}

#[test]
fn what_cannot_be_read_is_counted_and_what_is_hostile_is_harmless() {
    let bed = Bed::new();
    let hostile = "\u{1b}]0;title\u{7}\u{9b}2J over\rwritten\nnext line \u{202e}";
    let archive = lines(&[message("msg_1", hostile)]) + "garbage\n{\"torn";
    bed.write(".team/state/archive/lead.jsonl", &archive);
    bed.write(".team/state/usage.jsonl", "[]\n\u{0}\n");
    bed.write(
        ".team/state/logs/alice.log",
        "2025-11-30T17:00:00Z  INFO \u{1b}[2Jx\n",
    );
    let done = bed.lead(&["log", "-v"]).expect_code(0);
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
    let acts = |ch: char| ch != '\n' && (ch.is_control() || ch == '\u{202e}');
    assert!(!done.stdout.chars().any(acts), "{:?}", done.stdout);
    assert!(
        done.stderr.starts_with("3 lines could not be read"),
        "{}",
        done.stderr
    );
    let json = bed.lead(&["log", "--json"]).expect_code(0);
    assert!(!json.stdout.chars().any(acts), "{:?}", json.stdout);
    assert_eq!(json.json()[1]["message"]["content"], hostile);
}

#[test]
fn following_tells_each_thing_once_as_it_happens_and_ends_with_ctrl_c() {
    let bed = Bed::new();
    bed.write(".tasks/task_00000001.json", &task("task_00000001"));
    let log = bed.start_lead(&["log", "--follow", "--json"]);
    drop(
        bed.lead(&["mail", "send", "lead", "are you there"])
            .expect_code(0),
    );
    log.wait_for("are you there", DEADLINE);
    drop(
        bed.lead(&["task", "complete", "task_00000001"])
            .expect_code(0),
    );
    log.wait_for("\"completed\"", DEADLINE);
    let model = bed.script(&json!({"agents": {"lead": [{"text": "Here I am."}]}}));
    drop(bed.lead(&["-p", "go", "--model", &model]));
    log.wait_for("Here I am.", DEADLINE);
    log.signal(Signal::SIGINT);
    let done = log.wait(DEADLINE).expect_code(130);
    let events: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = events
        .iter()
        .filter(|event| event["message"]["content"] == "are you there");
    assert_eq!(told.count(), 1, "waiting, then taken in: {events:#?}");
}

#[test]
fn following_ends_when_nobody_reads_any_more() {
    let bed = Bed::new();
    bed.write(
        ".team/state/archive/lead.jsonl",
        &lines(&[message("msg_1", "first word")]),
    );
    let mut command = bed.command("sh");
    let lead = env!("CARGO_BIN_EXE_lead");
    command.args(["-c", &format!("'{lead}' log --follow | head -n 1")]);
    let mut piped = Running::start(&mut command);
    piped.wait_for("first word", DEADLINE);
    wait_until("the end of both", DEADLINE, || {
        drop(bed.lead(&["mail", "send", "lead", "more"]).expect_code(0));
        piped.has_ended()
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_history_is_not_held_in_memory() {
    let bed = Bed::new();
    let text = "x".repeat(64 * 1024);
    let records: Vec<Value> = (0..800)
        .map(|nr| {
            json!({"type": "result", "tool_use_id": format!("call_{nr}"), "content": text, "is_error": false,
                "at": "2026-11-30T17:00:00.000Z"})
        })
        .collect();
    bed.write(".team/state/transcripts/alice.jsonl", &lines(&records));
    let last =
        json!({"type": "interrupted", "why": "the very last", "at": "2026-11-30T17:00:00.000Z"});
    bed.write(
        ".team/state/transcripts/bob.jsonl",
        &lines(std::slice::from_ref(&last)),
    );
    bed.write(".team/state/transcripts/alice.2.jsonl", &lines(&[last]));
    let log = bed.start_lead(&["log", "--follow", "-v"]);
    wait_until("all 802 lines", DEADLINE, || {
        (log.stdout().lines().count() == 802).then_some(())
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", log.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    assert!(peak < 40 * 1024, "{peak} KiB for 52 MiB of history");
}
