//! A session on a real pseudo-terminal.

use serde_json::{Value, json};

use crate::support::{Bed, DEADLINE, Terminal};

fn session(bed: &Bed, replies: &Value, args: &[&str]) -> Terminal {
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    Terminal::start(bed.lead_command(&[&["--model", &model], args].concat()))
}

#[test]
fn a_person_talks_answers_and_leaves() {
    let bed = Bed::new();
    let replies = json!([
        { "text": "Hello to you." },
        { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
        { "when": "not today", "text": "As you like." },
    ]);
    let mut terminal = session(&bed, &replies, &[]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("hello");
    terminal.wait_for("Hello to you.", DEADLINE);
    terminal.line("go on");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    terminal.line("perhaps");
    terminal.wait_for("y or n", DEADLINE);
    terminal.line("n not today");
    terminal.wait_for("As you like.", DEADLINE);
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    let mut terminal = session(&bed, &replies, &["--continue"]);
    terminal.wait_for("the lead said last: As you like.", DEADLINE);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

#[test]
fn mail_is_printed_above_what_is_being_typed() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Read." }]), &[]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.send("half a li");
    terminal.wait_for("half a li", DEADLINE);
    drop(
        bed.lead(&[
            "mail",
            "send",
            "lead",
            "news from outside\u{1b}]52;c;AAAA\u{7}",
        ])
        .expect_code(0),
    );
    terminal.wait_for("news from outside␛", DEADLINE);
    terminal.line("ne");
    crate::support::wait_until("the whole line in the transcript", DEADLINE, || {
        terminal.seen();
        transcript(&bed).contains("half a line").then_some(())
    });
    assert!(!terminal.seen().contains("AAAA"));
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
}

/// What was typed for the lead is no answer to a question that opens meanwhile, and is there again afterwards.
#[test]
fn a_question_takes_the_prompt_and_gives_the_text_back() {
    let bed = Bed::new();
    let replies = json!([
        { "delay_ms": 1500, "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
        { "text": "As you like." },
        { "text": "Heard." },
    ]);
    let mut terminal = session(&bed, &replies, &[]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("go on");
    terminal.send("y half a mess");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    crate::support::wait_until("an empty question", DEADLINE, || {
        terminal
            .plain()
            .trim_end()
            .ends_with("team? [y/n]")
            .then_some(())
    });
    terminal.line("n");
    terminal.wait_for("declined", DEADLINE);
    crate::support::wait_until("the text again", DEADLINE, || {
        terminal
            .plain()
            .trim_end()
            .ends_with("y half a mess")
            .then_some(())
    });
    terminal.line("age");
    terminal.wait_for("Heard.", DEADLINE);
    assert!(transcript(&bed).contains("y half a message"));
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
}

#[test]
fn ctrl_c_clears_then_interrupts_then_leaves() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "late", "delay_ms": 60000 }]), &[]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.send("typed by mistake");
    terminal.wait_for("typed by mistake", DEADLINE);
    terminal.send("\u{3}");
    crate::support::wait_until("an empty prompt", DEADLINE, || {
        terminal.plain().trim_end().ends_with("lead>").then_some(())
    });
    terminal.line("hello");
    crate::support::wait_until("the model's call", DEADLINE, || {
        terminal.seen();
        (bed.json(".team/state/session.json")?["status"] == "working").then_some(())
    });
    assert!(!transcript(&bed).contains("mistake"));
    terminal.send("\u{3}");
    terminal.wait_for("interrupted", DEADLINE);
    terminal.send("\u{3}");
    let code = terminal.wait(DEADLINE);
    assert!(
        matches!(code, Some(0 | 130)),
        "{code:?}: {}",
        terminal.plain()
    );
    bed.assert_no_process_left();
}

/// What the person said is never lost without a word.
#[test]
fn a_queued_line_is_acknowledged_and_told_of_when_it_goes_unsaid() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "late", "delay_ms": 60000 }]), &[]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("hello");
    crate::support::wait_until("the model's call", DEADLINE, || {
        terminal.seen();
        (bed.json(".team/state/session.json")?["status"] == "working").then_some(())
    });
    terminal.line("use tabs");
    terminal.wait_for("queued; the lead reads it at its next turn", DEADLINE);
    terminal.line("/exit");
    terminal.wait_for("not said any more: use tabs", DEADLINE);
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    assert!(!terminal.plain().contains("the team has stopped"));
}

#[test]
fn a_word_to_a_teammate_is_acknowledged() {
    let bed = Bed::new();
    let replies = json!([
        { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
        { "tools": [{ "name": "spawn_teammate", "input": { "name": "bob", "role": "coder", "prompt": "Be there." } }] },
        { "text": "Bob is there." },
    ]);
    let model = bed.script(&json!({ "agents": { "lead": replies, "*": [
        { "text": "Ready." }, { "error": { "status": 429, "retry_after": 600 } },
    ] } }));
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &model]));
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("go");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    terminal.line("y");
    terminal.wait_for("Bob is there.", DEADLINE);
    terminal.line("@bob louder");
    terminal.wait_for("bob reads it at its next turn", DEADLINE);
    // Its provider asks it to wait.
    terminal.wait_for("bob waits for script", DEADLINE);
    terminal.line("/exit");
    terminal.wait_for("the team has stopped", DEADLINE);
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
}

#[test]
fn without_the_editor_lines_are_plain() {
    let bed = Bed::new();
    let mut terminal = session(&bed, &json!([{ "text": "Plain as well." }]), &["--plain"]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("hello");
    terminal.wait_for("Plain as well.", DEADLINE);
    terminal.send("\u{4}");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    assert!(!terminal.seen().contains("\u{1b}[6n"));
}

/// A line is the terminal's until Enter: one that was begun before the question must not answer it.
#[test]
fn without_the_editor_a_half_typed_line_answers_no_question() {
    let bed = Bed::new();
    let gate = "while [ ! -e go ]; do sleep 0.02; done";
    let replies = json!([
        { "tools": [{ "name": "bash", "input": { "command": gate } }] },
        { "tools": [{ "name": "propose_team", "input": { "members": [{ "name": "bob", "role": "coder" }], "rationale": "one is enough" } }] },
        { "when": "not today", "text": "As you like." },
    ]);
    let mut terminal = session(&bed, &replies, &["--plain"]);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("begin");
    terminal.send("y half a message");
    bed.write("go", "");
    terminal.wait_for("team? [y/n] ", DEADLINE);
    terminal.send("\r");
    terminal.wait_for("y or n", DEADLINE);
    terminal.line("n not today");
    terminal.wait_for("As you like.", DEADLINE);
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
}

#[test]
fn a_strangers_settings_are_shown_and_asked_about_once() {
    let bed = Bed::new();
    bed.write(".team/team.json", "{ \"maxTeammates\": 77 }");
    for answer in ["n", "y"] {
        let mut terminal = session(&bed, &json!([]), &[]);
        terminal.wait_for("\"maxTeammates\": 77", DEADLINE);
        terminal.wait_for("[y/n] ", DEADLINE);
        terminal.line(answer);
        terminal.wait_for("lead> ", DEADLINE);
        terminal.line("/exit");
        assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
        let config = bed.lead(&["config", "--json"]).expect_code(0).json();
        assert_eq!(config["trusted"], answer == "y");
    }
    let mut terminal = session(&bed, &json!([]), &[]);
    terminal.wait_for("lead> ", DEADLINE);
    assert!(!terminal.plain().contains("[y/n]"));
    // What changes in a running session is agreed to there, exactly as it was shown.
    terminal.line("/trust yes");
    terminal.wait_for("nothing was shown that waits for your word", DEADLINE);
    bed.write(".team/team.json", "{ \"maxTeammates\": 78 }");
    terminal.wait_for("/trust shows it", DEADLINE);
    terminal.line("/trust");
    terminal.wait_for("\"maxTeammates\": 78", DEADLINE);
    bed.write(".team/team.json", "{ \"maxTeammates\": 79 }");
    terminal.line("/trust yes");
    terminal.wait_for("it has changed since you were shown it", DEADLINE);
    terminal.line("/trust");
    terminal.wait_for("\"maxTeammates\": 79", DEADLINE);
    terminal.line("/trust yes");
    terminal.wait_for("you have agreed to what was shown", DEADLINE);
    terminal.wait_for("the changed settings are in force", DEADLINE);
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0));
    let config = bed.lead(&["config", "--json"]).expect_code(0).json();
    assert_eq!(config["trusted"], true);
    bed.write(".team/team.json", "{ \"maxTeammates\": 80 }");
    let config = bed.lead(&["config", "--json"]).expect_code(0).json();
    assert_eq!(config["trusted"], false);
}

fn transcript(bed: &Bed) -> String {
    let dir = bed.root().join(".team/state/transcripts");
    let Ok(entries) = std::fs::read_dir(dir) else {
        return String::new();
    };
    entries
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect()
}
