//! What becomes of keys: none is lost, and each goes where it was meant to go.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::facts::pause;
use crate::support::{Bed, DEADLINE, Terminal};

fn session(bed: &Bed, replies: &Value) -> Terminal {
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let args = ["--model", &model, "--sandbox", "preferred"];
    let mut terminal = Terminal::sized(bed.lead_command(&args), 80, 24);
    terminal.wait_for("lead> ", DEADLINE);
    terminal
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

fn said(bed: &Bed) -> String {
    let dir = bed.root().join(".team/state/transcripts");
    let all = std::fs::read_dir(dir).unwrap().flatten();
    all.map(|entry| std::fs::read_to_string(entry.path()).unwrap())
        .collect()
}

/// A key that hands over to the session takes nothing with it of what was typed so fast that it came in the same read.
#[test]
fn what_comes_in_one_read_behind_a_key_that_hands_over_is_typed() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Heard." }]));
    terminal.send("\u{1b}[Zgone\u{3}here \u{1b}[Zand there\r");
    terminal.wait_for("Heard.", DEADLINE);
    let said = said(&bed);
    assert!(said.contains("\"here and there\""), "{said}");
    assert!(!said.contains("gone"), "{said}");
    terminal.wait_for_last_row("lead (deny)>");
    let history = std::fs::read_to_string(bed.home().join(".config/pitcrew/history")).unwrap();
    assert_eq!(history, "here and there\n");
    leave(&bed, terminal);
}

#[test]
fn a_backslash_or_alt_enter_goes_on_in_another_line() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Heard." }]));
    terminal.send("one\\\r");
    terminal.wait_for_last_row("…");
    terminal.send("two\u{1b}\r");
    terminal.wait_for_last_row("…");
    terminal.send("three\u{a}");
    terminal.send("four\r");
    terminal.wait_for("Heard.", DEADLINE);
    let said = said(&bed);
    assert!(said.contains("\"one\\ntwo\\nthree\\nfour\""), "{said}");
    leave(&bed, terminal);
}

/// What would be lost beneath an empty list is printed.
#[test]
fn tab_without_a_match_shows_nothing_and_holds_nothing_back() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([]));
    for text in ["/zzz", "@zzz", "plain words "] {
        terminal.send(&format!("{text}\t"));
        terminal.wait_for_last_row(&format!("lead> {}", text.trim_end()));
        let news = format!("news beside {}", text.trim());
        drop(bed.lead(&["task", "add", &news]).expect_code(0));
        terminal.wait_for(&news, DEADLINE);
        terminal.send("\u{3}");
        terminal.wait_for_last_row("lead>");
    }
    assert!(
        !terminal.plain().contains("NO RECORDS"),
        "{}",
        terminal.plain()
    );
    leave(&bed, terminal);
}

fn asks_to_remove() -> Value {
    json!([
        { "tools": [{ "name": "bash", "input": { "command": "rm kept" } }] },
        { "text": "As you like." },
    ])
}

fn open_request(bed: &Bed) -> String {
    let list = bed
        .lead(&["permission", "list", "--json"])
        .expect_code(0)
        .json();
    list[0]["request_id"].as_str().unwrap().to_owned()
}

/// Where a question has stood for a moment, one key answers it; the Enter of habit behind it says nothing.
#[test]
fn a_single_key_answers_a_question() {
    let bed = Bed::git();
    bed.write("kept", "");
    let mut terminal = session(&bed, &asks_to_remove());
    terminal.line("go on");
    terminal.wait_for("allow lead? [a/A/d/D] ", DEADLINE);
    // As long as a person takes to see it.
    pause(Duration::from_millis(800));
    terminal.send("a");
    terminal.wait_for("permission for lead allowed by user", DEADLINE);
    terminal.line("");
    terminal.wait_for("As you like.", DEADLINE);
    assert!(!bed.root().join("kept").exists());
    leave(&bed, terminal);
}

/// What was typed for a question that somebody else answers is no message.
#[test]
fn a_half_typed_answer_goes_with_its_question() {
    let bed = Bed::git();
    let mut terminal = session(&bed, &asks_to_remove());
    terminal.line("go on");
    terminal.wait_for("allow lead? [a/A/d/D] ", DEADLINE);
    terminal.line("perhaps");
    terminal.wait_for("not an answer; it takes a (allow once)", DEADLINE);
    terminal.send("a only th");
    terminal.wait_for_last_row("allow lead? [a/A/d/D] a only th");
    drop(
        bed.lead(&["permission", "deny", &open_request(&bed)])
            .expect_code(0),
    );
    terminal.wait_for("was dropped: a only th", DEADLINE);
    terminal.wait_for("As you like.", DEADLINE);
    terminal.wait_for_last_row("lead>");
    let seen = terminal.plain();
    assert_eq!(
        seen.matches("╭─ lead asks for permission").count(),
        1,
        "{seen}"
    );
    leave(&bed, terminal);
}
