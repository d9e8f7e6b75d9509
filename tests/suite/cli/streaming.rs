//! A model's text on a real pseudo-terminal, while it comes.

use serde_json::json;

use crate::support::model_server::{Answer, ModelServer};
use crate::support::{Bed, DEADLINE, Terminal, wait_until};

/// A model that says `parts` and then nothing more, without an end.
fn stalling(parts: &[&str]) -> ModelServer {
    let event = |part| json!({"choices": [{"index": 0, "delta": {"content": part}}]});
    let events = parts
        .iter()
        .map(|part| format!("data: {}\n\n", event(part)));
    let events = events.collect::<Vec<_>>().concat();
    ModelServer::start(move |_| Answer::raw(events.clone()).stalling_at(usize::MAX))
}

fn session(server: &ModelServer, args: &[&str], columns: u16) -> (Bed, Terminal) {
    let bed = Bed::new()
        .with_env("OPENAI_BASE_URL", server.openai_base())
        .with_env("PITCREW_MODEL", "openai:m");
    let mut terminal = Terminal::sized(bed.lead_command(args), columns, 14);
    terminal.wait_for("lead> ", DEADLINE);
    (bed, terminal)
}

#[track_caller]
fn wait_for_rows(terminal: &mut Terminal, wanted: &[&str]) {
    let mut last = Vec::new();
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_until("the rows", DEADLINE, || {
            last = terminal.rows();
            last.windows(wanted.len())
                .any(|rows| rows == wanted)
                .then_some(())
        });
    }));
    assert!(found.is_ok(), "{wanted:#?} not in {last:#?}");
}

#[track_caller]
fn leave(bed: &Bed, mut terminal: Terminal) {
    terminal.line("/exit");
    assert_eq!(terminal.wait(DEADLINE), Some(0), "{}", terminal.plain());
    bed.assert_no_process_left();
}

/// Words are seen before their line has ended, in whole, and what is typed meanwhile stays.
#[test]
fn words_are_seen_as_they_come_above_what_is_typed() {
    let server = stalling(&[
        "The parser reads dates in **three",
        " forms** and `strict",
        "` refuses the rest of what peo",
        "ple write",
    ]);
    let (bed, mut terminal) = session(&server, &[], 30);
    terminal.line("hello");
    terminal.send("half a ");
    wait_for_rows(
        &mut terminal,
        &[
            "The parser reads dates in",
            "three forms and strict",
            "refuses the rest of what",
            "people write",
        ],
    );
    assert!(terminal.seen().contains("\u{1b}[1mthree forms\u{1b}[0m"));
    drop(bed.lead(&["task", "add", "Interlude"]).expect_code(0));
    terminal.wait_for("Interlude", DEADLINE);
    terminal.send("line");
    wait_until("the text above the line", DEADLINE, || {
        let rows = terminal.rows();
        let at = rows.iter().position(|row| row.ends_with("> half a line"))?;
        let above = rows[..at].iter().rev().take(3);
        let shown = above.filter(|row| *row == "people write").count();
        let all = rows.iter().filter(|row| *row == "people write").count();
        (shown == 1 && all == 1).then_some(())
    });
    terminal.send("\u{1b}");
    wait_for_rows(
        &mut terminal,
        &["people write", "interrupted", "lead> half a line"],
    );
    terminal.send("\u{3}");
    wait_until("an empty prompt", DEADLINE, || {
        let rows = terminal.rows();
        let last = rows.iter().rfind(|row| !row.is_empty())?;
        (last == "lead>").then_some(())
    });
    leave(&bed, terminal);
}

/// Whoever wants no colour gets the text as it was written.
#[test]
fn without_colour_nothing_is_taken_away() {
    let server = ModelServer::start(|_| {
        Answer::say(
            "# Head\n- an item that is long enough for two rows, **bold**\n```\nlet a  =  1;\n```\n",
        )
    });
    let (bed, mut terminal) = session(&server, &["--color", "never"], 40);
    terminal.line("hello");
    wait_for_rows(
        &mut terminal,
        &[
            "# Head",
            "- an item that is long enough for two",
            "  rows, **bold**",
            "```",
            "let a  =  1;",
            "```",
        ],
    );
    leave(&bed, terminal);

    let (bed, mut terminal) = session(&server, &["--plain"], 40);
    terminal.line("hello");
    terminal.wait_for(
        "# Head\n- an item that is long enough for two rows, **bold**\n",
        DEADLINE,
    );
    terminal.wait_for("let a  =  1;", DEADLINE);
    assert!(!terminal.seen().contains('\u{1b}'), "{:?}", terminal.seen());
    leave(&bed, terminal);
}

/// A call is one line when it has ended; what it changed, or why it failed, stands beneath.
#[test]
fn calls_are_folded_with_what_they_changed_and_why_they_failed() {
    let bed = Bed::new();
    let write =
        json!({ "name": "write_file", "input": { "path": "notes.txt", "content": "one\n" } });
    let read = json!({ "name": "read_file", "input": { "path": "nothing.txt" } });
    let look = json!({ "name": "list_tasks", "input": {} });
    let replies = json!([{ "tools": [write, look, read] }, { "text": "That is all." }]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut terminal = Terminal::sized(bed.lead_command(&["--model", &model]), 60, 30);
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("go");
    terminal.wait_for("That is all.", DEADLINE);
    let rows = terminal.rows();
    let at = |part: &str| {
        let found = rows.iter().position(|row| row.starts_with(part));
        found.unwrap_or_else(|| panic!("{part}: {rows:#?}"))
    };
    let (changed, looked, failed) = (
        at("✓ write_file notes.txt"),
        at("✓ list_tasks"),
        at("✗ read_file nothing.txt"),
    );
    assert!(
        rows[changed..looked].iter().any(|row| row == "  +one"),
        "{rows:#?}"
    );
    assert!(rows[failed + 1].starts_with("  "), "{rows:#?}");
    assert!(terminal.seen().contains("\u{1b}[32m+one\u{1b}[0m"));
    leave(&bed, terminal);
}

/// Rows keep to the window as it is when they come.
#[test]
fn rows_keep_to_a_window_that_has_changed() {
    let words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda";
    let server = ModelServer::start(move |_| Answer::say(words));
    let (bed, mut terminal) = session(&server, &[], 80);
    terminal.line("first");
    wait_for_rows(&mut terminal, &[words, "lead>"]);
    let drawn = terminal.seen().len();
    terminal.resize(40, 14);
    wait_until("the prompt in the new window", DEADLINE, || {
        (terminal.seen().len() > drawn).then_some(())
    });
    terminal.line("second");
    wait_for_rows(
        &mut terminal,
        &[
            "alpha beta gamma delta epsilon zeta eta",
            "theta iota kappa lambda",
        ],
    );
    leave(&bed, terminal);
}

/// A terminal that does not break its rows anew keeps what stands above the prompt, text that still streams included.
#[test]
fn a_window_that_becomes_narrow_keeps_what_stands_there() {
    let server = stalling(&["One whole row.\nThe next one is whole, too.\nand the last"]);
    let (bed, mut terminal) = session(&server, &[], 60);
    terminal.line("hello");
    terminal.send("half a line that goes on and on and on");
    wait_for_rows(
        &mut terminal,
        &["The next one is whole, too.", "and the last"],
    );
    wait_until("the typed text", DEADLINE, || {
        let rows = terminal.rows();
        rows.iter()
            .any(|row| row.ends_with("and on and on"))
            .then_some(())
    });
    for columns in [35, 30] {
        terminal.resize(columns, 14);
        let typed = |row: &String| row.starts_with("lead (working)> half a");
        wait_until("the prompt in the new window", DEADLINE, || {
            let rows = terminal.rows();
            let at = rows.iter().position(typed)?;
            (rows[at].len() <= columns.into() && rows[at + 1].ends_with("and on")).then_some(())
        });
        wait_for_rows(
            &mut terminal,
            &[
                "One whole row.",
                "The next one is whole, too.",
                "and the last",
            ],
        );
    }
    terminal.send("\u{3}");
    terminal.send("\u{1b}");
    terminal.wait_for("interrupted", DEADLINE);
    leave(&bed, terminal);
}
