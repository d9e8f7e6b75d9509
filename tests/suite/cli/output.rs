//! Standard output that cannot be written: an error of every verb. A reader that has gone away: none.

use std::collections::BTreeSet;

use crate::support::{Bed, DEADLINE, Done, Running};

/// A call of every verb that prints, by itself.
const CALLS: [&str; 24] = [
    "status",
    "status --json",
    "task list",
    "task list --json",
    "task add x",
    "mail list",
    "plan list",
    "permission list",
    "permission test ls",
    "team list",
    "worktree list",
    "sessions",
    "usage",
    "usage --json",
    "log",
    "log --json",
    "doctor",
    "doctor --json",
    "config",
    "config schema",
    "init",
    "completions bash",
    "man",
    "--help",
];
/// Verbs that print nothing without a session that has run, or run one.
const ELSEWHERE: [&str; 3] = ["diff", "undo", "demo"];

/// Something of each kind that is listed.
fn lived_in() -> Bed {
    let bed = super::help::fixture(true);
    std::fs::remove_file(bed.root().join(".team/team.json")).ok();
    bed
}

/// Runs `lead` by a shell, with `around` its standard output.
fn lead(bed: &Bed, around: &str, call: &str) -> Done {
    let binary = crate::support::bed::lead_binary();
    let line = around.replace("LEAD", &format!("{} {call}", binary.display()));
    let mut shell = bed.command("sh");
    shell.args(["-c", &line]);
    Running::start(&mut shell).wait(DEADLINE)
}

#[test]
fn every_verb_says_that_its_output_cannot_be_written() {
    let bed = lived_in();
    for call in CALLS.into_iter().chain(["--version"]) {
        let done = lead(&bed, "LEAD >/dev/full", call).expect_code(1);
        let lines: Vec<&str> = done.stderr.lines().collect();
        let told = lines.last().unwrap_or(&"");
        assert!(
            told.starts_with("error: standard output could not be written; No space left"),
            "{call}: {}",
            done.stderr
        );
        std::fs::remove_file(bed.root().join(".team/team.json")).ok();
    }
    let model = bed.script(&serde_json::json!({"agents": {"lead": [{"text": "Done."}]}}));
    for format in ["text", "json", "stream-json"] {
        let call = format!("-p go --model {model} --output-format {format}");
        let done = lead(&bed, "LEAD >/dev/full", &call).expect_code(1);
        assert!(
            done.stderr.contains("error: standard output"),
            "{}",
            done.stderr
        );
    }
    bed.assert_no_process_left();
}

/// Standard error is for people: a run that cannot write it does its work all the same.
#[test]
fn a_run_whose_progress_cannot_be_written_gives_its_result() {
    let bed = Bed::git();
    let model = bed.script(&serde_json::json!({"agents": {"lead": [{"text": "Done."}]}}));
    let call = format!("-p go --model {model}");
    let done = lead(&bed, "LEAD 2>/dev/full", &call).expect_code(0);
    assert_eq!(done.stdout, "Done.\n");
    let log = bed.root().join(".team/state/logs/lead.log");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let bed = lived_in();
    let around =
        "{ until [ -e gone ]; do :; done; LEAD; echo $? >code; } | { exec 0<&-; : >gone; }";
    for call in CALLS {
        let done = lead(&bed, around, call).expect_code(0);
        let code = bed.read("code");
        assert!(matches!(code.trim(), "0" | "1"), "{call}: {code}");
        assert!(!done.stderr.contains("error"), "{call}: {}", done.stderr);
        for name in ["gone", ".team/team.json"] {
            std::fs::remove_file(bed.root().join(name)).ok();
        }
    }
}

#[test]
fn no_verb_was_forgotten() {
    let bed = Bed::new();
    let help = bed.lead(&["--help"]).expect_code(0).stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let listed = list.lines().take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let called = CALLS.iter().map(|call| call.split(' ').next().unwrap());
    let mut called: BTreeSet<&str> = called.chain(ELSEWHERE).collect();
    called.remove("--help");
    assert_eq!(listed, called);
}
